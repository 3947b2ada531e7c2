/* SPDX-License-Identifier: Apache-2.0 */
/* op_products.c — the cost of products, convolutions and attention. */
#include <math.h>

#include "meaning/op_formulas.h"
#include "meaning/scalar_arguments.h"

/* at: a, b, the added term (or VV_ABSENT). Costs 2 M N K, and M N more for an added term. */
bool vv_cost_product(const struct vv_call *call, const struct vv_formula *formula,
                     struct vv_op_cost *out)
{
    const struct vv_operand *a = vv_tensor_at(call, formula->at[0], 2),
                            *b = vv_tensor_at(call, formula->at[1], 2);
    const struct vv_operand *added = vv_tensor_at(call, formula->at[2], 1);
    if (a == NULL || b == NULL)
        return false;
    double results = a->elements / (vv_dim(a, 0) > 0 ? vv_dim(a, 0) : 1) * vv_dim(b, 0);
    *out = (struct vv_op_cost){ .dtype = a->dtype, .is_matrix = true };
    out->flop = 2 * results * vv_dim(a, 0) + (added != NULL ? results : 0);
    out->bytes = vv_dtype_bytes(a->dtype) *
                 (a->elements + b->elements + results + (added != NULL ? added->elements : 0));
    return true;
}

/* at: x, weight (out x in), bias (or VV_ABSENT). */
bool vv_cost_linear(const struct vv_call *call, const struct vv_formula *formula,
                    struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, formula->at[0], 1),
                            *w = vv_tensor_at(call, formula->at[1], 2);
    const struct vv_operand *bias = vv_tensor_at(call, formula->at[2], 1);
    if (x == NULL || w == NULL)
        return false;
    double results = x->elements / (vv_dim(x, 0) > 0 ? vv_dim(x, 0) : 1) * vv_dim(w, 1);
    *out = (struct vv_op_cost){ .dtype = x->dtype, .is_matrix = true };
    out->flop = 2 * results * vv_dim(x, 0) + (bias != NULL ? results : 0);
    out->bytes = vv_dtype_bytes(x->dtype) *
                 (x->elements + w->elements + results + (bias != NULL ? bias->elements : 0));
    return true;
}

/* One item of a window's list; a list of one item holds for every dimension. */
static double of_window(const struct vv_call *call, int at, uint32_t d, int64_t standard)
{
    int64_t first = vv_scalar_item(call->scalars, at, 0, standard);
    return (double)vv_scalar_item(call->scalars, at, d, first);
}

/* at: bias, stride, padding, dilation, transposed (or VV_ABSENT). Input and weight come first. Each
 * element of the result costs 2 C/g R S. */
bool vv_cost_convolution(const struct vv_call *call, const struct vv_formula *formula,
                         struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, 0, 3), *w = vv_tensor_at(call, 1, 3);
    const struct vv_operand *bias = vv_tensor_at(call, formula->at[0], 1);
    if (x == NULL || w == NULL || w->rank != x->rank || call->scalars[0] == '\0')
        return false;
    bool is_transposed =
        formula->at[4] != VV_ABSENT && vv_scalar_is(call->scalars, formula->at[4], "True");
    double each = 2 * w->elements / (w->dims[0] > 0 ? (double)w->dims[0] : 1),
           results = (double)x->dims[0];
    results *= is_transposed ? (double)w->dims[1] : (double)w->dims[0];
    for (uint32_t d = 2; d < x->rank; d++) {
        double stride = of_window(call, formula->at[1], d - 2, 1),
               padding = of_window(call, formula->at[2], d - 2, 0);
        double reach = of_window(call, formula->at[3], d - 2, 1) * ((double)w->dims[d] - 1) + 1,
               in = (double)x->dims[d];
        double extra = is_transposed ? of_window(call, formula->at[4] + 1, d - 2, 0) : 0;
        if (stride < 1)
            return false;
        double size = is_transposed ? (in - 1) * stride - 2 * padding + reach + extra
                                    : floor((in + 2 * padding - reach) / stride) + 1;
        results *= size > 0 ? size : 0;
    }
    *out = (struct vv_op_cost){ .dtype = x->dtype, .is_matrix = true };
    out->flop = each * (is_transposed ? x->elements : results) + (bias != NULL ? results : 0);
    out->bytes = vv_dtype_bytes(x->dtype) *
                 (x->elements + w->elements + results + (bias != NULL ? bias->elements : 0));
    return true;
}

/* at: gradient of the result, input, weight, mask of the wanted gradients. Each of the two
 * gradients is a convolution. */
bool vv_cost_convolution_backward(const struct vv_call *call, const struct vv_formula *formula,
                                  struct vv_op_cost *out)
{
    const struct vv_operand *gradient = vv_tensor_at(call, formula->at[0], 3),
                            *x = vv_tensor_at(call, formula->at[1], 3),
                            *w = vv_tensor_at(call, formula->at[2], 3);
    if (gradient == NULL || x == NULL || w == NULL)
        return false;
    bool of_input = vv_scalar_flag(call->scalars, formula->at[3], 0, true);
    bool of_weight = vv_scalar_flag(call->scalars, formula->at[3], 1, true);
    bool of_bias = vv_scalar_flag(call->scalars, formula->at[3], 2, false);
    double each = 2 * w->elements / (w->dims[0] > 0 ? (double)w->dims[0] : 1);
    *out = (struct vv_op_cost){ .dtype = gradient->dtype, .is_matrix = true };
    out->flop =
        (of_input + of_weight) * each * gradient->elements + (of_bias ? gradient->elements : 0);
    out->bytes = vv_dtype_bytes(gradient->dtype) *
                 ((of_input + of_weight) * (gradient->elements + w->elements + x->elements) +
                  (of_bias ? gradient->elements + (double)gradient->dims[1] : 0));
    return true;
}

/* at: query, key, value, causal, 1 = tokens before heads. Costs 2 B H Sq Sk (Dqk + Dv), and half of
 * it if causal; softmax is left out. A backward pass costs 2.5 forward passes, because it computes
 * the scores again. */
bool vv_cost_attention(const struct vv_call *call, const struct vv_formula *formula,
                       struct vv_op_cost *out)
{
    const struct vv_operand *q = vv_tensor_at(call, formula->at[0], 4),
                            *k = vv_tensor_at(call, formula->at[1], 4),
                            *v = vv_tensor_at(call, formula->at[2], 4);
    if (q == NULL || k == NULL || v == NULL)
        return false;
    uint32_t tokens = formula->at[4] == 1 ? 2 : 1, heads = formula->at[4] == 1 ? 1 : 2;
    double rows = (double)q->dims[0] * vv_dim(q, heads) * vv_dim(q, tokens);
    bool is_causal = vv_scalar_is(call->scalars, formula->at[3], "True") &&
                     vv_dim(q, tokens) == vv_dim(k, tokens);
    double result = rows * vv_dim(v, 0), moved = q->elements + k->elements + v->elements + result;
    *out = (struct vv_op_cost){ .dtype = q->dtype, .is_matrix = true };
    out->flop = formula->flop_each * 2 * rows * vv_dim(k, tokens) * (vv_dim(q, 0) + vv_dim(v, 0)) *
                (is_causal ? 0.5 : 1);
    out->bytes = vv_dtype_bytes(q->dtype) *
                 (formula->flop_each > 1 ? moved + q->elements + k->elements + v->elements : moved);
    return true;
}
