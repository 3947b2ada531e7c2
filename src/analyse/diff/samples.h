/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h — what each group of operators, or of device work, took in each step of two sides.
 *
 * Law of each side of operators, in each step: the groups' self_ns + outside_ns = the step's duration_ns. */
#ifndef VV_ANALYSE_DIFF_SAMPLES_H
#define VV_ANALYSE_DIFF_SAMPLES_H

#include "analyse/diff/diff.h"
#include "derive/select/scope.h"
#include "numbers/pair_ids.h"

/* What a group took in one step of a side: self time of an operator, time of device work. */
struct vv_diff_entry_ns {
    uint32_t group, step; /* step: 0 .. step_count - 1, in order of begin */
    int64_t self_ns;
};

struct vv_diff_sum {
    uint64_t calls;
    int64_t total_ns, self_ns; /* self: on the steps' own threads alone */
};

struct vv_diff_side {
    struct vv_scope scope;
    bool by_step;             /* else all of it is one step */
    size_t step_count;
    uint32_t *step_of;        /* row of a step -> number, or VV_NONE */
    int64_t *step_ns;         /* durations, by number */
    int64_t *outside_ns;      /* by number: in no operator */
    struct vv_diff_entry_ns *entries;
    size_t entry_count, entry_capacity;
    struct vv_diff_sum *sums; /* by group */
};

struct vv_diff_samples {
    struct vv_intern texts;   /* names of both sides, as they are compared */
    struct vv_groups groups;  /* (text of the name, text of the shapes) */
    size_t sum_capacity;
    struct vv_diff_side sides[VV_SIDES];
};

/* The steps of both sides, no groups yet. De-initialise also after a failure. */
enum varve_code vv_diff_samples_init(struct vv_diff_samples *samples, const struct vv_side *sides,
                                     struct varve_error *error);
enum varve_code vv_diff_add_operators(struct vv_diff_samples *samples, bool by_shape, struct varve_error *error);
/* Work whose call lies in a step; where no work of either side has a call, what begins in one. */
enum varve_code vv_diff_add_kernels(struct vv_diff_samples *samples, const struct vv_side *sides,
                                    struct varve_error *error);
void vv_diff_samples_deinit(struct vv_diff_samples *samples);

/* The group's self time in every step of a side. `values` has room for step_count. The entries are in order of
 * groups, and *cursor, 0 at first, goes through them as groups ascend. */
void vv_diff_values(const struct vv_diff_side *side, uint32_t group, size_t *cursor, int64_t *values);
/* Orders the entries of both sides; after all was added. */
enum varve_code vv_diff_order(struct vv_diff_samples *samples, struct varve_error *error);

/* The id in `texts` of a name, without addresses and without a step's number. */
enum varve_code vv_diff_text(struct vv_intern *texts, const char *name, uint32_t *out_id,
                             struct varve_error *error);

#endif
