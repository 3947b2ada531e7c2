/* SPDX-License-Identifier: Apache-2.0 */
/* op_elements.c — the cost of elementwise operators, norms and reductions, and of what only moves
 * elements. */
#include "meaning/op_formulas.h"
#include "meaning/scalar_arguments.h"
#include "varve/varve.h"

double vv_dtype_bytes(uint16_t dtype)
{
    static const unsigned char sizes[] = {
        [VARVE_F32] = 4,    [VARVE_F64] = 8,        [VARVE_F16] = 2,        [VARVE_BF16] = 2,
        [VARVE_F8E4M3] = 1, [VARVE_F8E5M2] = 1,     [VARVE_I8] = 1,         [VARVE_I16] = 2,
        [VARVE_I32] = 4,    [VARVE_I64] = 8,        [VARVE_U8] = 1,         [VARVE_U16] = 2,
        [VARVE_U32] = 4,    [VARVE_U64] = 8,        [VARVE_BOOL] = 1,       [VARVE_C64] = 8,
        [VARVE_C128] = 16,  [VARVE_C32] = 4,        [VARVE_QI8] = 1,        [VARVE_QU8] = 1,
        [VARVE_QI32] = 4,   [VARVE_F8E5M2FNUZ] = 1, [VARVE_F8E4M3FNUZ] = 1, [VARVE_F8E8M0] = 1,
    };
    return dtype < sizeof sizes ? sizes[dtype] : 0;
}

static bool is_floating(uint16_t dtype)
{
    return (dtype >= VARVE_F32 && dtype <= VARVE_F8E5M2) ||
           (dtype >= VARVE_C64 && dtype <= VARVE_C32) ||
           (dtype >= VARVE_F8E5M2FNUZ && dtype <= VARVE_F8E8M0);
}

/* at: position of the result's type, if it is an argument; VV_ABSENT = the type of the first
 * argument. */
bool vv_cost_unary(const struct vv_call *call, const struct vv_formula *formula,
                   struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, 0, 1),
                            *other = vv_tensor_at(call, formula->at[0], 1);
    if (x == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = is_floating(x->dtype) ? (double)formula->flop_each * x->elements : 0;
    out->bytes = x->bytes + x->elements * vv_dtype_bytes(other != NULL ? other->dtype : x->dtype);
    return true;
}

static double broadcast_elements(const struct vv_operand *a, const struct vv_operand *b)
{
    uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    double elements = 1;
    for (uint32_t d = 0; d < rank; d++) {
        double left = d < a->rank ? vv_dim(a, d) : 1, right = d < b->rank ? vv_dim(b, d) : 1;
        elements *= left == 1 ? right : left;
    }
    return elements;
}

/* The second argument may be a number: one element, of the type given. */
bool vv_cost_binary(const struct vv_call *call, const struct vv_formula *formula,
                    struct vv_op_cost *out)
{
    const struct vv_operand *a = vv_tensor_at(call, 0, 1);
    if (a == NULL || call->count < 2)
        return false;
    const struct vv_operand *b = &call->operands[1];
    double results = broadcast_elements(a, b);
    double size = b->rank > 0 && vv_dtype_bytes(b->dtype) > vv_dtype_bytes(a->dtype)
                      ? vv_dtype_bytes(b->dtype)
                      : vv_dtype_bytes(a->dtype);
    *out = (struct vv_op_cost){ .dtype = a->dtype };
    out->flop = is_floating(a->dtype) ? (double)formula->flop_each * results : 0;
    out->bytes = a->bytes + b->bytes + results * size;
    return true;
}

/* How many channels a norm has: the elements of its weight; without one, those of the normalised
 * shape, argument `at`; without such an argument, the input's second dimension. */
static double channels_of(const struct vv_call *call, const struct vv_operand *x,
                          const struct vv_operand *weight, int at)
{
    double channels = 1;
    if (weight != NULL)
        return weight->elements;
    if (at == VV_ABSENT || vv_scalar_item(call->scalars, at, 0, 0) <= 0)
        return vv_dim(x, x->rank - 2);
    for (uint32_t d = 0; d < x->rank; d++)
        channels *= (double)vv_scalar_item(call->scalars, at, d, 1);
    return channels;
}

/* at: weight, the normalised shape (or VV_ABSENT). 5 operations an element and 6 a channel; 6
 * numbers a channel are moved beside the elements, 4 without weights. */
