/* SPDX-License-Identifier: Apache-2.0 */
/* Levels by tag, key and name: modules as their producers write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mlir_matched.h"

/* 0 func, 1 Conv2D, 2 BiasAdd, 3 Relu, 4 residual Conv2D, 5 BiasAdd, 6 AddV2, 7 mul, 8 return */
static const char tensorflow[] =
    "func.func @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {\n"
    "  %0 = \"tf.Conv2D\"(%arg0) : (tensor<1xf32>) -> tensor<1xf32> loc(fused[\"Conv2D:\","
    " callsite(\"a/Conv2D\"(\"m.py\":1:1) at callsite(\"main\"(\"m.py\":2:1) at \"m.py\":3:1))])\n"
    "  %1 = \"tf.BiasAdd\"(%0, %arg0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>"
    " loc(\"a/BiasAdd\")\n"
    "  %2 = \"tf.Relu\"(%1) : (tensor<1xf32>) -> tensor<1xf32> loc(\"a/Relu\")\n"
    "  %3 = \"tf.Conv2D\"(%2) : (tensor<1xf32>) -> tensor<1xf32> loc(\"b/Conv2D@__inference_4\")\n"
    "  %4 = \"tf.BiasAdd\"(%3, %arg0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>"
    " loc(\"b/BiasAdd\")\n"
    "  %5 = \"tf.AddV2\"(%2, %4) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>"
    " loc(\"b/add\")\n"
    "  %6 = \"tf.Mul\"(%5, %5) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> loc(\"b/mul\")\n"
    "  return %6 : tensor<1xf32>\n"
    "}\n";

static void nodes_of_tensorflow(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, tensorflow);
    matched_record(&matched, "a/Conv2D", "Conv2D", 10);
    matched_record(&matched, "b/Conv2D", "Conv2D", 10);
    matched_record(&matched, "b/mul", "Mul", 10);
    matched_record(&matched, "main", "", 10);
    matched_record(&matched, "Conv2D", "", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "name 1; normal name 4; name 7; symbol 0; -");
    assert_int_equal(matched.matches.matched_ns, 40);
    assert_int_equal(matched.matches.ambiguous_ns, 0);
    matched_end(&matched);
}

/* A pattern bears the name of its last operation: it leads from there back to its first, also past
 * the first operand. What has a record of its own is in no pattern. */
static void fused_patterns_lead_back(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, tensorflow);
    matched_record(&matched, "a/Relu", "_FusedConv2D", 10);
    matched_record(&matched, "b/add", "_MklNativeFusedConv2D", 10);
    matched_record(&matched, "b/ArithmeticOptimizer/ReplaceMulWithSquare_mul", "Square", 10);
    matched_record(&matched, "b/mul/Fusion", "Mul", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "fused name 1+2+3; fused name 4+5+6; !fused name 7; fused name 7");
    assert_int_equal(matched.matches.matched_ns, 40);
    assert_int_equal(matched.matches.ambiguous_ns, 20);
    assert_true(matched.matches.of_record[0].is_fused);
    matched_end(&matched);
}

/* Without the pattern's first operation the name is all that is known: a group, no plain match. */
static void another_type_is_no_plain_match(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, tensorflow);
    matched_record(&matched, "b/mul", "_FusedMatMul", 10);
    matched_record(&matched, "a/Relu", "Tanh", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "!name 7; !name 3");
    assert_false(matched.matches.groups[0].is_plain);
    assert_int_equal(matched.matches.ambiguous_ns, 20);
    matched_end(&matched);
}

/* 0 func, 1 Pad, 2 Conv2D, 3 BiasAdd, 4 inner sum, 5 sum, 6 return */
static const char rewritten[] =
    "func.func @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {\n"
    "  %0 = \"tf.Pad\"(%arg0, %arg0) : tensor<1xf32> loc(\"a/Pad\")\n"
    "  %1 = \"tf.Conv2D\"(%0, %arg0) : tensor<1xf32> loc(\"a/Conv2D\")\n"
    "  %2 = \"tf.BiasAdd\"(%1, %arg0) : tensor<1xf32> loc(\"a/BiasAdd\")\n"
    "  %3 = \"tf.AddV2\"(%2, %arg0) : tensor<1xf32> loc(\"a/norm/add_1\")\n"
    "  %4 = \"tf.AddV2\"(%2, %3) : tensor<1xf32> loc(\"b/Add_2\")\n"
    "  return %4 : tensor<1xf32>\n"
    "}\n";

/* A pattern may begin with a pad, which is its own work. A sum of sums is added up in another
 * order: of several pieces each is of the outermost sum, and of those that it has taken in. */
