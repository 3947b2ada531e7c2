/* SPDX-License-Identifier: Apache-2.0 */
/* hta.c — --compat hta: the graph that Holistic Trace Analysis makes, so that the results can be
 * compared.
 *
 * HTA's rules, as doc/truth.md tells them: times are whole microseconds; where there are several
 * steps, events that begin with the last step or later are dropped; host events without length are
 * dropped; only operators and calls count; the backward thread's events count among those of the
 * forward thread; the time between operators of a thread weighs nothing; all launches share one
 * lock. */
#include "analyse/critical/hta.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "model/id_map.h"

/* ---- rows ---- */

static const struct { const char *name; enum vv_hta_role role; } roles[] = {
    { "cudaLaunchKernel", VV_HTA_LOCKING_LAUNCH }, { "cudaLaunchKernelExC", VV_HTA_LAUNCH },
    { "cuLaunchKernel", VV_HTA_LAUNCH }, { "cuLaunchKernelEx", VV_HTA_LAUNCH },
    { "cudaMemcpyAsync", VV_HTA_BLOCKING_LAUNCH }, { "cudaMemsetAsync", VV_HTA_LAUNCH },
    { "hipLaunchKernel", VV_HTA_LAUNCH }, { "hipExtModuleLaunchKernel", VV_HTA_LAUNCH },
    { "hipMemsetAsync", VV_HTA_LAUNCH }, { "hipMemcpyAsync", VV_HTA_LAUNCH },
    { "hipMemcpyWithStream", VV_HTA_LAUNCH },
    { "runFunction - job_prep_and_submit_for_execution", VV_HTA_LAUNCH },
    { "cudaDeviceSynchronize", VV_HTA_BLOCKING }, { "cudaStreamSynchronize", VV_HTA_BLOCKING },
    { "cudaEventQuery", VV_HTA_BLOCKING }, { "cudaEventSynchronize", VV_HTA_BLOCKING },
    { "cudaMemcpy", VV_HTA_BLOCKING }, { "cudaHostAlloc", VV_HTA_HOST_ALLOC },
    { "cudaEventRecord", VV_HTA_RECORD }, { "cudaStreamWaitEvent", VV_HTA_STREAM_WAIT_CALL },
    { "Stream Wait Event", VV_HTA_STREAM_WAIT }, { "Event Sync", VV_HTA_EVENT_SYNC },
    { "Stream Sync", VV_HTA_STREAM_SYNC }, { "Context Sync", VV_HTA_CONTEXT_SYNC },
};

static bool is_blocking(const struct vv_hta_row *row)
{
    return row->role == VV_HTA_BLOCKING || row->role == VV_HTA_BLOCKING_LAUNCH;
}

/* HTA assumes that these calls hold the one lock of the CUDA runtime. */
static bool is_locking(const struct vv_hta_row *row)
{
    return row->role == VV_HTA_BLOCKING_LAUNCH || row->role == VV_HTA_LOCKING_LAUNCH ||
           row->role == VV_HTA_HOST_ALLOC;
}

static enum vv_hta_role role_of(const char *name)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, name) == 0)
            return roles[i].role;
    return VV_HTA_OTHER;
}

static int by_order(const void *a, const void *b)
{
    const struct vv_hta_row *left = a, *right = b;
    if (left->order != right->order)
        return left->order < right->order ? -1 : 1;
    return (left->slice > right->slice) - (left->slice < right->slice);
}

