/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/steps/longer.h"

#include "base/scratch.h"

enum varve_code vv_longer_init(struct vv_longer *out, const struct vv_model *model,
                               struct vv_scratch *scratch, struct varve_error *error)
{
    *out = (struct vv_longer){ .model = model, .scratch = scratch };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->entry_of, model->strings.count + 1, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->sum_calls, model->strings.count + 1, error));
    return VV_SCRATCH_ZEROS(scratch, &out->sum_ns, model->strings.count + 1, error);
}

static size_t begin_of(const struct vv_longer *longer, size_t step)
{
    return step > 0 ? longer->ends[step - 1] : 0;
}

enum varve_code vv_longer_add(struct vv_longer *longer, uint32_t slice, int64_t time_ns,
                              struct varve_error *error)
{
    uint32_t name = longer->model->slices.name[slice];
    size_t entry = longer->entry_of[name];
    longer->sum_ns[name] += time_ns;
    longer->sum_calls[name]++;
    if (entry > begin_of(longer, longer->step_count)) { /* of this step */
        longer->entries[entry - 1].time_ns += time_ns;
        longer->entries[entry - 1].calls++;
        return VARVE_OK;
    }
    VV_TRY(VV_SCRATCH_RESERVE(longer->scratch, &longer->entries, &longer->capacity,
                              longer->count + 1, error));
    longer->entries[longer->count++] = (struct vv_longer_entry){ time_ns, 1, slice };
    longer->entry_of[name] = longer->count;
    return VARVE_OK;
}

enum varve_code vv_longer_end_step(struct vv_longer *longer, size_t step,
                                   struct varve_error *error)
{
    if (step != longer->step_count)
        VV_FAIL(error, VARVE_CORRUPT, "step %zu is told after %zu steps", step,
                longer->step_count);
    VV_TRY(VV_SCRATCH_RESERVE(longer->scratch, &longer->ends, &longer->step_capacity,
                              longer->step_count + 1, error));
    longer->ends[longer->step_count++] = longer->count;
    return VARVE_OK;
}

struct vv_longer_most vv_longer_of(const struct vv_longer *longer, size_t step)
{
    struct vv_longer_most most = { 0 };
    int64_t others = (int64_t)longer->step_count - 1;
    if (step >= longer->step_count || others == 0)
        return most;
    for (size_t i = begin_of(longer, step); i < longer->ends[step]; i++) {
        const struct vv_longer_entry *entry = &longer->entries[i];
        uint32_t name = longer->model->slices.name[entry->slice];
        int64_t by_ns = entry->time_ns - (longer->sum_ns[name] - entry->time_ns) / others,
                other_calls = longer->sum_calls[name] - entry->calls,
                more = entry->calls - (other_calls + others / 2) / others;
        if (by_ns > most.by_ns)
            most = (struct vv_longer_most){ by_ns, entry->slice, more > 0 ? more : 0,
                                            2 * entry->calls * others > 3 * other_calls };
    }
    return most;
}