bool vv_cost_norm(const struct vv_call *call, const struct vv_formula *formula,
                  struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, 0, 2),
                            *weight = vv_tensor_at(call, formula->at[0], 1);
    if (x == NULL)
        return false;
    double channels = channels_of(call, x, weight, formula->at[1]);
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = (double)formula->flop_each * x->elements + 6 * channels;
    out->bytes = vv_dtype_bytes(x->dtype) * (2 * x->elements + (weight != NULL ? 6 : 4) * channels);
    return true;
}

/* at: input, weight, the normalised shape (or VV_ABSENT). Reads the gradient and the input, writes
 * the gradient of the input; 4 numbers a channel are moved beside them, 2 without weights. */
bool vv_cost_norm_backward(const struct vv_call *call, const struct vv_formula *formula,
                           struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, formula->at[0], 2),
                            *weight = vv_tensor_at(call, formula->at[1], 1);
    if (x == NULL)
        return false;
    double channels = channels_of(call, x, weight, formula->at[2]);
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = (double)formula->flop_each * x->elements;
    out->bytes =
        vv_dtype_bytes(x->dtype) * (3 * x->elements + (weight != NULL ? 4 : 2) * channels);
    return true;
}

/* at: the list of the reduced dimensions. */
bool vv_cost_reduction(const struct vv_call *call, const struct vv_formula *formula,
                       struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, 0, 1);
    if (x == NULL)
        return false;
    double results = 1;
    uint32_t named = 0;
    for (int64_t d; named < x->rank && (d = vv_scalar_item(call->scalars, formula->at[0], named,
                                                           INT64_MIN)) != INT64_MIN;
         named++) {
        d = d < 0 ? d + x->rank : d;
        if (named == 0)
            results = x->elements;
        if (d >= 0 && d < (int64_t)x->rank && x->dims[d] > 0)
            results /= (double)x->dims[d];
    }
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = is_floating(x->dtype) ? (double)formula->flop_each * x->elements : 0;
    out->bytes = x->bytes + results * vv_dtype_bytes(x->dtype);
    return true;
}

/* aten::max and its kind have three forms: of all elements, of a dimension (with the indices beside
 * the values), and of two tensors. at: dimension or second tensor; 1 = indices alone. */
bool vv_cost_extreme(const struct vv_call *call, const struct vv_formula *formula,
                     struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, 0, 1);
    if (x == NULL)
        return false;
    if (vv_tensor_at(call, formula->at[0], 1) != NULL)
        return vv_cost_binary(call, formula, out);
    int64_t d = vv_scalar_number(call->scalars, formula->at[0], INT64_MIN);
    bool has_dimension = d != INT64_MIN;
    d = d < 0 && has_dimension ? d + x->rank : d;
    if (has_dimension && (d < 0 || d >= (int64_t)x->rank))
        return false;
    double results = has_dimension ? x->elements / (x->dims[d] > 0 ? (double)x->dims[d] : 1) : 1;
    bool has_indices = has_dimension || formula->at[1] == 1, has_values = formula->at[1] != 1;
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = is_floating(x->dtype) ? (double)formula->flop_each * x->elements : 0;
    out->bytes = x->bytes + results * (has_values * vv_dtype_bytes(x->dtype) +
                                       has_indices * vv_dtype_bytes(VARVE_I64));
    return true;
}

/* at: input, weight, what is added to the input first, the normalised shape (each but the first may
 * be absent). Squares and their sum are 2 operations an element, the scale 1, the weight 1, a sum
 * before it 1; root and quotient 2 a row. A sum is read and written. */
bool vv_cost_rms_norm(const struct vv_call *call, const struct vv_formula *formula,
                      struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, formula->at[0], 1),
                            *weight = vv_tensor_at(call, formula->at[1], 1),
                            *added = vv_tensor_at(call, formula->at[2], 1);
    if (x == NULL)
        return false;
    double row = weight != NULL ? weight->elements : 1;
    for (uint32_t d = 0; weight == NULL && formula->at[3] != VV_ABSENT && d < x->rank; d++)
        row *= (double)vv_scalar_item(call->scalars, formula->at[3], d, 1);
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = (3.0 + (weight != NULL) + (added != NULL)) * x->elements +
                (row > 0 ? 2 * x->elements / row : 0);
    out->bytes = (2 + 2 * (added != NULL)) * x->bytes + (weight != NULL ? weight->bytes : 0);
    return true;
}