static bool is_one_of(const struct vv_model *model, uint32_t category, const char *const *names)
{
    for (const char *text = vv_text_of(model, category); *names != NULL; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

static void take_rows(struct vv_hta *hta, const struct vv_scope *scope,
                      const struct vv_hta_rules *rules)
{
    static const char *const host[] = { "cpu_op", "cuda_runtime", "cuda_driver", NULL };
    static const char *const never[] = { "", "Trace", NULL };
    const struct vv_model *model = hta->model;
    for (uint32_t slice = 0; slice < model->slices.table.count; slice++) {
        uint32_t track = model->slices.track[slice], process = model->tracks.process[track];
        uint32_t activity = model->slices.activity[slice];
        if (model->tracks.kind[track] == VV_TRACK_ASYNC ||
            is_one_of(model, model->slices.category[slice], never) ||
            (process != VV_NONE && !scope->processes[process]))
            continue;
        struct vv_interval time = vv_hta_times(rules, slice);
        struct vv_hta_row row = {
            .begin_ns = time.begin_ns, .end_ns = time.end_ns,
            .stream = activity != VV_NONE ? model->activities.stream[activity] : -1,
            .correlation = activity != VV_NONE ? model->activities.correlation[activity] : 0,
            .slice = slice, .order = model->slices.order[slice], .partner = VV_NONE,
            .start = VV_NONE, .end = VV_NONE,
            .scope = vv_scope_of_track(model, track), .is_kept = true,
            .role = (uint8_t)role_of(vv_text_of(model, model->slices.name[slice])),
        };
        row.is_device = (row.stream >= 0 && row.correlation != 0) ||
                        row.role == VV_HTA_EVENT_SYNC || row.role == VV_HTA_CONTEXT_SYNC;
        row.has_node = is_one_of(model, model->slices.category[slice], host) ||
                       (row.stream >= 0 && row.correlation != 0);
        hta->rows[hta->count++] = row;
    }
    qsort(hta->rows, hta->count, sizeof *hta->rows, by_order);
}

/* If several rows have one correlation, the last is the partner. */
static enum varve_code find_partners(struct vv_hta *hta, struct varve_error *error)
{
    struct vv_id_range range = { 0 };
    for (size_t i = 0; i < hta->count; i++)
        if (hta->rows[i].correlation != 0)
            vv_id_range_add(&range, hta->rows[i].scope, hta->rows[i].correlation);
    for (int side = 0; side < 2; side++) {
        struct vv_id_map *map;
        VV_TRY(vv_id_map_in(hta->graph->building, &map, &range, error));
        for (uint32_t i = 0; i < hta->count; i++)
            if (hta->rows[i].correlation != 0 && hta->rows[i].is_device == (side == 0))
                *vv_id_map_put(map, hta->rows[i].scope, hta->rows[i].correlation) = i;
        for (uint32_t i = 0; i < hta->count; i++)
            if (hta->rows[i].correlation != 0 && hta->rows[i].is_device != (side == 0))
                hta->rows[i].partner =
                    vv_id_map_find(map, hta->rows[i].scope, hta->rows[i].correlation);
    }
    return VARVE_OK;
}

/* If there are several steps, drops the last one, and the work of dropped calls. */
static void drop_last_step(struct vv_hta *hta, const struct vv_hta_rules *rules)
{
    for (size_t i = 0; i < hta->count && rules->last_steps_ns != NULL; i++)
        if (!hta->rows[i].is_device)
            hta->rows[i].is_kept = hta->rows[i].begin_ns < rules->last_steps_ns[hta->rows[i].scope];
    for (size_t i = 0; i < hta->count && rules->last_steps_ns != NULL; i++)
        if (hta->rows[i].is_device)
            hta->rows[i].is_kept =
                hta->rows[i].partner != VV_NONE && hta->rows[hta->rows[i].partner].is_kept;
}

static void clip(struct vv_hta *hta, const struct vv_critical_windows *windows,
                 const struct vv_hta_rules *rules)
{
    for (size_t i = 0; i < hta->count; i++) {
        struct vv_hta_row *row = &hta->rows[i];
        const struct vv_critical_window *window = &windows->items[row->scope];
        struct vv_interval bounds =
            window->slice != VV_NONE ? vv_hta_times(rules, window->slice) : VV_ALWAYS;
        const struct vv_hta_row *host = row->stream == -1         ? row
                                        : row->partner != VV_NONE ? &hta->rows[row->partner]
                                                                  : NULL;
        bool is_inside = host != NULL && host->is_kept && host->begin_ns >= bounds.begin_ns &&
                         host->begin_ns <= bounds.end_ns && host->end_ns > host->begin_ns;
        row->is_inside = row->is_kept && (is_inside || row->role == VV_HTA_STREAM_WAIT);
    }
}

/* ---- nodes ---- */

struct point { int64_t time_ns; uint32_t row; bool is_end; };

static int by_point(const void *a, const void *b)
{
    const struct point *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    if (left->row != right->row)
        return left->row < right->row ? -1 : 1;
    return left->is_end - right->is_end;
}

static enum varve_code add_nodes(struct vv_hta *hta, struct point *points,
                                 struct varve_error *error)
{
    struct vv_critical_graph *graph = hta->graph;
    size_t count = 0;
    for (uint32_t i = 0; i < hta->count; i++)
        if (hta->rows[i].is_inside && hta->rows[i].has_node) {
            points[count++] = (struct point){ hta->rows[i].begin_ns, i, false };
            points[count++] = (struct point){ hta->rows[i].end_ns, i, true };
        }
    qsort(points, count, sizeof *points, by_point);
    VV_TRY(vv_critical_reserve(graph, count, error));
    for (size_t i = 0; i < count; i++) {
        struct vv_hta_row *row = &hta->rows[points[i].row];
        VV_TRY(vv_critical_chain(graph, error));
        uint32_t node =
            vv_critical_node(graph, points[i].time_ns, row->slice, VV_LINK_NONE, VV_NONE);
        *(points[i].is_end ? &row->end : &row->start) = node;
        *(points[i].is_end ? &graph->end_of[row->slice] : &graph->start_of[row->slice]) = node + 1;
    }
    hta->node_count = count;
    return VARVE_OK;
}

/* ---- calls that share a lock: calls that are open when one of them ends wait for it ---- */

static enum varve_code lock_edges(struct vv_hta *hta, const struct point *points, uint32_t *open,
                                  struct varve_error *error)
{
    uint32_t open_count = 0, last_end = VV_NONE;
    for (size_t i = 0; i < hta->node_count; i++) {
        const struct vv_hta_row *row = &hta->rows[points[i].row];
        if (!is_locking(row))
            continue;
        if (!points[i].is_end) {
            open[open_count++] = points[i].row;
            last_end = VV_NONE;
            continue;
        }
        while (open_count > 0) {
            const struct vv_hta_row *other = &hta->rows[open[--open_count]];
            VV_TRY(vv_hta_edge(hta, other->start, row->end,
                               other == row ? VV_LINK_OWN : VV_LINK_IDLE, row->slice, error));
        }
        if (last_end != VV_NONE)
            VV_TRY(vv_hta_edge(hta, last_end, row->end, VV_LINK_IDLE, VV_NONE, error));
        last_end = row->end;
    }
    return VARVE_OK;
}

/* ---- host threads ---- */

struct mark { int64_t time_ns, duration_ns, pid, tid; uint32_t row; bool is_end; };

static int by_mark(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;
    int sign = left->is_end ? -1 : 1; /* at one begin the longer comes first, then by row; ends have
                                         the reverse order */
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    if (left->is_end != right->is_end)
        return left->is_end ? -1 : 1;
    if (left->duration_ns != right->duration_ns)
        return (left->duration_ns > right->duration_ns ? -1 : 1) * sign;
    return ((left->row > right->row) - (left->row < right->row)) * sign;
}

/* Finds the only thread on which operators or annotations have the word in their names. False if
 * there is no such thread, or more than one. */
static bool find_thread(const struct vv_hta *hta, const char *word, int64_t *out_tid)
{
    static const char *const categories[] = { "cpu_op", "user_annotation", NULL };
    bool is_found = false;
    for (size_t i = 0; i < hta->count; i++) {
        uint32_t slice = hta->rows[i].slice;
        if (!hta->rows[i].is_inside ||
            !is_one_of(hta->model, hta->model->slices.category[slice], categories) ||
            strstr(vv_text_of(hta->model, hta->model->slices.name[slice]), word) == NULL)
            continue;
        int64_t tid = hta->model->tracks.tid[hta->model->slices.track[slice]];
        if (is_found && tid != *out_tid)
            return false;
        is_found = true;
        *out_tid = tid;
    }
    return is_found;
}

struct thread_walk {
    struct vv_hta *hta;
    uint32_t *open;          /* rows                                                             */
    uint32_t open_count, depth;
    uint32_t last_row, last_parent;
    bool has_last, last_is_end;
};

/* Adds the edges to the start or end of a row from the last point of the thread. */
static enum varve_code walk_to_row_end(struct thread_walk *walk, uint32_t number, bool is_end,
                                       uint32_t parent, struct varve_error *error)
{
    const struct vv_hta_row *row = &walk->hta->rows[number],
                            *last = &walk->hta->rows[walk->last_row];
    bool shares_lock =
        walk->has_last && is_locking(last) && is_locking(row) && (!walk->last_is_end || is_end);
    if (walk->has_last && !shares_lock) {
        uint32_t from = walk->last_is_end ? last->end : last->start,
                 to = is_end ? row->end : row->start;
        uint32_t owner = !walk->last_is_end             ? last->slice
                         : is_end                       ? row->slice
                         : walk->last_parent != VV_NONE ? walk->hta->rows[walk->last_parent].slice
                                                        : VV_NONE;
        enum vv_critical_link link = !is_end && walk->depth == 0      ? VV_LINK_IDLE
                                     : is_end && is_blocking(row) ? VV_LINK_WAITING
                                                                  : VV_LINK_OWN;
        VV_TRY(vv_hta_edge(walk->hta, from, to, link, owner, error));
    }
    walk->has_last = true;
    walk->last_row = number;
    walk->last_is_end = is_end;
    walk->last_parent = parent;
    walk->depth += is_end ? -1u : 1u;
    return VARVE_OK;
}

static enum varve_code walk_thread(struct thread_walk *walk, const struct mark *marks, size_t count,
                                   struct varve_error *error)
{
    walk->open_count = walk->depth = 0;
    walk->has_last = false;
    for (size_t i = 0; i < count; i++) {
        /* An end closes the slice that was opened last, even if it is another slice's end. */
        uint32_t row = marks[i].is_end ? walk->open[--walk->open_count] : marks[i].row;
        uint32_t parent = walk->open_count > 0 ? walk->open[walk->open_count - 1] : VV_NONE;
        if (walk->hta->rows[row].has_node)
            VV_TRY(walk_to_row_end(walk, row, marks[i].is_end, parent, error));
        if (!marks[i].is_end)
            walk->open[walk->open_count++] = row;
    }
    return VARVE_OK;
}

static enum varve_code thread_edges(struct vv_hta *hta, struct mark *marks, uint32_t *open,
                                    struct varve_error *error)
{
    const struct vv_model *model = hta->model;
    int64_t forward = 0, backward = 0;
    bool are_one = find_thread(hta, "forward", &forward) && find_thread(hta, "autograd", &backward);
    struct thread_walk walk = { .hta = hta, .open = open };
    size_t count = 0;
    for (uint32_t i = 0; i < hta->count; i++) {
        const struct vv_hta_row *row = &hta->rows[i];
        uint32_t track = model->slices.track[row->slice];
        if (!row->is_inside || row->stream != -1 || row->is_device)
            continue;
        int64_t tid = model->tracks.tid[track];
        struct mark mark = { row->begin_ns, row->end_ns - row->begin_ns, vv_pid_of(model, track),
                             are_one && tid == backward ? forward : tid, i, false };
        marks[count++] = mark;
        mark.time_ns = row->end_ns;
        mark.is_end = true;
        marks[count++] = mark;
    }
    qsort(marks, count, sizeof *marks, by_mark);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && marks[last].pid == marks[first].pid &&
                           marks[last].tid == marks[first].tid;
             last++)
            ;
        VV_TRY(walk_thread(&walk, marks + first, last - first, error));
    }
    return VARVE_OK;
}

