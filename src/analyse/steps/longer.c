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

static uint32_t name_of(const struct vv_longer *longer, uint32_t slice)
{
    return slice != VV_NONE ? longer->model->slices.name[slice] : 0;
}

enum varve_code vv_longer_add(struct vv_longer *longer, uint32_t slice, int64_t time_ns,
                              struct varve_error *error)
{
    uint32_t name = name_of(longer, slice);
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

static struct vv_longer_most compare(const struct vv_longer *longer,
                                     const struct vv_longer_entry *entry, int64_t others)
{
    uint32_t name = name_of(longer, entry->slice);
    int64_t by_ns = entry->time_ns - (longer->sum_ns[name] - entry->time_ns) / others,
            other_calls = longer->sum_calls[name] - entry->calls,
            more = entry->calls - (other_calls + others / 2) / others;
    return (struct vv_longer_most){ by_ns, entry->slice, more > 0 ? more : 0,
                                    2 * entry->calls * others > 3 * other_calls };
}

size_t vv_longer_of(const struct vv_longer *longer, size_t step, size_t most,
                    struct vv_longer_most *out_names)
{
    int64_t others = (int64_t)longer->step_count - 1;
    size_t found = 0;
    if (step >= longer->step_count || others == 0)
        return 0;
    for (size_t i = begin_of(longer, step); i < longer->ends[step]; i++) {
        struct vv_longer_most one = compare(longer, &longer->entries[i], others);
        size_t place = found;
        while (place > 0 && one.by_ns > out_names[place - 1].by_ns)
            place--;
        if (one.by_ns <= 0 || place == most)
            continue;
        found += found < most;
        for (size_t k = found - 1; k > place; k--)
            out_names[k] = out_names[k - 1];
        out_names[place] = one;
    }
    return found;
}
