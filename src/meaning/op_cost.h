/* SPDX-License-Identifier: Apache-2.0 */
/* op_cost.h — estimates the floating-point operations and bytes that an operator needs, from its
 * arguments: doc/metrics.md §17.
 *
 * The program's own numbers (ops.flop, ops.bytes) come first. Otherwise a formula, chosen by the
 * operator's name, works on the shapes of the arguments: op_cost.c has the table. The bytes are
 * those of the arguments and the result, each moved once, as with perfect caches.
 * Thread-compatible. */
#ifndef VV_MEANING_OP_COST_H
#define VV_MEANING_OP_COST_H

#include "model/model.h"

struct vv_op_cost {
    double flop, bytes;
    uint16_t dtype;      /* enum varve_dtype that it computes with */
    bool is_matrix;      /* matrix units can do it: products, convolutions, attention */
    bool is_recorded;    /* these are the program's own numbers */
};

struct vv_costs {
    const struct vv_model *model; /* borrowed */
    uint16_t *by_string;          /* string -> row of the table + 1; 0 = no formula */
};

enum varve_code vv_costs_init(struct vv_costs *out_costs, const struct vv_model *model,
                              struct vv_scratch *scratch, struct varve_error *error);

/* False: the operator has no formula, or its shapes were not recorded. */
VV_MUST_USE bool vv_op_cost(const struct vv_costs *costs, uint32_t slice,
                            struct vv_op_cost *out_cost);

#endif
