/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/op_cost.h"

#include <math.h>
#include <string.h>

#include "meaning/scalar_arguments.h"
#include "model/find.h"

#define OPERANDS_MAX 16u

struct operand {
    const int64_t *dims;
    uint32_t rank;
    uint16_t dtype;
    double elements, bytes; /* bytes is 0 if the type is not known                              */
};

struct call {
    struct operand operands[OPERANDS_MAX];
    uint32_t count;
    const char *scalars; /* as in the model; "" = not recorded                                  */
};

struct formula;
typedef bool cost_fn(const struct call *call, const struct formula *formula,
                     struct vv_op_cost *out_cost);

/* at[] has the positions of the arguments in the signature in PyTorch's native_functions.yaml; NONE
 * = there is no such argument. */
#define NONE (-1)
struct formula {
    const char *name;
    cost_fn *cost;
    int8_t at[5];
    float flop_each; /* for each element, or the number of forward passes                       */
};

/* ---- operands ---- */

static double size_of(uint16_t dtype)
{
    static const unsigned char sizes[] = {
        [VARVE_F32] = 4, [VARVE_F64] = 8,  [VARVE_F16] = 2, [VARVE_BF16] = 2, [VARVE_F8E4M3] = 1,
        [VARVE_F8E5M2] = 1,
        [VARVE_I8] = 1,  [VARVE_I16] = 2,  [VARVE_I32] = 4, [VARVE_I64] = 8,  [VARVE_U8] = 1,
            [VARVE_U16] = 2,
        [VARVE_U32] = 4, [VARVE_U64] = 8,  [VARVE_BOOL] = 1, [VARVE_C64] = 8, [VARVE_C128] = 16,
        [VARVE_C32] = 4, [VARVE_QI8] = 1,  [VARVE_QU8] = 1,  [VARVE_QI32] = 4,
        [VARVE_F8E5M2FNUZ] = 1, [VARVE_F8E4M3FNUZ] = 1, [VARVE_F8E8M0] = 1,
    };
    return dtype < sizeof sizes ? sizes[dtype] : 0;
}

static bool is_floating(uint16_t dtype)
{
    return (dtype >= VARVE_F32 && dtype <= VARVE_F8E5M2) ||
           (dtype >= VARVE_C64 && dtype <= VARVE_C32) ||
           (dtype >= VARVE_F8E5M2FNUZ && dtype <= VARVE_F8E8M0);
}

static void read_operand(const struct vv_model *model, uint32_t tensor, struct operand *out)
{
    *out = (struct operand){ .rank = model->tensors.rank[tensor],
                             .dtype = model->tensors.dtype[tensor],
                             .elements = 1 };
    if (out->rank > 0)
        out->dims = model->dims.size + model->tensors.first_dim[tensor];
    for (uint32_t d = 0; d < out->rank; d++)
        out->elements *= out->dims[d] > 0 ? (double)out->dims[d] : 0;
    out->bytes = out->elements * size_of(out->dtype);
}

/* A tensor among the operands; NULL for others: numbers and lists of numbers have no dims, and
 * mostly no type. */
static const struct operand *tensor_at(const struct call *call, int at, uint32_t rank_least)
{
    if (at < 0 || (uint32_t)at >= call->count || call->operands[at].rank < rank_least ||
        call->operands[at].rank == 0)
        return NULL;
    return &call->operands[at];
}

static double dim(const struct operand *operand, uint32_t from_last)
{
    int64_t size = operand->dims[operand->rank - 1 - from_last];
    return size > 0 ? (double)size : 0;
}

/* ---- formulas ---- */

/* at: a, b, the added term (or NONE). Costs 2 M N K, and M N more for an added term. */
static bool cost_product(const struct call *call, const struct formula *formula,
                         struct vv_op_cost *out)
{
    const struct operand *a = tensor_at(call, formula->at[0], 2),
                         *b = tensor_at(call, formula->at[1], 2);
    const struct operand *added = tensor_at(call, formula->at[2], 1);
    if (a == NULL || b == NULL)
        return false;
    double results = a->elements / (dim(a, 0) > 0 ? dim(a, 0) : 1) * dim(b, 0);
    *out = (struct vv_op_cost){ .dtype = a->dtype, .is_matrix = true };
    out->flop = 2 * results * dim(a, 0) + (added != NULL ? results : 0);
    out->bytes = size_of(a->dtype) *
                 (a->elements + b->elements + results + (added != NULL ? added->elements : 0));
    return true;
}

