/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h — what changed between two sides: two traces, or two selections of one trace
 * (doc/metrics.md §11).
 *
 * The functions are pure, like those of question/question.h, and take two models. Figures are means
 * over the chosen steps of each side. If a side has no steps, all work of each side is one step.
 * Names are compared without the parts that differ from run to run: addresses, and the number after
 * ProfilerStep#. Thread-safe on shared models. */
#ifndef VV_ANALYSE_DIFF_DIFF_H
#define VV_ANALYSE_DIFF_DIFF_H

#include "question/question.h"

enum { VV_BASE, VV_NEW, VV_SIDES };

struct vv_side {
    const struct vv_model *model;  /* borrowed; both may be the same                            */
    struct vv_selection selection;
    const char *label;             /* a path, for people                                        */
};

/* Makes one table. Only vv_diff calls it. */
typedef enum varve_code vv_diff_fn(const struct vv_side sides[VV_SIDES],
                                   const struct vv_question *question, struct vv_scratch *scratch,
                                   struct vv_sheet *out, struct varve_error *error);

/* Makes a table of a diff, as vv_analyse does for one model. */
enum varve_code vv_diff(vv_diff_fn *table, const struct vv_side sides[VV_SIDES],
                        const struct vv_question *question, struct vv_sheet *out,
                        struct varve_error *error);

vv_diff_fn vv_diff_operators; /* "diff_operators": contributions that add up to the change       */
vv_diff_fn vv_diff_kernels;   /* "diff_kernels": the same for device work launched in the steps  */
vv_diff_fn vv_diff_tree;      /* "diff_tree": the same by calling path                           */
vv_diff_fn vv_diff_offload;   /* "offload": what would run on which of two devices; only if it is
                                 asked for */

struct vv_diff_entry {
    const char *name, *says;
    vv_diff_fn *analyse;
    bool is_optional; /* only if it is asked for                                                */
};
extern const struct vv_diff_entry vv_diff_tables[]; /* ended by a NULL name                       */

/* True if table "diff" says: the steps are slower by more than `ratio`, and this is not noise. */
bool vv_diff_is_worse(const struct vv_sheet *diff, double ratio);

#endif