static void pads_and_sums_are_rewritten(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, rewritten);
    matched_record(&matched, "a/BiasAdd", "_MklNativePadWithFusedConv2D", 10);
    matched_record(&matched, "b/ArithmeticOptimizer/AddOpsRewrite_Leaf_1_Add_2", "AddN", 10);
    matched_record(&matched, "b/ArithmeticOptimizer/AddOpsRewrite_Add_2", "AddV2", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "fused name 2+1+3; fused name 5+4; fused name 5+4");
    assert_int_equal(matched.matches.matched_ns, 30);
    assert_int_equal(matched.matches.ambiguous_ns, 0);
    matched_end(&matched);
}

/* XLA makes a product of a convolution with a window of one, and leaves its name. */
static void a_product_may_be_a_convolution(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, rewritten);
    matched_record(&matched, "dot.1", "dot", 10)->op_name = matched_text(&matched, "a/Conv2D");
    matched_record(&matched, "dot.2", "dot", 10)->op_name = matched_text(&matched, "a/BiasAdd");
    matched_record(&matched, "a/Conv2D", "dot", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "name 2; !name 3; !name 2");
    matched_end(&matched);
}

/* ---- JAX ---- */

/* 0 main, 1 dot, 2 convert, 3 call, 4 call, 5 return, 6 f, 7 dot, 8 tanh, 9 return */
static const char jax[] =
    "func.func public @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {\n"
    "  %0 = stablehlo.dot_general %arg0, %arg0 : tensor<1xf32> loc(#loc1)\n"
    "  %1 = stablehlo.convert %0 : tensor<1xf32> loc(#loc1)\n"
    "  %2 = func.call @f(%1) : (tensor<1xf32>) -> tensor<1xf32> loc(#loc2)\n"
    "  %3 = func.call @f(%2) : (tensor<1xf32>) -> tensor<1xf32> loc(#loc6)\n"
    "  return %3 : tensor<1xf32>\n"
    "}\n"
    "func.func private @f(%arg0: tensor<1xf32>) -> tensor<1xf32> {\n"
    "  %0 = stablehlo.dot_general %arg0, %arg0 : tensor<1xf32> loc(#loc3)\n"
    "  %1 = stablehlo.tanh %0 : tensor<1xf32> loc(#loc5)\n"
    "  return %1 : tensor<1xf32>\n"
    "}\n"
    "#loc = loc(\"m.py\":1:1 to :5)\n"
    "#loc1 = loc(\"jit(g)/layer/dot_general\"(#loc))\n"
    "#loc2 = loc(\"closed_call:\"(\"jit(g)/while/body/closed_call\"(#loc)))\n"
    "#loc3 = loc(\"dot_general\"(#loc))\n"
    "#loc4 = loc(\"tanh[accuracy=None]\"(#loc))\n"
    "#loc5 = loc(#loc4)\n"
    "#loc6 = loc(\"jit(g)/last\"(#loc))\n";

static void names_join_over_calls(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, jax);
    uint32_t program = matched_text(&matched, "jit_g");
    static const struct { const char *name, *type, *op_name; } records[] = {
        { "dot.1", "dot", "jit(g)/layer/dot_general" },
        { "convert.2", "convert", "jit(g)/layer/dot_general" },
        { "dot.3", "dot", "jit(g)/while/body/closed_call/dot_general" },
        { "dot.4", "dot", "jit(g)/last/dot_general" },
        { "tanh.5", "tanh", "jit(g)/last/tanh[accuracy=None]" },
        { "copy.6", "copy", "" },
        { "add.7", "add", "jit(g)/nowhere;jit(g)/layer/dot_general" },
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct vv_mlir_record *record = matched_record(&matched, records[i].name,
                                                       records[i].type, 10);
        record->scope = program;
        record->op_name = matched_text(&matched, records[i].op_name);
    }
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "name 1; name 2; call chain 7; call chain 7; call chain 8; -; "
                        "!joined names 1");
    matched_end(&matched);
}

/* One name on two operations: the record measures one of them, or both, which nobody knows. */
static void a_name_on_several_is_a_group(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, jax);
    struct vv_mlir_record *record = matched_record(&matched, "fusion.1", "fusion", 10);
    record->scope = matched_text(&matched, "jit_g");
    record->op_name = matched_text(&matched, "jit(g)/layer/dot_general");
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "name 1+2");
    assert_int_equal(matched.matches.ambiguous_ns, 10);
    assert_int_equal(matched.matches.of_record[0].operations, 2);
    matched_end(&matched);
}

