/* SPDX-License-Identifier: Apache-2.0 */
/* host.c — makes a chain for every host thread: the begins and ends of its slices in order of time.
 *
 * The time between two neighbours belongs to the open slice that began last (own_time.h). So a
 * chain explains every instant at which any slice is open. The part of a slice after the window's
 * end is cut. */
#include <stdlib.h>

#include "analyse/critical/graph.h"
#include "analyse/critical/stream.h"

/* A heap of the open slices by end: items[0] ends next. Of equal ends, the slice that began last
 * comes first. */
struct endings {
    struct ending { int64_t end_ns; uint32_t row; } *items;
    uint32_t count;
};

static bool ends_before(struct ending a, struct ending b)
{
    return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.row > b.row;
}

static void put_ending(struct endings *endings, struct ending ending)
{
    uint32_t place = endings->count++;
    for (; place > 0 && ends_before(ending, endings->items[(place - 1) / 2]);
         place = (place - 1) / 2)
        endings->items[place] = endings->items[(place - 1) / 2];
    endings->items[place] = ending;
}

static struct ending take_ending(struct endings *endings)
{
    struct ending first = endings->items[0], last = endings->items[--endings->count];
    uint32_t place = 0;
    for (uint32_t child = 1; child < endings->count; child = 2 * place + 1) {
        if (child + 1 < endings->count &&
            ends_before(endings->items[child + 1], endings->items[child]))
            child++;
        if (!ends_before(endings->items[child], last))
            break;
        endings->items[place] = endings->items[child];
        place = child;
    }
    endings->items[place] = last;
    return first;
}

struct sweep {
    struct vv_critical_graph *graph;
    struct endings endings;
    uint32_t *open;        /* in order of begin; slices that have ended may remain below open
                              ones */
    uint32_t open_count;
    bool is_first;         /* the next point is the first of its chain                           */
};

/* Adds a point of the thread. The time before the point belongs to the open slice that began
 * last. */
static uint32_t add_point(struct sweep *sweep, int64_t time_ns, uint32_t row)
{
    struct vv_critical_graph *graph = sweep->graph;
    while (sweep->open_count > 0 && graph->end_of[sweep->open[sweep->open_count - 1]] != 0)
        sweep->open_count--;
    uint32_t owner = sweep->open_count > 0 ? sweep->open[sweep->open_count - 1] : VV_NONE;
    enum vv_critical_link link = sweep->is_first    ? VV_LINK_NONE
                                 : owner == VV_NONE ? VV_LINK_IDLE
                                                    : VV_LINK_OWN;
    sweep->is_first = false;
    return vv_critical_node(graph, time_ns, row, link, owner);
}

static void end_until(struct sweep *sweep, int64_t until_ns)
{
    while (sweep->endings.count > 0 && sweep->endings.items[0].end_ns <= until_ns) {
        struct ending ending = take_ending(&sweep->endings);
        sweep->graph->end_of[ending.row] = add_point(sweep, ending.end_ns, ending.row) + 1;
    }
}

static void sweep_rows(struct sweep *sweep, uint32_t first, uint32_t last, int64_t limit_ns)
{
    const struct vv_slices *slices = &sweep->graph->model->slices;
    for (uint32_t row = first; row < last; row++) {
        int64_t begin_ns = slices->begin_ns[row], end_ns = begin_ns + slices->duration_ns[row];
        end_until(sweep, begin_ns);
        sweep->graph->start_of[row] = add_point(sweep, begin_ns, row) + 1;
        sweep->open[sweep->open_count++] = row;
        put_ending(&sweep->endings, (struct ending){ end_ns < limit_ns ? end_ns : limit_ns, row });
    }
    end_until(sweep, INT64_MAX);
}

void vv_critical_rows(const struct vv_scope *scope, const struct vv_critical_windows *windows,
                      uint32_t track, uint32_t *out_first, uint32_t *out_last)
{
    *out_first = *out_last = 0;
    /* a track that only says how long recording took has no chain */
    if (!scope->tracks[track] || !vv_track_works(scope->model, track))
        return;
    const struct vv_critical_window *window =
        &windows->items[vv_window_of_track(windows, scope->model, track)];
    uint32_t first, last;
    vv_track_rows(scope->model, track, &first, &last);
    *out_last = vv_slices_lower_bound(&scope->model->slices, first, last, window->end_ns);
    /* A range around the window's own slice may begin at the same instant. It comes before that
     * slice. */
    bool is_own = window->slice != VV_NONE && window->slice >= first && window->slice < last;
    *out_first = is_own
                     ? window->slice
                     : vv_slices_lower_bound(&scope->model->slices, first, last, window->begin_ns);
    if (*out_last < *out_first)
        *out_last = *out_first;
}

/* Chains stand in the order of processes and threads, not of rows. So the order of events in a file
 * changes no path. */
struct thread { int64_t pid, tid; uint32_t scope, track, window; };

static int by_thread(const void *a, const void *b)
{
    const struct thread *left = a, *right = b;
    if (left->scope != right->scope)
        return left->scope < right->scope ? -1 : 1;
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return (left->track > right->track) - (left->track < right->track);
}

static enum varve_code sweep_threads(struct sweep *sweep, const struct vv_scope *scope,
                                     const struct vv_critical_windows *windows,
                                     struct thread *threads, struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    uint32_t count = 0;
    for (uint32_t t = 0; t < model->tracks.table.count; t++)
        if (scope->tracks[t])
            threads[count++] = (struct thread){ vv_pid_of(model, t), model->tracks.tid[t],
                                                vv_scope_of_track(model, t), t,
                                                vv_window_of_track(windows, model, t) };
    qsort(threads, count, sizeof *threads, by_thread);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first, last;
        vv_critical_rows(scope, windows, threads[i].track, &first, &last);
        if (first == last)
            continue;
        VV_TRY(vv_critical_chain(sweep->graph, error));
        sweep->is_first = true;
        sweep->open_count = 0;
        sweep_rows(sweep, first, last, windows->items[threads[i].window].end_ns);
    }
    return VARVE_OK;
}

enum varve_code vv_critical_host(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                 const struct vv_critical_windows *windows,
                                 struct varve_error *error)
{
    size_t longest = 0;
    for (uint32_t t = 0; t < scope->model->tracks.table.count; t++) {
        uint32_t first, last;
        vv_critical_rows(scope, windows, t, &first, &last);
        longest = last - first > longest ? last - first : longest;
    }
    struct thread *threads;
    struct sweep sweep = { .graph = graph };
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &threads, scope->track_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &sweep.endings.items, longest, error));
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &sweep.open, longest, error));
    return sweep_threads(&sweep, scope, windows, threads, error);
}
