/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/op_cost.h"

#include <string.h>

#include "meaning/op_formulas.h"
#include "model/find.h"

/* ---- operands ---- */

static void read_operand(const struct vv_model *model, uint32_t tensor, struct vv_operand *out)
{
    *out = (struct vv_operand){ .rank = model->tensors.rank[tensor],
                             .dtype = model->tensors.dtype[tensor],
                             .elements = 1 };
    if (out->rank > 0)
        out->dims = model->dims.size + model->tensors.first_dim[tensor];
    for (uint32_t d = 0; d < out->rank; d++)
        out->elements *= out->dims[d] > 0 ? (double)out->dims[d] : 0;
    out->bytes = out->elements * vv_dtype_bytes(out->dtype);
}

/* ---- the table ---- */

#define UNARY(name)                                                                                \
    { "aten::" name, vv_cost_unary, { VV_ABSENT }, 1 },                                            \
    {                                                                                              \
        "aten::" name "_", vv_cost_unary, { VV_ABSENT }, 1                                         \
    }
#define BINARY(name)                                                                               \
    { "aten::" name, vv_cost_binary, { 0 }, 1 },                                                   \
    {                                                                                              \
        "aten::" name "_", vv_cost_binary, { 0 }, 1                                                \
    }

/* Operators that only call one of these are not listed: the outermost operator with a formula
 * counts. */