static const char tagged[] =
    "%0 = \"t.a\"() : () -> i32 loc(\"varve#0:\"(\"n\"))\n"
    "%1 = \"t.b\"() : () -> i32 loc(\"varve#1:\"(\"n\"))\n"
    "%2 = \"t.c\"() {onnx_node_name = \"/fc/MatMul\", mine = 7 : i64} : () -> i32"
    " loc(\"varve#2:\"(\"n\"))\n"
    "%3 = \"t.c\"() {x_mine = 8 : i64} : () -> i32 loc(\"varve#3:\"(\"n\"))\n";

/* A fusion measures the operations of all its instructions; each belongs to one group. */
static void tags_and_keys_say_which(void **state)
{
    (void)state;
    struct matched matched;
    struct vv_mlir_match_options options = { "mine", VV_MLIR_LEVEL_COUNT };
    matched_begin(&matched, tagged);
    matched_record(&matched, "fusion.1", "fusion", 10)->tag = 1;
    matched_inner(&matched, "n", 0);
    matched_inner(&matched, "n", 1);
    matched_record(&matched, "fusion.2", "fusion", 20)->tag = 3;
    matched_inner(&matched, "", 0);
    matched_record(&matched, "/fc/MatMul", "MatMul", 5);
    matched_record(&matched, "7", "", 5);
    matched_record(&matched, "8", "", 5);
    matched_record(&matched, "fusion.9", "fusion", 10)->tag = 99;
    matched_run(&matched, &options);
    assert_string_equal(matched_said(&matched), "tag 1; tag 3+0; key 2; key 2; -; -");
    assert_int_equal(matched.matches.group_of_op[0], matched.matches.of_record[1].group);
    assert_int_equal(matched.matches.ambiguous_ns, 0);
    matched_end(&matched);
}

static const char fused[] =
    "%0 = \"t.a\"() : () -> i32 loc(fused[\"x/one\", \"x/two\"(\"m.py\":1:1)])\n"
    "%1 = \"t.b\"() : () -> i32 loc(fused<{varve.profile = {count = 1 : i64}}>[\"deep/er/y\"])\n"
    "%2 = \"t.b\"() : () -> i32 loc(\"other/z\")\n"
    "%3 = \"t.b\"() : () -> i32 loc(\"another/z\")\n";

static void joined_names_and_suffixes(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, fused);
    matched_record(&matched, "x/one;x/two", "", 1);
    matched_record(&matched, "x/two", "", 1);
    matched_record(&matched, "er/y", "", 1);
    matched_record(&matched, "model/another/z", "", 1);
    matched_record(&matched, "z", "", 1); /* of two names the end */
    matched_record(&matched, "r/y", "", 1); /* not from a '/' on */
    matched_record(&matched, "y", "", 1); /* one word, and no type */
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "joined names 0; joined names 0; unique suffix 1; unique suffix 3; "
                        "-; -; -");
    matched_end(&matched);
}

/* What one operator became: room for the result, its first values, the loop, and what stands in it.
 * The loop leads. */
static void the_outermost_that_works_leads(void **state)
{
    (void)state;
    static const char linalg[] =
        "%0 = tensor.empty() : t loc(\"fc/linear\")\n"
        "%1 = linalg.fill %0 : t loc(\"fc/linear\")\n"
        "%2 = linalg.generic %1 {\n"
        "^bb0(%in: f32):\n"
        "  %3 = arith.mulf %in, %in : f32 loc(\"fc/linear\")\n"
        "  linalg.yield %3 : f32 loc(\"fc/linear\")\n"
        "} : t loc(\"fc/linear\")\n";
    struct matched matched;
    matched_begin(&matched, linalg);
    matched_record(&matched, "fc/linear", "aten::linear", 1);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "!name 2+0+1+3+4");
    matched_end(&matched);
}

/* Levels behind the weakest are not tried. */
static void levels_can_be_left_out(void **state)
{
    (void)state;
    struct matched matched;
    struct vv_mlir_match_options options = { NULL, VV_MLIR_LEVEL_NAME };
    matched_begin(&matched, fused);
    matched_record(&matched, "er/y", "", 1);
    matched_record(&matched, "other/z", "", 1);
    matched_run(&matched, &options);
    assert_string_equal(matched_said(&matched), "-; name 2");
    matched_end(&matched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_tensorflow),
        cmocka_unit_test(fused_patterns_lead_back),
        cmocka_unit_test(another_type_is_no_plain_match),
        cmocka_unit_test(pads_and_sums_are_rewritten),
        cmocka_unit_test(a_product_may_be_a_convolution),
        cmocka_unit_test(names_join_over_calls),
        cmocka_unit_test(a_name_on_several_is_a_group),
        cmocka_unit_test(tags_and_keys_say_which),
        cmocka_unit_test(joined_names_and_suffixes),
        cmocka_unit_test(the_outermost_that_works_leads),
        cmocka_unit_test(levels_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
