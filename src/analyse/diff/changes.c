/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/diff/changes.h"

#include <math.h>

enum { RESAMPLED_GROUPS = 1000 };

static int64_t mean_ns(int64_t sum_ns, size_t steps)
{
    return llround((double)sum_ns / (double)steps);
}

static struct vv_diff_change compare_group(const struct vv_diff_samples *samples, uint32_t group,
                                           size_t *entries)
{
    const struct vv_diff_side *base = &samples->sides[VV_BASE], *other = &samples->sides[VV_NEW];
    struct vv_diff_change change = {
        .base_ns = mean_ns(base->sums[group].self_ns, base->step_count),
        .new_ns = mean_ns(other->sums[group].self_ns, other->step_count),
        .group = group,
    };
    change.change_ns = change.new_ns - change.base_ns;
    for (int i = 0; i < VV_SIDES; i++) {
        const struct vv_diff_side *side = &samples->sides[i];
        change.calls[i] = side->sums[group].calls;
        change.total_ns[i] = side->sums[group].total_ns;
        change.first_entry[i] = entries[i];
        while (entries[i] < side->entry_count && side->entries[entries[i]].group == group)
            entries[i]++;
    }
    return change;
}

enum varve_code vv_diff_changes_init(struct vv_diff_changes *changes,
                                     struct vv_diff_samples *samples, struct varve_error *error)
{
    size_t entries[VV_SIDES] = { 0 };
    *changes = (struct vv_diff_changes){ .samples = samples, .count = samples->groups.count };
    VV_TRY(vv_diff_order(samples, error));
    for (int i = 0; i < VV_SIDES; i++)
        VV_TRY(VV_SCRATCH_ARRAY(samples->scratch, &changes->values[i], samples->sides[i].step_count,
                                error));
    VV_TRY(VV_SCRATCH_ARRAY(samples->scratch, &changes->changes, changes->count, error));
    for (uint32_t g = 0; g < changes->count; g++)
        changes->changes[g] = compare_group(samples, g, entries);
    return VARVE_OK;
}

struct vv_difference vv_diff_group_interval(struct vv_diff_changes *changes,
                                            const struct vv_diff_change *change)
{
    struct vv_sample_set sets[VV_SIDES];
    for (int i = 0; i < VV_SIDES; i++) {
        vv_diff_values(&changes->samples->sides[i], change->group, change->first_entry[i],
                       changes->values[i]);
        sets[i] = (struct vv_sample_set){ changes->values[i],
                                          changes->samples->sides[i].step_count };
    }
    return changes->interval_count++ < RESAMPLED_GROUPS
               ? vv_difference(sets[VV_BASE], sets[VV_NEW])
               : vv_normal_difference(sets[VV_BASE], sets[VV_NEW]);
}

void vv_diff_add_times(struct vv_diff_change *sum, const struct vv_diff_change *change)
{
    sum->change_ns += change->change_ns;
    sum->base_ns += change->base_ns;
    sum->new_ns += change->new_ns;
}

static struct vv_difference difference_of(const int64_t *base, const int64_t *other,
                                          const struct vv_diff_samples *samples)
{
    return vv_difference((struct vv_sample_set){ base, samples->sides[VV_BASE].step_count },
                         (struct vv_sample_set){ other, samples->sides[VV_NEW].step_count });
}

struct vv_diff_whole vv_diff_whole(const struct vv_diff_changes *changes)
{
    const struct vv_diff_side *base = &changes->samples->sides[VV_BASE],
                              *other = &changes->samples->sides[VV_NEW];
    struct vv_diff_change groups = { 0 }, whole = { 0 };
    for (uint32_t g = 0; g < changes->count; g++)
        vv_diff_add_times(&groups, &changes->changes[g]);
    for (int i = 0; i < VV_SIDES; i++) {
        const struct vv_diff_side *side = &changes->samples->sides[i];
        whole.calls[i] = side->step_count;
        for (size_t s = 0; s < side->step_count; s++)
            whole.total_ns[i] += side->step_ns[s];
    }
    whole.base_ns = mean_ns(whole.total_ns[VV_BASE], base->step_count);
    whole.new_ns = mean_ns(whole.total_ns[VV_NEW], other->step_count);
    whole.change_ns = whole.new_ns - whole.base_ns;
    struct vv_diff_whole result = { .total = whole, .outside = whole };
    result.outside.base_ns -= groups.base_ns;
    result.outside.new_ns -= groups.new_ns;
    result.outside.change_ns -= groups.change_ns;
    result.total_difference = difference_of(base->step_ns, other->step_ns, changes->samples);
    result.outside_difference = difference_of(base->outside_ns, other->outside_ns,
                                              changes->samples);
    return result;
}