/* at: input, weight, mask of the wanted gradients. 1 operation an element for the normalised input,
 * 6 for its gradient, 1 for the weight, 2 for the weight's gradient. Reads the gradient and the
 * input, writes the input's gradient; reads the weight, writes its gradient. */
bool vv_cost_rms_norm_backward(const struct vv_call *call, const struct vv_formula *formula,
                               struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, formula->at[0], 1),
                            *weight = vv_tensor_at(call, formula->at[1], 1);
    if (x == NULL)
        return false;
    bool of_input = vv_scalar_flag(call->scalars, formula->at[2], 0, true);
    bool of_weight = weight != NULL && vv_scalar_flag(call->scalars, formula->at[2], 1, true);
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = (1.0 + 6 * of_input + (weight != NULL) + 2 * of_weight) * x->elements;
    out->bytes = (2 + of_input) * x->bytes + (weight != NULL ? (1 + of_weight) * weight->bytes : 0);
    return true;
}

/* at: input. One half of each row is activated and multiplied by the other half. */
bool vv_cost_gated(const struct vv_call *call, const struct vv_formula *formula,
                   struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, formula->at[0], 1);
    if (x == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = (double)formula->flop_each * x->elements / 2;
    out->bytes = 1.5 * x->bytes;
    return true;
}

/* at: query, key (may be absent), positions, cosines and sines. Query and key are rotated in place:
 * two products and a sum an element. A row of the cosines and sines is read for each position. */
bool vv_cost_rotation(const struct vv_call *call, const struct vv_formula *formula,
                      struct vv_op_cost *out)
{
    const struct vv_operand *query = vv_tensor_at(call, formula->at[0], 1),
                            *key = vv_tensor_at(call, formula->at[1], 1),
                            *positions = vv_tensor_at(call, formula->at[2], 1),
                            *table = vv_tensor_at(call, formula->at[3], 2);
    if (query == NULL || positions == NULL || table == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = query->dtype };
    out->flop = (double)formula->flop_each * (query->elements + (key != NULL ? key->elements : 0));
    out->bytes = 2 * (query->bytes + (key != NULL ? key->bytes : 0)) + positions->bytes +
                 positions->elements * vv_dim(table, 0) * vv_dtype_bytes(table->dtype);
    return true;
}

/* at: keys, values, their places. They are read and written into a cache. */
bool vv_cost_store(const struct vv_call *call, const struct vv_formula *formula,
                   struct vv_op_cost *out)
{
    const struct vv_operand *keys = vv_tensor_at(call, formula->at[0], 1),
                            *values = vv_tensor_at(call, formula->at[1], 1),
                            *places = vv_tensor_at(call, formula->at[2], 1);
    if (keys == NULL || values == NULL || places == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = keys->dtype,
                                .bytes = 2 * (keys->bytes + values->bytes) + places->bytes };
    return true;
}

/* at: what is written. */
bool vv_cost_fill(const struct vv_call *call, const struct vv_formula *formula,
                  struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, formula->at[0], 1);
    if (x == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = x->dtype, .bytes = x->bytes };
    return true;
}

/* at: table, indices. Rows are read and written. */
bool vv_cost_lookup(const struct vv_call *call, const struct vv_formula *formula,
                    struct vv_op_cost *out)
{
    const struct vv_operand *table = vv_tensor_at(call, formula->at[0], 2),
                            *indices = vv_tensor_at(call, formula->at[1], 1);
    if (table == NULL || indices == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = table->dtype };
    out->bytes =
        indices->bytes + 2 * indices->elements * vv_dim(table, 0) * vv_dtype_bytes(table->dtype);
    return true;
}

/* at: the list of the result's sizes. Elements are moved, nothing is computed. */
bool vv_cost_resize(const struct vv_call *call, const struct vv_formula *formula,
                    struct vv_op_cost *out)
{
    const struct vv_operand *x = vv_tensor_at(call, 0, 3);
    if (x == NULL)
        return false;
    double results = (double)x->dims[0] * (double)x->dims[1];
    for (uint32_t d = 2; d < x->rank; d++)
        results *= (double)vv_scalar_item(call->scalars, formula->at[0], d - 2, 0);
    *out = (struct vv_op_cost){ .dtype = x->dtype,
                                .bytes = x->bytes + results * vv_dtype_bytes(x->dtype) };
    return results > 0;
}
