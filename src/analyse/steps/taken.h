/* SPDX-License-Identifier: Apache-2.0 */
/* taken.h — how long the thread of a step had no processor because others had it, beyond the median
 * step: what makes a step slow and is not the program's. Known where ranges were counted (varve
 * record --metrics). Called by table "steps". Thread-compatible. */
#ifndef VV_ANALYSE_STEPS_TAKEN_H
#define VV_ANALYSE_STEPS_TAKEN_H

#include "derive/operators/counted.h"

/* What the counters say of a step. */
struct vv_taken_step { int64_t off_cpu_ns, for_others, to_wait; bool is_known; };

struct vv_taken {
    struct vv_taken_step *steps; /* by row of the step                                          */
    struct vv_taken_step median; /* each over the chosen steps that are known                   */
};

enum varve_code vv_taken_init(struct vv_taken *out_taken, const struct vv_scope *scope,
                              struct varve_error *error);
/* Of a step that takes `excess_ns` longer than the median one; -1 = not known. If its thread
 * waited, it must have been stopped more often than usual, and as often as it waited more. */
int64_t vv_taken_ns(const struct vv_taken *taken, uint32_t step, int64_t excess_ns);

#endif
