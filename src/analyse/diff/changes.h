/* SPDX-License-Identifier: Apache-2.0 */
/* changes.h — the groups of two sides' samples, compared: mean self time a step, and its change.
 * Thread-compatible. */
#ifndef VV_ANALYSE_DIFF_CHANGES_H
#define VV_ANALYSE_DIFF_CHANGES_H

#include "analyse/diff/interval.h"
#include "analyse/diff/samples.h"

struct vv_diff_change {
    int64_t change_ns, base_ns, new_ns; /* mean of a step, rounded                              */
    uint64_t calls[VV_SIDES];
    int64_t total_ns[VV_SIDES];
    size_t first_entry[VV_SIDES];       /* of the group, or where it would be                   */
    uint32_t group;
};

struct vv_diff_changes {
    struct vv_diff_samples *samples;
    struct vv_diff_change *changes; /* by group                                                 */
    uint32_t count;
    int64_t *values[VV_SIDES];      /* of one group: a value for each step                      */
    uint32_t interval_count;        /* how many groups were asked for theirs                    */
};

/* Compares all groups. Call after everything was added to the samples. */
enum varve_code vv_diff_changes_init(struct vv_diff_changes *changes,
                                     struct vv_diff_samples *samples, struct varve_error *error);

/* The change of the group's self time a step, with its interval. Resampling takes a thousand times
 * the steps, so from the thousandth group on the interval is the normal one. */
struct vv_difference vv_diff_group_interval(struct vv_diff_changes *changes,
                                            const struct vv_diff_change *change);

/* Adds the times alone. */
void vv_diff_add_times(struct vv_diff_change *sum, const struct vv_diff_change *change);

/* The steps of both sides: their durations, and the time in none of the groups. The latter's times
 * are what the groups leave of the durations, so that the rows of a table add up. */
struct vv_diff_whole {
    struct vv_diff_change total, outside;
    struct vv_difference total_difference, outside_difference;
};
struct vv_diff_whole vv_diff_whole(const struct vv_diff_changes *changes);

#endif
