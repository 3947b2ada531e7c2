/* SPDX-License-Identifier: Apache-2.0 */
/* operator_tally.h — what each group of operators took, before it becomes a table.
 *
 * Two scopes are summed side by side. WHOLE: every operator slice of the selection, on every chosen
 * thread. STEPS: those that begin inside a chosen step on the step's own thread, cut at its end.
 * Law of each scope:   sum of the groups' self_ns + outside_ns = covered_ns,
 * where covered_ns of STEPS is the sum of the chosen steps' durations. doc/metrics.md. */
#ifndef VV_ANALYSE_OPERATOR_TALLY_H
#define VV_ANALYSE_OPERATOR_TALLY_H

#include "analyse/groups.h"
#include "analyse/samples.h"
#include "analyse/scope.h"

enum vv_grouping { VV_BY_NAME, VV_BY_SHAPE, VV_BY_THREAD, VV_BY_PHASE };
enum vv_tally_scope { VV_SCOPE_STEPS, VV_SCOPE_WHOLE, VV_SCOPE_COUNT };

struct vv_figures {
    uint64_t calls;        /* direct recursion inside the group counts once                    */
    int64_t total_ns;      /* of these calls                                                   */
    int64_t self_ns;       /* of every slice of the group                                      */
    double flop;           /* of the calls whose FLOP are known                                */
    int64_t flop_time_ns;  /* total_ns of those                                                */
};

struct vv_operator_tally {
    struct vv_groups groups;                      /* (name, extra of the grouping)              */
    struct vv_figures *figures[VV_SCOPE_COUNT];   /* by group                                   */
    struct vv_samples durations[VV_SCOPE_COUNT];  /* of calls, by group; sorted                 */
    int64_t outside_ns[VV_SCOPE_COUNT];
    int64_t covered_ns[VV_SCOPE_COUNT];
    uint64_t async_slices;                        /* ranges left out, as scope.h says           */
};

/* The caller de-initialises *out_tally, also on failure. */
enum varve_code vv_operator_tally(const struct vv_scope *scope, enum vv_grouping by,
                                  struct vv_operator_tally *out_tally, struct varve_error *error);
void vv_operator_tally_deinit(struct vv_operator_tally *tally);

#endif
