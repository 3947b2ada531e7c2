/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/steps/workers.h"

#include <math.h>
#include <stdlib.h>

#include "base/binary_search.h"
#include "base/sum.h"
#include "derive/select/process_fact.h"
#include "model/find.h"

/* Of a worker: it loads; multiprocessing's QueueFeederThread sends; its resource_sharer gives out
 * the descriptors of shared memory. */
#define OWN_THREADS 3

/* A worker begins, or ends: then the numbers are negative. */
struct change {
    int64_t at_ns, workers, pool_threads;
};

static int by_time(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    int order = (left->at_ns > right->at_ns) - (left->at_ns < right->at_ns);
    return order != 0 ? order : (left->workers > right->workers) - (left->workers < right->workers);
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void count_at_once(struct vv_workers *workers, struct change *changes, size_t count)
{
    int64_t living = 0, threads = 0;
    if (count > 0)
        qsort(changes, count, sizeof *changes, by_time);
    for (size_t i = 0; i < count; i++) {
        living += changes[i].workers;
        threads = vv_sum(threads, changes[i].pool_threads);
        if (threads < workers->pool_threads ||
            (threads == workers->pool_threads && living <= workers->at_once))
            continue;
        workers->at_once = living;
        workers->pool_threads = threads;
    }
}

enum varve_code vv_workers_init(struct vv_workers *out_workers, const struct vv_scope *scope,
                                const bool *has_steps, const bool *loads,
                                struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    size_t processes = (size_t)model->processes.table.count, change_count = 0;
    int64_t *first_ns; /* process -> begin of its first slice */
    struct change *changes;
    *out_workers = (struct vv_workers){ .count = 0 };
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &first_ns, processes + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &changes, 2 * processes + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &out_workers->begin_ns, processes + 1, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &out_workers->usual_ns,
                            (size_t)model->steps.table.count + 1, error));
    for (size_t process = 0; process < processes; process++)
        first_ns[process] = INT64_MAX;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last, process = model->tracks.process[track];
        vv_track_rows(model, track, &first, &last);
        if (first < last && process != VV_NONE &&
            model->slices.begin_ns[first] < first_ns[process])
            first_ns[process] = model->slices.begin_ns[first];
    }
    for (uint32_t process = 0; process < processes; process++) {
        if (first_ns[process] == INT64_MAX || !scope->processes[process] || has_steps[process] ||
            loads[process])
            continue;
        int64_t threads = vv_process_fact(model, process, VV_FACT_THREADS);
        out_workers->begin_ns[out_workers->count++] = first_ns[process];
        threads = threads > OWN_THREADS ? threads - OWN_THREADS : 0;
        changes[change_count++] = (struct change){ model->processes.begin_ns[process], 1, threads };
        changes[change_count++] = (struct change){ model->processes.end_ns[process], -1, -threads };
    }
    count_at_once(out_workers, changes, change_count);
    if (out_workers->count > 0)
        qsort(out_workers->begin_ns, out_workers->count, sizeof *out_workers->begin_ns, ascending);
    return VARVE_OK;
}

void vv_workers_add_step(struct vv_workers *workers, int64_t begin_ns, int64_t end_ns)
{
    size_t at = VV_FIRST_NOT(i, (size_t)0, workers->count, workers->begin_ns[i] < begin_ns);
    bool has_begun = at < workers->count && workers->begin_ns[at] < end_ns;
    if (!has_begun) {
        workers->usual_ns[workers->usual++] = end_ns - begin_ns;
    } else if (at > 0) {
        workers->restarts++;
        workers->restarted_ns = vv_sum(workers->restarted_ns, end_ns - begin_ns);
    }
}

int64_t vv_workers_restart_ns(const struct vv_workers *workers)
{
    if (workers->usual == 0 || workers->restarts == 0)
        return 0;
    qsort(workers->usual_ns, workers->usual, sizeof *workers->usual_ns, ascending);
    double usual_ns = (double)workers->usual_ns[workers->usual / 2],
           longer_ns = (double)workers->restarted_ns - usual_ns * (double)workers->restarts;
    return longer_ns > 0 ? (int64_t)fmin(longer_ns, 9e18) : 0;
}
