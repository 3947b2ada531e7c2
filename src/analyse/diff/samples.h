/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h — the time of each group of operators, of device work or of one calling path, in each
 * step of two sides.
 *
 * Law of operators and of paths, in each step of a side: the groups' self_ns + outside_ns = the
 * step's duration_ns. */
#ifndef VV_ANALYSE_DIFF_SAMPLES_H
#define VV_ANALYSE_DIFF_SAMPLES_H

#include "analyse/diff/diff.h"
#include "derive/select/scope.h"
#include "numbers/pair_ids.h"

/* The time of a group in one step of a side: self time of operators, duration of device work. */
struct vv_diff_entry_ns {
    uint32_t group, step; /* step: number from 0, in order of begin */
    int64_t self_ns;
};

struct vv_diff_sum {
    uint64_t calls;
    int64_t total_ns, self_ns; /* self_ns: only on the steps' own threads */
};

struct vv_diff_side {
    struct vv_scope scope;
    bool by_step;             /* false: all work is one step */
    size_t step_count;
    uint32_t *step_of;        /* row of a step -> its number, or VV_NONE */
    int64_t *step_ns;         /* step number -> duration */
    int64_t *outside_ns;      /* step number -> time in no operator */
    struct vv_diff_entry_ns *entries;
    size_t entry_count, entry_capacity;
    struct vv_diff_sum *sums; /* group -> sum */
};

struct vv_diff_samples {
    struct vv_scratch *scratch;
    struct vv_intern *texts;  /* names of both sides, without addresses */
    struct vv_groups groups;  /* (text of the name, text of the shapes); of paths (text of the name,
                                 group of the path above + 1, or 0) */
    size_t sum_capacity;
    struct vv_diff_side sides[VV_SIDES];
};

/* Finds the steps of both sides. There are no groups yet. */
enum varve_code vv_diff_samples_init(struct vv_diff_samples *samples, const struct vv_side *sides,
                                     struct vv_scratch *scratch, struct varve_error *error);
enum varve_code vv_diff_add_operators(struct vv_diff_samples *samples, bool by_shape,
                                      struct varve_error *error);
/* Adds every range on the steps' own threads, with its calling path from the step down. Only where
 * both sides have steps. */
enum varve_code vv_diff_add_paths(struct vv_diff_samples *samples, struct varve_error *error);
/* Adds the work whose call is in a step. If no work of either side has a call, adds the work that
 * begins in a step. */
enum varve_code vv_diff_add_kernels(struct vv_diff_samples *samples, const struct vv_side *sides,
                                    struct varve_error *error);

/* Sets values[step] to the group's self time in every step of a side; `values` has room for
 * step_count. The entries are sorted by group, and `first` is the group's first. */
void vv_diff_values(const struct vv_diff_side *side, uint32_t group, size_t first, int64_t *values);
/* Sorts the entries of both sides. Call after everything was added. */
enum varve_code vv_diff_order(struct vv_diff_samples *samples, struct varve_error *error);

#endif
