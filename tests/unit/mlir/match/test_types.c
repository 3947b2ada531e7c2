/* SPDX-License-Identifier: Apache-2.0 */
/* Which names of kinds of operations mean the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "mlir/match/types.h"

static struct vv_mlir_kind kind_of(const char *text)
{
    struct vv_mlir_kind kind;
    vv_mlir_kind_of(text, strlen(text), &kind);
    return kind;
}

static void kinds(void **state)
{
    (void)state;
    static const struct { const char *text, *exact, *family; bool is_fused; } cases[] = {
        { "aten::mm", "mm", "matmul", false },
        { "torch.aten.mm", "mm", "matmul", false },
        { "torch.aten.add.Tensor", "add", "add", false },
        { "aten::add_", "add", "add", false },
        { "tf.MatMul", "matmul", "matmul", false },
        { "MatMul", "matmul", "matmul", false },
        { "_FusedMatMul", "matmul", "matmul", true },
        { "FusedConv", "conv", "conv", true },
        { "_MklNativeFusedMatMul", "matmul", "matmul", true },
        { "_MklNativeConv2DBackpropFilterWithBias", "conv2dbackpropfilter", "conv2dbackpropfilter",
          true },
        { "_MklNativePadWithFusedConv2D", "conv2d", "conv", true },
        { "PadV2", "pad", "pad", false },
        { "AddN", "addn", "add", false },
        { "ReadVariableOp", "readvariableop", "identity", false },
        { "tf.Identity", "identity", "identity", false },
        { "_MklTranspose", "transpose", "transpose", false },
        { "tf.BatchMatMulV2", "batchmatmul", "matmul", false },
        { "stablehlo.dot_general", "dotgeneral", "matmul", false },
        { "dot", "dot", "matmul", false },
        { "linalg.matmul", "matmul", "matmul", false },
        { "linalg.conv_2d_nchw_fchw", "conv2dnchwfchw", "conv", false },
        { "AddV2", "add", "add", false },
        { "reduce-window", "reducewindow", "reducewindow", false },
        { "stablehlo.reduce_window", "reducewindow", "reducewindow", false },
        { "exponential", "exponential", "exponential", false },
        { "math.exp", "exp", "exponential", false },
        { "fusion", "", "", false },
        { "custom-call", "", "", false },
        { "func.call", "", "", false },
        { "", "", "", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_mlir_kind kind = kind_of(cases[i].text);
        assert_string_equal(kind.exact, cases[i].exact);
        assert_string_equal(kind.family, cases[i].family);
        assert_int_equal(kind.is_fused, cases[i].is_fused);
    }
}

static void other_kinds_are_other(void **state)
{
    (void)state;
    static const char *const others[] = { "aten::mm", "aten::add", "tf.BiasAdd", "stablehlo.reduce",
                                          "tf.Relu", "aten::softmax", "stablehlo.transpose" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(kind_of(others[i]).family, kind_of(others[j]).family);
}

/* Longer than any kind: cut, never beyond the end. */
static void long_names_are_cut(void **state)
{
    (void)state;
    char text[200];
    memset(text, 'a', sizeof text);
    struct vv_mlir_kind kind;
    vv_mlir_kind_of(text, sizeof text, &kind);
    assert_int_equal(strlen(kind.exact), VV_MLIR_KIND_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(other_kinds_are_other),
        cmocka_unit_test(long_names_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
