/* SPDX-License-Identifier: Apache-2.0 */
/* op_cost.h — the floating-point operations and the bytes that an operator needs, from what it works on: doc/metrics.md §17.
 *
 * What the program said itself (ops.flop, ops.bytes) goes first; else a formula, by the operator's name, over the shapes
 * of its arguments: op_cost.c has the table. Bytes are those of the arguments and the result, each moved once, as if
 * caches were perfect. Thread-compatible. */
#ifndef VV_MEANING_OP_COST_H
#define VV_MEANING_OP_COST_H

#include "model/model.h"

struct vv_op_cost {
    double flop, bytes;
    uint16_t dtype;      /* enum varve_dtype of what it computes with */
    bool is_matrix;      /* units for matrices can do it: products, convolutions, attention */
    bool is_recorded;    /* the program said so */
};

struct vv_costs {
    const struct vv_model *model; /* borrowed */
    uint16_t *by_string;          /* a string -> row of the table + 1; 0 = no formula */
};

/* De-initialise also after a failure. */
enum varve_code vv_costs_init(struct vv_costs *out_costs, const struct vv_model *model, struct varve_error *error);
void vv_costs_deinit(struct vv_costs *costs);

/* False: there is no formula for it, or its shapes were not recorded. */
VV_MUST_USE bool vv_op_cost(const struct vv_costs *costs, uint32_t slice, struct vv_op_cost *out_cost);

#endif