/* at: x, weight (out x in), bias (or NONE). */
static bool cost_linear(const struct call *call, const struct formula *formula,
                        struct vv_op_cost *out)
{
    const struct operand *x = tensor_at(call, formula->at[0], 1),
                         *w = tensor_at(call, formula->at[1], 2);
    const struct operand *bias = tensor_at(call, formula->at[2], 1);
    if (x == NULL || w == NULL)
        return false;
    double results = x->elements / (dim(x, 0) > 0 ? dim(x, 0) : 1) * dim(w, 1);
    *out = (struct vv_op_cost){ .dtype = x->dtype, .is_matrix = true };
    out->flop = 2 * results * dim(x, 0) + (bias != NULL ? results : 0);
    out->bytes = size_of(x->dtype) *
                 (x->elements + w->elements + results + (bias != NULL ? bias->elements : 0));
    return true;
}

/* One item of a window's list; a list of one item holds for every dimension. */
static double of_window(const struct call *call, int at, uint32_t d, int64_t standard)
{
    int64_t first = vv_scalar_item(call->scalars, at, 0, standard);
    return (double)vv_scalar_item(call->scalars, at, d, first);
}

/* at: bias, stride, padding, dilation, transposed (or NONE). Input and weight come first. Each
 * element of the result costs 2 C/g R S. */
static bool cost_convolution(const struct call *call, const struct formula *formula,
                             struct vv_op_cost *out)
{
    const struct operand *x = tensor_at(call, 0, 3), *w = tensor_at(call, 1, 3);
    const struct operand *bias = tensor_at(call, formula->at[0], 1);
    if (x == NULL || w == NULL || w->rank != x->rank || call->scalars[0] == '\0')
        return false;
    bool is_transposed =
        formula->at[4] != NONE && vv_scalar_is(call->scalars, formula->at[4], "True");
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
    out->bytes = size_of(x->dtype) *
                 (x->elements + w->elements + results + (bias != NULL ? bias->elements : 0));
    return true;
}

/* at: gradient of the result, input, weight, mask of the wanted gradients. Each of the two
 * gradients is a convolution. */
static bool cost_convolution_backward(const struct call *call, const struct formula *formula,
                                      struct vv_op_cost *out)
{
    const struct operand *gradient = tensor_at(call, formula->at[0], 3),
                         *x = tensor_at(call, formula->at[1], 3),
                         *w = tensor_at(call, formula->at[2], 3);
    if (gradient == NULL || x == NULL || w == NULL)
        return false;
    bool of_input = vv_scalar_flag(call->scalars, formula->at[3], 0, true);
    bool of_weight = vv_scalar_flag(call->scalars, formula->at[3], 1, true);
    bool of_bias = vv_scalar_flag(call->scalars, formula->at[3], 2, false);
    double each = 2 * w->elements / (w->dims[0] > 0 ? (double)w->dims[0] : 1);
    *out = (struct vv_op_cost){ .dtype = gradient->dtype, .is_matrix = true };
    out->flop =
        (of_input + of_weight) * each * gradient->elements + (of_bias ? gradient->elements : 0);
    out->bytes = size_of(gradient->dtype) *
                 ((of_input + of_weight) * (gradient->elements + w->elements + x->elements) +
                  (of_bias ? gradient->elements + (double)gradient->dims[1] : 0));
    return true;
}

/* at: query, key, value, causal, 1 = tokens before heads. Costs 2 B H Sq Sk (Dqk + Dv), and half of
 * it if causal; softmax is left out. A backward pass costs 2.5 forward passes, because it computes
 * the scores again. */
static bool cost_attention(const struct call *call, const struct formula *formula,
                           struct vv_op_cost *out)
{
    const struct operand *q = tensor_at(call, formula->at[0], 4),
                         *k = tensor_at(call, formula->at[1], 4),
                         *v = tensor_at(call, formula->at[2], 4);
    if (q == NULL || k == NULL || v == NULL)
        return false;
    uint32_t tokens = formula->at[4] == 1 ? 2 : 1, heads = formula->at[4] == 1 ? 1 : 2;
    double rows = (double)q->dims[0] * dim(q, heads) * dim(q, tokens);
    bool is_causal =
        vv_scalar_is(call->scalars, formula->at[3], "True") && dim(q, tokens) == dim(k, tokens);
    double result = rows * dim(v, 0), moved = q->elements + k->elements + v->elements + result;
    *out = (struct vv_op_cost){ .dtype = q->dtype, .is_matrix = true };
    out->flop = formula->flop_each * 2 * rows * dim(k, tokens) * (dim(q, 0) + dim(v, 0)) *
                (is_causal ? 0.5 : 1);
    out->bytes = size_of(q->dtype) *
                 (formula->flop_each > 1 ? moved + q->elements + k->elements + v->elements : moved);
    return true;
}

