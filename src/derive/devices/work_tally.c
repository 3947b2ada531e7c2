/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/work_tally.h"

int64_t vv_busy_add(struct vv_busy *busy, size_t device, const struct vv_work_item *item)
{
    if (busy->device != device)
        *busy = (struct vv_busy){ device, INT64_MIN };
    int64_t from_ns = item->begin_ns > busy->until_ns ? item->begin_ns : busy->until_ns;
    if (item->end_ns <= from_ns)
        return 0;
    busy->until_ns = item->end_ns;
    return item->end_ns - from_ns;
}

struct tallying {
    struct vv_scratch *scratch;
    struct vv_work_tally *tally;
    struct vv_busy *busy;  /* by group                                                          */
    size_t figures_capacity, busy_capacity;
    bool *is_seen;         /* by slice: this host slice was counted                             */
};

static enum varve_code count(struct tallying *work, size_t device, const struct vv_work_item *item,
                             struct vv_work_key key, struct varve_error *error)
{
    struct vv_work_tally *tally = work->tally;
    uint32_t group, known = tally->groups.count;
    VV_TRY(vv_groups_add(&tally->groups, key.name, key.extra, &group, error));
    size_t needed = tally->groups.count;
    VV_TRY(
        VV_SCRATCH_RESERVE(work->scratch, &tally->figures, &work->figures_capacity, needed, error));
    VV_TRY(VV_SCRATCH_RESERVE(work->scratch, &work->busy, &work->busy_capacity, needed, error));
    if (group == known) {
        tally->figures[group] = (struct vv_work_figures){ .class = item->class,
                                                           .longest_ns = -1 };
        work->busy[group] = (struct vv_busy)VV_BUSY_NONE;
    }
    struct vv_work_figures *figures = &tally->figures[group];
    int64_t duration_ns = item->end_ns - item->begin_ns;
    figures->total_ns += duration_ns;
    figures->count++;
    if (duration_ns > figures->longest_ns ||
        (duration_ns == figures->longest_ns && item->begin_ns < figures->longest_at_ns)) {
        figures->longest_ns = duration_ns;
        figures->longest_at_ns = item->begin_ns;
        figures->longest = item->activity;
    }
    figures->busy_ns += vv_busy_add(&work->busy[group], device, item);
    tally->all.total_ns += duration_ns;
    tally->all.count++;
    if (key.host != VV_NONE && !work->is_seen[key.host]) {
        work->is_seen[key.host] = true;
        figures->hosts++;
        tally->all.hosts++;
    }
    return vv_samples_add(&tally->durations, group, duration_ns, error);
}

enum varve_code vv_work_tally(const struct vv_device_work *work, vv_work_key_fn *key,
                              const void *context, struct vv_work_tally *out_tally,
                              struct varve_error *error)
{
    struct vv_scratch *scratch = work->scope->scratch;
    *out_tally = (struct vv_work_tally){ .groups = { .scratch = scratch },
                                         .durations = { .scratch = scratch } };
    struct tallying tallying = { .scratch = scratch, .tally = out_tally };
    struct vv_busy all;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &tallying.is_seen, work->scope->model->slices.table.count,
                            error));
    for (size_t d = 0; d < work->device_count; d++) {
        all = (struct vv_busy)VV_BUSY_NONE;
        for (size_t i = work->devices[d].first; i < work->devices[d].last; i++) {
            out_tally->all.busy_ns += vv_busy_add(&all, d, &work->items[i]);
            VV_TRY(count(&tallying, d, &work->items[i], key(context, &work->items[i]), error));
        }
    }
    vv_scratch_release(scratch, tallying.is_seen);
    return vv_samples_sort(&out_tally->durations, out_tally->groups.count, error);
}