/* ---- of two edges between the same nodes the later counts, at the place of the earlier ---- */

static enum varve_code unite_edges(struct vv_critical_graph *graph, struct varve_error *error)
{
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &keys, graph->edge_count, error));
    for (size_t e = 0; e < graph->edge_count; e++)
        keys[e] = (struct vv_keyed_row){ (uint64_t)graph->edges[e].to << 32 | graph->edges[e].from,
                                         (uint32_t)e };
    VV_TRY(vv_radix_sort(keys, graph->edge_count, error));
    for (size_t first = 0, last; first < graph->edge_count; first = last) {
        for (last = first + 1; last < graph->edge_count && keys[last].key == keys[first].key;
             last++)
            ;
        graph->edges[keys[first].row] = graph->edges[keys[last - 1].row];
        for (size_t i = first + 1; i < last; i++)
            graph->edges[keys[i].row].link = VV_LINK_NONE;
    }
    size_t count = 0;
    for (size_t e = 0; e < graph->edge_count; e++)
        if (graph->edges[e].link != VV_LINK_NONE)
            graph->edges[count++] = graph->edges[e];
    graph->edge_count = count;
    return VARVE_OK;
}

/* ---- the whole graph ---- */

static enum varve_code build(struct vv_hta *hta, const struct vv_scope *scope,
                             const struct vv_critical_windows *windows,
                             const struct vv_hta_rules *rules, struct varve_error *error)
{
    take_rows(hta, scope, rules);
    VV_TRY(find_partners(hta, error));
    drop_last_step(hta, rules);
    clip(hta, windows, rules);
    size_t places = 2 * hta->count + 1;
    struct vv_scratch *scratch = hta->graph->building;
    struct point *points;
    struct mark *marks;
    uint32_t *open;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &points, places, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &marks, places, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &open, places, error));
    VV_TRY(add_nodes(hta, points, error));
    VV_TRY(lock_edges(hta, points, open, error));
    VV_TRY(thread_edges(hta, marks, open, error));
    VV_TRY(vv_hta_device(hta, error));
    return unite_edges(hta->graph, error);
}

enum varve_code vv_critical_hta(struct vv_critical_graph *graph, const struct vv_scope *scope,
                                const struct vv_critical_windows *windows,
                                struct varve_error *error)
{
    struct vv_hta hta = { .graph = graph, .model = graph->model };
    struct vv_hta_rules rules;
    VV_TRY(VV_SCRATCH_ARRAY(graph->building, &hta.rows, graph->model->slices.table.count, error));
    VV_TRY(vv_hta_rules_init(&rules, graph->model, graph->building, error));
    return build(&hta, scope, windows, &rules, error);
}