/* at: position of the result's type, if it is an argument; NONE = the type of the first
 * argument. */
static bool cost_unary(const struct call *call, const struct formula *formula,
                       struct vv_op_cost *out)
{
    const struct operand *x = tensor_at(call, 0, 1), *other = tensor_at(call, formula->at[0], 1);
    if (x == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = is_floating(x->dtype) ? (double)formula->flop_each * x->elements : 0;
    out->bytes = x->bytes + x->elements * size_of(other != NULL ? other->dtype : x->dtype);
    return true;
}

static double broadcast_elements(const struct operand *a, const struct operand *b)
{
    uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    double elements = 1;
    for (uint32_t d = 0; d < rank; d++) {
        double left = d < a->rank ? dim(a, d) : 1, right = d < b->rank ? dim(b, d) : 1;
        elements *= left == 1 ? right : left;
    }
    return elements;
}

/* The second argument may be a number: one element, of the type given. */
static bool cost_binary(const struct call *call, const struct formula *formula,
                        struct vv_op_cost *out)
{
    const struct operand *a = tensor_at(call, 0, 1);
    if (a == NULL || call->count < 2)
        return false;
    const struct operand *b = &call->operands[1];
    double results = broadcast_elements(a, b);
    double size = b->rank > 0 && size_of(b->dtype) > size_of(a->dtype) ? size_of(b->dtype)
                                                                       : size_of(a->dtype);
    *out = (struct vv_op_cost){ .dtype = a->dtype };
    out->flop = is_floating(a->dtype) ? (double)formula->flop_each * results : 0;
    out->bytes = a->bytes + b->bytes + results * size;
    return true;
}

/* at: weight. The number of channels is that of its elements, or the input's second dimension.
 * Counts like TraceLens: 5 operations per element and 6 per channel; and six numbers per channel
 * are moved in addition to the elements. */
static bool cost_norm(const struct call *call, const struct formula *formula,
                      struct vv_op_cost *out)
{
    const struct operand *x = tensor_at(call, 0, 2), *weight = tensor_at(call, formula->at[0], 1);
    if (x == NULL)
        return false;
    double channels = weight != NULL ? weight->elements : (double)x->dims[1];
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = (double)formula->flop_each * x->elements + 6 * channels;
    out->bytes = size_of(x->dtype) * (2 * x->elements + (weight != NULL ? 6 : 4) * channels);
    return true;
}

/* at: input, weight. Reads the gradient and the input; writes the gradients of the input and of the
 * weights. */
static bool cost_norm_backward(const struct call *call, const struct formula *formula,
                               struct vv_op_cost *out)
{
    const struct operand *x = tensor_at(call, formula->at[0], 2),
                         *weight = tensor_at(call, formula->at[1], 1);
    if (x == NULL)
        return false;
    double channels = weight != NULL ? weight->elements : (double)x->dims[1];
    *out = (struct vv_op_cost){ .dtype = x->dtype };
    out->flop = (double)formula->flop_each * x->elements;
    out->bytes = size_of(x->dtype) * (3 * x->elements + 4 * channels);
    return true;
}

/* at: the list of the reduced dimensions. */
static bool cost_reduction(const struct call *call, const struct formula *formula,
                           struct vv_op_cost *out)
{
    const struct operand *x = tensor_at(call, 0, 1);
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
    out->bytes = x->bytes + results * size_of(x->dtype);
    return true;
}

/* at: table, indices. Rows are read and written. */
static bool cost_lookup(const struct call *call, const struct formula *formula,
                        struct vv_op_cost *out)
{
    const struct operand *table = tensor_at(call, formula->at[0], 2),
                         *indices = tensor_at(call, formula->at[1], 1);
    if (table == NULL || indices == NULL)
        return false;
    *out = (struct vv_op_cost){ .dtype = table->dtype };
    out->bytes = indices->bytes + 2 * indices->elements * dim(table, 0) * size_of(table->dtype);
    return true;
}

/* at: the list of the result's sizes. Elements are moved, nothing is computed. */
static bool cost_resize(const struct call *call, const struct formula *formula,
                        struct vv_op_cost *out)
{
    const struct operand *x = tensor_at(call, 0, 3);
    if (x == NULL)
        return false;
    double results = (double)x->dims[0] * (double)x->dims[1];
    for (uint32_t d = 2; d < x->rank; d++)
        results *= (double)vv_scalar_item(call->scalars, formula->at[0], d - 2, 0);
    *out =
        (struct vv_op_cost){ .dtype = x->dtype, .bytes = x->bytes + results * size_of(x->dtype) };
    return results > 0;
}

/* ---- the table ---- */

#define UNARY(name)                                                                                \
    { "aten::" name, cost_unary, { NONE }, 1 },                                                    \
    {                                                                                              \
        "aten::" name "_", cost_unary, { NONE }, 1                                                 \
    }
#define BINARY(name)                                                                               \
    { "aten::" name, cost_binary, { 0 }, 1 },                                                      \
    {                                                                                              \
        "aten::" name "_", cost_binary, { 0 }, 1                                                   \
    }

/* Operators that only call one of these are not listed: the outermost operator with a formula
 * counts. */
static const struct formula formulas[] = {
    { "aten::mm", cost_product, { 0, 1, NONE }, 1 },
    { "aten::bmm", cost_product, { 0, 1, NONE }, 1 },
    { "aten::addmm", cost_product, { 1, 2, 0 }, 1 },
    { "aten::addmm_", cost_product, { 1, 2, 0 }, 1 },
    { "aten::_addmm_activation", cost_product, { 1, 2, 0 }, 1 },
    { "aten::baddbmm", cost_product, { 1, 2, 0 }, 1 },
    { "aten::baddbmm_", cost_product, { 1, 2, 0 }, 1 },
    { "aten::_scaled_mm", cost_product, { 0, 1, NONE }, 1 },
    { "aten::_int_mm", cost_product, { 0, 1, NONE }, 1 },
    { "MatMul", cost_product, { 0, 1, NONE }, 1 },
    { "aten::mkldnn_linear", cost_linear, { 0, 1, 2 }, 1 },
    { "aten::_mkl_linear", cost_linear, { 0, 1, 3 }, 1 },
    { "mkl::_mkl_linear", cost_linear, { 0, 1, 3 }, 1 },
    { "mkldnn::_linear_pointwise", cost_linear, { 0, 1, 2 }, 1 },
    { "aten::convolution", cost_convolution, { 2, 3, 4, 5, 6 }, 1 },
    { "aten::_convolution", cost_convolution, { 2, 3, 4, 5, 6 }, 1 },
    { "aten::convolution_overrideable", cost_convolution, { 2, 3, 4, 5, 6 }, 1 },
    { "aten::cudnn_convolution", cost_convolution, { NONE, 3, 2, 4, NONE }, 1 },
    { "aten::mkldnn_convolution", cost_convolution, { 2, 4, 3, 5, NONE }, 1 },
    { "aten::miopen_convolution", cost_convolution, { 2, 4, 3, 5, NONE }, 1 },
    { "aten::convolution_backward", cost_convolution_backward, { 0, 1, 2, 10 }, 1 },
    { "aten::convolution_backward_overrideable", cost_convolution_backward, { 0, 1, 2, 9 }, 1 },
    { "aten::_scaled_dot_product_flash_attention", cost_attention, { 0, 1, 2, 4, 0 }, 1 },
    { "aten::_scaled_dot_product_flash_attention_for_cpu", cost_attention, { 0, 1, 2, 4, 0 }, 1 },
    { "aten::_scaled_dot_product_efficient_attention", cost_attention, { 0, 1, 2, 6, 0 }, 1 },
    { "aten::_scaled_dot_product_cudnn_attention", cost_attention, { 0, 1, 2, 6, 0 }, 1 },
    { "flash_attn::_flash_attn_forward", cost_attention, { 0, 1, 2, 5, 1 }, 1 },
    { "aten::_scaled_dot_product_flash_attention_backward", cost_attention, { 1, 2, 3, 11, 0 },
      2.5F },
    { "aten::_scaled_dot_product_efficient_attention_backward", cost_attention, { 1, 2, 3, 11, 0 },
      2.5F },
    { "aten::_scaled_dot_product_cudnn_attention_backward", cost_attention, { 1, 2, 3, 14, 0 },
      2.5F },
    { "aten::layer_norm", cost_norm, { 2 }, 5 },
    { "aten::native_layer_norm", cost_norm, { 2 }, 5 },
    { "aten::batch_norm", cost_norm, { 1 }, 5 },
    { "aten::native_batch_norm", cost_norm, { 1 }, 5 },
    { "aten::cudnn_batch_norm", cost_norm, { 1 }, 5 },
    { "aten::miopen_batch_norm", cost_norm, { 1 }, 5 },
    { "aten::group_norm", cost_norm, { 2 }, 5 },
    { "aten::native_group_norm", cost_norm, { 1 }, 5 },
    { "aten::native_layer_norm_backward", cost_norm_backward, { 1, 5 }, 9 },
    { "aten::native_batch_norm_backward", cost_norm_backward, { 1, 2 }, 9 },
    { "aten::cudnn_batch_norm_backward", cost_norm_backward, { 0, 2 }, 9 },
    { "aten::miopen_batch_norm_backward", cost_norm_backward, { 0, 2 }, 9 },
    { "aten::native_group_norm_backward", cost_norm_backward, { 1, 4 }, 9 },
    { "aten::_softmax", cost_unary, { NONE }, 5 },
    { "aten::_log_softmax", cost_unary, { NONE }, 5 },
    { "aten::_softmax_backward_data", cost_binary, { 0 }, 4 },
    { "aten::_log_softmax_backward_data", cost_binary, { 0 }, 4 },
    { "aten::copy_", cost_unary, { 1 }, 0 },
    { "aten::embedding", cost_lookup, { 0, 1 }, 0 },
    { "aten::upsample_nearest1d", cost_resize, { 1 }, 0 },
    { "aten::upsample_nearest2d", cost_resize, { 1 }, 0 },
    { "aten::upsample_nearest3d", cost_resize, { 1 }, 0 },
    { "aten::sum", cost_reduction, { 1 }, 1 },
    { "aten::mean", cost_reduction, { 1 }, 1 },
    { "aten::amax", cost_reduction, { 1 }, 1 },
    { "aten::amin", cost_reduction, { 1 }, 1 },
    UNARY("relu"), UNARY("gelu"), UNARY("silu"), UNARY("sigmoid"), UNARY("tanh"), UNARY("exp"),
    UNARY("log"),
    UNARY("sqrt"), UNARY("rsqrt"), UNARY("neg"), UNARY("abs"), UNARY("reciprocal"),
    UNARY("clamp_min"),
    UNARY("clamp_max"), UNARY("clamp"), UNARY("pow"), UNARY("sin"), UNARY("cos"), UNARY("erf"),
    UNARY("hardtanh"),
    BINARY("add"), BINARY("sub"), BINARY("mul"), BINARY("div"), BINARY("maximum"),
    BINARY("minimum"),
    BINARY("threshold_backward"), BINARY("gelu_backward"), BINARY("sigmoid_backward"),
    BINARY("tanh_backward"),
    BINARY("silu_backward"),
};
#define FORMULA_COUNT (sizeof formulas / sizeof *formulas)

enum varve_code vv_costs_init(struct vv_costs *out_costs, const struct vv_model *model,
                              struct vv_scratch *scratch, struct varve_error *error)
{
    *out_costs = (struct vv_costs){ .model = model };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_costs->by_string, model->strings.count, error));
    for (size_t i = 0; i < FORMULA_COUNT; i++) {
        uint32_t id = vv_intern_find(&model->strings, formulas[i].name, strlen(formulas[i].name));
        if (id != UINT32_MAX)
            out_costs->by_string[id] = (uint16_t)(i + 1);
    }
    return VARVE_OK;
}

