/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h — what changed between two sides: two traces, or two selections of one (doc/metrics.md §11).
 *
 * Pure functions like those of question/question.h, over two models. Figures are means over the chosen steps of each
 * side; where a side has no steps, both are taken whole, as one step. Names are compared without what differs
 * from run to run: addresses, and the number behind ProfilerStep#. Thread-safe on shared models. */
#ifndef VV_ANALYSE_DIFF_DIFF_H
#define VV_ANALYSE_DIFF_DIFF_H

#include "question/question.h"

enum { VV_BASE, VV_NEW, VV_SIDES };

struct vv_side {
    const struct vv_model *model;  /* borrowed; both may be the same                            */
    struct vv_selection selection;
    const char *label;             /* what people see: a path                                   */
};

typedef enum varve_code vv_diff_fn(const struct vv_side sides[VV_SIDES], const struct vv_question *question,
                                   struct vv_sheet *out, struct varve_error *error);

vv_diff_fn vv_diff_step;      /* "diff", one row: the steps' mean, its change and interval       */
vv_diff_fn vv_diff_operators; /* "diff_operators": contributions that add up to the change       */
vv_diff_fn vv_diff_kernels;   /* "diff_kernels": the same of device work launched in the steps   */
vv_diff_fn vv_diff_tree;      /* "diff_tree": the median steps, call by call                     */

struct vv_diff_entry {
    const char *name, *says;
    vv_diff_fn *analyse;
};
extern const struct vv_diff_entry vv_diff_tables[]; /* diff/diff.c; ended by a NULL name          */

/* Is a "diff" table's change, beyond the noise, more than `ratio` for the worse? */
bool vv_diff_is_worse(const struct vv_sheet *diff, double ratio);

#endif