static const struct vv_formula formulas[] = {
    { "aten::mm", vv_cost_product, { 0, 1, VV_ABSENT }, 1 },
    { "aten::bmm", vv_cost_product, { 0, 1, VV_ABSENT }, 1 },
    { "aten::addmm", vv_cost_product, { 1, 2, 0 }, 1 },
    { "aten::addmm_", vv_cost_product, { 1, 2, 0 }, 1 },
    { "aten::_addmm_activation", vv_cost_product, { 1, 2, 0 }, 1 },
    { "aten::baddbmm", vv_cost_product, { 1, 2, 0 }, 1 },
    { "aten::baddbmm_", vv_cost_product, { 1, 2, 0 }, 1 },
    { "aten::_scaled_mm", vv_cost_product, { 0, 1, VV_ABSENT }, 1 },
    { "aten::_int_mm", vv_cost_product, { 0, 1, VV_ABSENT }, 1 },
    { "MatMul", vv_cost_product, { 0, 1, VV_ABSENT }, 1 },
    { "aten::mkldnn_linear", vv_cost_linear, { 0, 1, 2 }, 1 },
    { "aten::_mkl_linear", vv_cost_linear, { 0, 1, 3 }, 1 },
    { "mkl::_mkl_linear", vv_cost_linear, { 0, 1, 3 }, 1 },
    { "mkldnn::_linear_pointwise", vv_cost_linear, { 0, 1, 2 }, 1 },
    { "aten::convolution", vv_cost_convolution, { 2, 3, 4, 5, 6 }, 1 },
    { "aten::_convolution", vv_cost_convolution, { 2, 3, 4, 5, 6 }, 1 },
    { "aten::convolution_overrideable", vv_cost_convolution, { 2, 3, 4, 5, 6 }, 1 },
    { "aten::cudnn_convolution", vv_cost_convolution, { VV_ABSENT, 3, 2, 4, VV_ABSENT }, 1 },
    { "aten::mkldnn_convolution", vv_cost_convolution, { 2, 4, 3, 5, VV_ABSENT }, 1 },
    { "aten::miopen_convolution", vv_cost_convolution, { 2, 4, 3, 5, VV_ABSENT }, 1 },
    { "aten::convolution_backward", vv_cost_convolution_backward, { 0, 1, 2, 10 }, 1 },
    { "aten::convolution_backward_overrideable", vv_cost_convolution_backward, { 0, 1, 2, 9 }, 1 },
    { "aten::_scaled_dot_product_flash_attention", vv_cost_attention, { 0, 1, 2, 4, 0 }, 1 },
    { "aten::_scaled_dot_product_flash_attention_for_cpu", vv_cost_attention, { 0, 1, 2, 4, 0 },
      1 },
    { "aten::_scaled_dot_product_efficient_attention", vv_cost_attention, { 0, 1, 2, 6, 0 }, 1 },
    { "aten::_scaled_dot_product_cudnn_attention", vv_cost_attention, { 0, 1, 2, 6, 0 }, 1 },
    { "flash_attn::_flash_attn_forward", vv_cost_attention, { 0, 1, 2, 5, 1 }, 1 },
    { "aiter::_flash_attn_forward", vv_cost_attention, { 0, 1, 2, 5, 1 }, 1 },
    { "aiter::wrapper_fmha_v3_fwd", vv_cost_attention, { 0, 1, 2, 5, 1 }, 1 },
    { "aiter::fmha_v3_fwd", vv_cost_attention, { 0, 1, 2, 5, 1 }, 1 },
    { "aiter::mha_fwd", vv_cost_attention, { 0, 1, 2, 5, 1 }, 1 },
    { "aten::_scaled_dot_product_flash_attention_backward", vv_cost_attention, { 1, 2, 3, 11, 0 },
      2.5F },
    { "aten::_scaled_dot_product_efficient_attention_backward", vv_cost_attention,
      { 1, 2, 3, 11, 0 }, 2.5F },
    { "aten::_scaled_dot_product_cudnn_attention_backward", vv_cost_attention, { 1, 2, 3, 14, 0 },
      2.5F },
    { "aten::layer_norm", vv_cost_norm, { 2, 1 }, 5 },
    { "aten::native_layer_norm", vv_cost_norm, { 2, 1 }, 5 },
    { "aten::batch_norm", vv_cost_norm, { 1, VV_ABSENT }, 5 },
    { "aten::native_batch_norm", vv_cost_norm, { 1, VV_ABSENT }, 5 },
    { "aten::cudnn_batch_norm", vv_cost_norm, { 1, VV_ABSENT }, 5 },
    { "aten::miopen_batch_norm", vv_cost_norm, { 1, VV_ABSENT }, 5 },
    { "aten::group_norm", vv_cost_norm, { 2, VV_ABSENT }, 5 },
    { "aten::native_group_norm", vv_cost_norm, { 1, VV_ABSENT }, 5 },
    { "aten::instance_norm", vv_cost_norm, { 1, VV_ABSENT }, 5 },
    { "aten::rms_norm", vv_cost_rms_norm, { 0, 2, VV_ABSENT, 1 }, 1 },
    { "aten::_fused_rms_norm", vv_cost_rms_norm, { 0, 2, VV_ABSENT, 1 }, 1 },
    { "_C::rms_norm", vv_cost_rms_norm, { 1, 2, VV_ABSENT, VV_ABSENT }, 1 },
    { "_C::fused_add_rms_norm", vv_cost_rms_norm, { 0, 2, 1, VV_ABSENT }, 1 },
    { "sgl_kernel::rmsnorm", vv_cost_rms_norm, { 1, 2, VV_ABSENT, VV_ABSENT }, 1 },
    { "sgl_kernel::fused_add_rmsnorm", vv_cost_rms_norm, { 0, 2, 1, VV_ABSENT }, 1 },
    { "aiter::rms_norm", vv_cost_rms_norm, { 0, 1, VV_ABSENT, VV_ABSENT }, 1 },
    { "aiter::rmsnorm", vv_cost_rms_norm, { 1, 2, VV_ABSENT, VV_ABSENT }, 1 },
    { "aiter::add_rmsnorm", vv_cost_rms_norm, { 1, 4, 2, VV_ABSENT }, 1 },
    { "aten::_fused_rms_norm_backward", vv_cost_rms_norm_backward, { 1, 4, 5 }, 1 },
    { "aiter::_groupnorm_run", vv_cost_norm, { 2, VV_ABSENT }, 5 },
    { "aten::native_layer_norm_backward", vv_cost_norm_backward, { 1, 5, 2 }, 9 },
    { "aten::native_batch_norm_backward", vv_cost_norm_backward, { 1, 2, VV_ABSENT }, 9 },
    { "aten::cudnn_batch_norm_backward", vv_cost_norm_backward, { 0, 2, VV_ABSENT }, 9 },
    { "aten::miopen_batch_norm_backward", vv_cost_norm_backward, { 0, 2, VV_ABSENT }, 9 },
    { "aten::native_group_norm_backward", vv_cost_norm_backward, { 1, 4, VV_ABSENT }, 9 },
    { "aten::_softmax", vv_cost_unary, { VV_ABSENT }, 5 },
    { "aten::_log_softmax", vv_cost_unary, { VV_ABSENT }, 5 },
    { "aten::_softmax_backward_data", vv_cost_binary, { 0 }, 4 },
    { "aten::_log_softmax_backward_data", vv_cost_binary, { 0 }, 4 },
    { "aten::copy_", vv_cost_unary, { 1 }, 0 },
    { "aten::embedding", vv_cost_lookup, { 0, 1 }, 0 },
    { "aten::upsample_nearest1d", vv_cost_resize, { 1 }, 0 },
    { "aten::upsample_nearest2d", vv_cost_resize, { 1 }, 0 },
    { "aten::upsample_nearest3d", vv_cost_resize, { 1 }, 0 },
    { "_C_cache_ops::reshape_and_cache", vv_cost_store, { 0, 1, 4 }, 0 },
    { "_C_cache_ops::reshape_and_cache_flash", vv_cost_store, { 0, 1, 4 }, 0 },
    { "sglang::store_cache", vv_cost_store, { 0, 1, 4 }, 0 },
    { "aten::fill_", vv_cost_fill, { 0 }, 0 },
    { "aten::zero_", vv_cost_fill, { 0 }, 0 },
    { "_C::silu_and_mul", vv_cost_gated, { 1 }, 2 },
    { "_C::mul_and_silu", vv_cost_gated, { 1 }, 2 },
    { "_C::gelu_and_mul", vv_cost_gated, { 1 }, 2 },
    { "_C::gelu_tanh_and_mul", vv_cost_gated, { 1 }, 2 },
    { "sgl_kernel::silu_and_mul", vv_cost_gated, { 1 }, 2 },
    { "sgl_kernel::gelu_and_mul", vv_cost_gated, { 1 }, 2 },
    { "sgl_kernel::gelu_tanh_and_mul", vv_cost_gated, { 1 }, 2 },
    { "aiter::silu_and_mul", vv_cost_gated, { 1 }, 2 },
    { "aiter::gelu_and_mul", vv_cost_gated, { 1 }, 2 },
    { "_C::rotary_embedding", vv_cost_rotation, { 1, 2, 0, 4 }, 3 },
    { "sgl_kernel::rotary_embedding", vv_cost_rotation, { 1, 2, 0, 4 }, 3 },
    { "aten::linalg_vector_norm", vv_cost_reduction, { 2 }, 2 },
    { "aten::norm", vv_cost_reduction, { 2 }, 2 },
    { "aten::prod", vv_cost_reduction, { 1 }, 1 },
    { "aten::cumsum", vv_cost_unary, { VV_ABSENT }, 1 },
    { "aten::cumprod", vv_cost_unary, { VV_ABSENT }, 1 },
    { "aten::max", vv_cost_extreme, { 1 }, 1 },
    { "aten::min", vv_cost_extreme, { 1 }, 1 },
    { "aten::argmax", vv_cost_extreme, { 1, 1 }, 1 },
    { "aten::argmin", vv_cost_extreme, { 1, 1 }, 1 },
    { "aten::sum", vv_cost_reduction, { 1 }, 1 },
    { "aten::mean", vv_cost_reduction, { 1 }, 1 },
    { "aten::amax", vv_cost_reduction, { 1 }, 1 },
    { "aten::amin", vv_cost_reduction, { 1 }, 1 },
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
    struct vv_call call = { .scalars = vv_text_of(model, model->ops.scalars[op]) };
    uint32_t count = model->ops.tensor_count[op];
    call.count = count < VV_OPERANDS_MAX ? count : VV_OPERANDS_MAX;
    for (uint32_t i = 0; i < call.count; i++)
        read_operand(model, model->ops.first_tensor[op] + i, &call.operands[i]);
    return formulas[row - 1].cost(&call, &formulas[row - 1], out_cost);
}
