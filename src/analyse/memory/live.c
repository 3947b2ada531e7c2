/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory/live.h"

enum varve_code vv_chosen_instants(const struct vv_scope *scope, uint32_t scope_number,
                                   struct vv_intervals *out_instants, struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    out_instants->count = 0;
    if (scope->every_step)
        return vv_intervals_add(out_instants, model->run.begin_ns, model->run.end_ns + 1, error);
    for (uint64_t s = 0; s < model->steps.table.count; s++) {
        uint32_t process = model->tracks.process[model->steps.track[s]];
        int64_t begin_ns = model->steps.begin_ns[s];
        if (scope->steps[s] &&
            (process == VV_NONE || model->processes.scope[process] == scope_number))
            VV_TRY(vv_intervals_add(out_instants, begin_ns, begin_ns + model->steps.duration_ns[s],
                                    error));
    }
    vv_intervals_unite(out_instants);
    return VARVE_OK;
}

struct vv_memory_peak vv_memory_peak(const struct vv_pool *pool, const struct vv_change *changes,
                                     size_t count, const struct vv_intervals *instants)
{
    struct vv_memory_peak peak = { .bytes = -1 };
    int64_t live_bytes = pool->before_bytes, from_ns = INT64_MIN;
    size_t window = 0;
    /* The live memory is the same over [from, to), between two changes. */
    for (size_t i = 0; i <= count; i++) {
        int64_t to_ns = i < count ? changes[i].time_ns : INT64_MAX;
        while (window < instants->count && instants->items[window].end_ns <= from_ns)
            window++;
        if (window < instants->count && instants->items[window].begin_ns < to_ns &&
            from_ns < to_ns) {
            int64_t begin_ns = instants->items[window].begin_ns;
            if (peak.bytes < 0)
                peak.begin_bytes = live_bytes;
            peak.end_bytes = live_bytes;
            if (live_bytes > peak.bytes) {
                peak.bytes = live_bytes;
                peak.time_ns = begin_ns > from_ns ? begin_ns : from_ns;
            }
        }
        if (i < count)
            live_bytes += changes[i].bytes;
        from_ns = to_ns;
    }
    return peak;
}
