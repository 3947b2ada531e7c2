/* SPDX-License-Identifier: Apache-2.0 */
/* recording_cost.h — what recording cost the program (doc/performance.md, "What recording PyTorch
 * adds" and "What recording Python adds"). Thread-compatible. */
#ifndef VV_DERIVE_SELECT_RECORDING_COST_H
#define VV_DERIVE_SELECT_RECORDING_COST_H

#include "base/scratch.h"
#include "model/model.h"

struct vv_tracing_cost {
    double call_ns;  /* of a call with its return                                               */
    double slowdown; /* all other code takes so many times as long                              */
};

/* False: the process recorded no calls of Python, or another producer did. */
bool vv_tracing_cost_of(const struct vv_model *model, uint32_t process,
                        struct vv_tracing_cost *out_cost);

/* Calls of Python, and how long the interpreter itself ran in them. */
struct vv_traced_calls {
    int64_t count, interpreted_ns;
};

void vv_traced_calls_add(struct vv_traced_calls *calls, const struct vv_model *model,
                         uint32_t slice);

/* What recording these calls took, of their time. */
int64_t vv_tracing_cost_ns(const struct vv_tracing_cost *cost,
                           const struct vv_traced_calls *calls);

/* Over all threads: the records, as the recorder measured them, and what frameworks take to call
 * the recorder for them. -1: not measured. */
enum varve_code vv_recording_cost(const struct vv_model *model, struct vv_scratch *scratch,
                                  int64_t *out_ns, struct varve_error *error);

#endif
