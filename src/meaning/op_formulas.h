/* SPDX-License-Identifier: Apache-2.0 */
/* op_formulas.h — the formulas of op_cost.h: each tells from the arguments of one call what an
 * operator of its kind costs, and returns false if the arguments do not tell. doc/metrics.md §17
 * has their definitions. Thread-safe. */
#ifndef VV_MEANING_OP_FORMULAS_H
#define VV_MEANING_OP_FORMULAS_H

#include "meaning/op_cost.h"

#define VV_OPERANDS_MAX 16u

struct vv_operand {
    const int64_t *dims;
    uint32_t rank;
    uint16_t dtype;
    double elements, bytes; /* bytes is 0 if the type is not known                              */
};

struct vv_call {
    struct vv_operand operands[VV_OPERANDS_MAX];
    uint32_t count;
    const char *scalars; /* as in the model; "" = not recorded                                  */
};

struct vv_formula;
typedef bool vv_cost_fn(const struct vv_call *call, const struct vv_formula *formula,
                        struct vv_op_cost *out_cost);

/* at[] has the positions of the arguments in the operator's signature; VV_ABSENT = there is no such
 * argument. */
#define VV_ABSENT (-1)
struct vv_formula {
    const char *name;
    vv_cost_fn *cost;
    int8_t at[5];
    float flop_each; /* for each element, or the number of forward passes                       */
};

double vv_dtype_bytes(uint16_t dtype);

/* A tensor among the operands; NULL for others: numbers and lists of numbers have no dims, and
 * mostly no type. */
static inline const struct vv_operand *vv_tensor_at(const struct vv_call *call, int at,
                                                    uint32_t rank_least)
{
    if (at < 0 || (uint32_t)at >= call->count || call->operands[at].rank < rank_least ||
        call->operands[at].rank == 0)
        return NULL;
    return &call->operands[at];
}

static inline double vv_dim(const struct vv_operand *operand, uint32_t from_last)
{
    int64_t size = operand->dims[operand->rank - 1 - from_last];
    return size > 0 ? (double)size : 0;
}

/* op_products.c: what units for matrices can do. */
vv_cost_fn vv_cost_product, vv_cost_linear, vv_cost_convolution, vv_cost_convolution_backward,
    vv_cost_attention;

/* op_elements.c: what costs a little for each element. */
vv_cost_fn vv_cost_unary, vv_cost_binary, vv_cost_norm, vv_cost_norm_backward, vv_cost_reduction,
    vv_cost_lookup, vv_cost_resize, vv_cost_extreme, vv_cost_rms_norm, vv_cost_rms_norm_backward,
    vv_cost_gated, vv_cost_rotation, vv_cost_store, vv_cost_fill;

#endif