static bool say_recorded(const struct vv_model *model, uint32_t op, struct vv_op_cost *out)
{
    uint32_t tensor = model->ops.first_tensor[op];
    *out = (struct vv_op_cost){ .flop = (double)model->ops.flop[op],
                                .bytes = (double)model->ops.bytes[op],
                                .is_matrix = true,
                                .is_recorded = true };
    if (tensor != VV_NONE && model->ops.tensor_count[op] > 0)
        out->dtype = model->tensors.dtype[tensor];
    return true;
}

bool vv_op_cost(const struct vv_costs *costs, uint32_t slice, struct vv_op_cost *out_cost)
{
    const struct vv_model *model = costs->model;
    uint32_t op = model->slices.op[slice], row = costs->by_string[model->slices.name[slice]];
    if (op == VV_NONE)
        return false;
    if (model->ops.flop[op] > 0 || model->ops.bytes[op] > 0)
        return say_recorded(model, op, out_cost);
    if (row == 0 || model->ops.first_tensor[op] == VV_NONE)
        return false;
    struct call call = { .scalars = vv_text_of(model, model->ops.scalars[op]) };
    call.count =
        model->ops.tensor_count[op] < OPERANDS_MAX ? model->ops.tensor_count[op] : OPERANDS_MAX;
    for (uint32_t i = 0; i < call.count; i++)
        read_operand(model, model->ops.first_tensor[op] + i, &call.operands[i]);
    return formulas[row - 1].cost(&call, &formulas[row - 1], out_cost);
}
