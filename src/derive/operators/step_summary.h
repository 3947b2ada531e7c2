/* SPDX-License-Identifier: Apache-2.0 */
/* step_summary.h — figures of the chosen steps' durations, and a sentence that states them.
 *
 * The sentence is the policy of the tables of phases and steps. */
#ifndef VV_DERIVE_OPERATORS_STEP_SUMMARY_H
#define VV_DERIVE_OPERATORS_STEP_SUMMARY_H

#include "derive/select/scope.h"

struct vv_step_summary {
    uint64_t count;
    int64_t total_ns;
    int64_t median_ns, p10_ns, p90_ns, min_ns, max_ns; /* 0 where count is 0                   */
    int64_t longest_step;                              /* index of the first step that takes
                                                          max_ns */
};

enum varve_code vv_step_summary(const struct vv_scope *scope, struct vv_step_summary *out_summary,
                                struct varve_error *error);

/* Sets the policy: "60 steps on train, 2.05 s; median 34.1 ms, p10 …". Without steps it says why,
 * and what to do. */
enum varve_code vv_step_policy(const struct vv_scope *scope, struct vv_sheet *sheet,
                               struct varve_error *error);

#endif
