/* SPDX-License-Identifier: Apache-2.0 */
/* tracing_cost.h — what it costs a program of Python that each of its calls is recorded
 * (doc/performance.md). Called by tables that say how long Python itself took.
 * Thread-compatible. */
#ifndef VV_DERIVE_SELECT_TRACING_COST_H
#define VV_DERIVE_SELECT_TRACING_COST_H

#include "model/model.h"

struct vv_tracing_cost {
    double call_ns;  /* of a call with its return                                               */
    double slowdown; /* all other code takes so many times as long                              */
};

/* False: the process recorded no calls of Python, or another producer did. */
bool vv_tracing_cost_of(const struct vv_model *model, uint32_t process,
                        struct vv_tracing_cost *out_cost);

/* Of the time in Python, with so many calls, what recording took. */
int64_t vv_tracing_cost_ns(const struct vv_tracing_cost *cost, int64_t python_ns, int64_t calls);

#endif
