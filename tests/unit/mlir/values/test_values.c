/* SPDX-License-Identifier: Apache-2.0 */
/* mlir/values: who takes what, and how large it is, in the forms that producers print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/values/values.h"

/* "maker.number>taker:bytes ", an argument as "f(0)", unknown sizes without a number. */
static void expect(const char *text, const char *expected)
{
    struct vv_mlir_module module;
    struct vv_mlir_values values;
    struct varve_error error = { 0 };
    char seen[2048], *out = seen;
    assert_int_equal(vv_mlir_read("net.mlir", text, strlen(text), &module, &error), VARVE_OK);
    assert_int_equal(vv_mlir_values_find(&module, &values, &error), VARVE_OK);
    *out = '\0';
    for (size_t i = 0; i < values.use_count; i++) {
        const struct vv_mlir_value *value = &values.values[values.uses[i].value];
        const struct vv_mlir_op *maker = &module.ops[value->op];
        out += sprintf(out, "%s%s%u%s>%s", vv_mlir_string(&module, maker->name),
                       value->is_argument ? "(" : ".", value->number, value->is_argument ? ")" : "",
                       vv_mlir_string(&module, module.ops[values.uses[i].op].name));
        if (value->bytes >= 0)
            out += sprintf(out, ":%lld", (long long)value->bytes);
        *out++ = ' ';
        *out = '\0';
    }
    assert_string_equal(seen, expected);
    vv_mlir_values_deinit(&values);
    vv_mlir_deinit(&module);
}

static void results_go_to_who_takes_them(void **state)
{
    (void)state;
    expect("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
           "  %0 = \"t.x\"(%a, %a) {s = \"%0 // no use\"} : (tensor<4xf32>, tensor<4xf32>) -> "
           "tensor<2x2xbf16>\n"
           "  // %0 is no use\n"
           "  %1:2 = t.y %0, %a : tensor<4xf32>, memref<3xi64>\n"
           "  return %1#1 : memref<3xi64>\n}\n",
           "func.func(0)>t.x:16 func.func(0)>t.y:16 t.x.0>t.y:8 t.y.1>func.return:24 ");
}

static void an_inner_name_is_not_seen_outside(void **state)
{
    (void)state;
    expect("module {\n  %c = t.c : f32\n"
           "  func.func @f() {\n    %0 = t.a : f32\n"
           "    %1 = t.loop : f32 { %0 = t.b : f64\n t.use %0 : f64 }\n"
           "    %2 = t.loop : f32 { %0 = t.d : i8\n t.use %0 : i8 }\n"
           "    t.use %0, %c, %1 : f32\n  }\n"
           "  func.func @g() { t.use %0 : f32 }\n}\n",
           "t.b.0>t.use:8 t.d.0>t.use:1 t.a.0>t.use:4 t.loop.0>t.use:4 ");
}

static void a_graph_may_use_a_value_before_it_is_made(void **state)
{
    (void)state;
    expect("t.graph {\n  t.use %0 : i1\n  %0 = \"t.make\"() : () -> tensor<5xi1>\n}\n",
           "t.make.0>t.use:5 ");
}

static void arguments_of_functions_in_both_forms(void **state)
{
    (void)state;
    expect("\"func.func\"() <{sym_name = \"f\"}> ({\n"
           "^bb0(%a: !torch.vtensor<[2,3],f16>, %b: tensor<?xf32>):\n"
           "  \"t.use\"(%b, %a) : (tensor<?xf32>, !torch.vtensor<[2,3],f16>) -> ()\n"
           "}) : () -> ()\n",
           "func.func(0)>t.use:12 func.func(1)>t.use ");
    expect("func.func @f(%a: tensor<2xf32> {k = {x = \"%b\"}} loc(\"a\"), %b: f64) {\n"
           "  t.use %b, %a : f64, tensor<2xf32>\n}\n",
           "func.func(0)>t.use:8 func.func(1)>t.use:8 ");
}

static void results_whose_type_stands_elsewhere(void **state)
{
    (void)state;
    expect("func.func @f(%a: index) {\n"
           "  %0 = t.cast %a : index to tensor<2xi32> loc(\"x\")\n"
           "  %1 = t.pack %0 : tensor<2xi32> into tensor<1x2xi32>\n"
           "  %2 = t.loop ins(%1 : tensor<1x2xi32>) -> (tensor<7xi8>) { t.yield }\n"
           "  %3 = t.call(%2) ({ t.yield }, { t.yield }) : (tensor<7xi8>) -> "
           "vector<4xcomplex<f32>>\n"
           "  t.use %3 : i1\n}\n",
           "func.func(0)>t.cast:8 t.cast.0>t.pack:8 t.pack.0>t.loop:8 t.loop.0>t.call:7 "
           "t.call.0>t.use:32 ");
}

static void sizes_of_types(void **state)
{
    (void)state;
    static const struct { const char *type; int64_t bytes; } cases[] = {
        { "tensor<f32>", 4 }, { "tensor<4x8xf64>", 256 }, { "tensor<3xi4>", 2 },
        { "tensor<16xf8E4M3FN>", 16 }, { "memref<2x2xui8, strided<[2, 1]>>", 4 },
        { "tensor<0x4xf32>", 0 }, { "tensor<4x?xf32>", -1 }, { "tensor<*xf32>", -1 },
        { "!torch.vtensor<[],f32>", 4 }, { "!torch.vtensor<[?],f32>", -1 }, { "!torch.int", -1 },
        { "f16", 2 }, { "i1", 1 }, { "index", 8 }, { "complex<f64>", 16 }, { "tuple<>", -1 },
        { "tensor<99999999999x99999999999xf32>", -1 }, { "tensor<4x!quant.any>", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_mlir_span span = { 0, strlen(cases[i].type) };
        if (vv_mlir_type_bytes(cases[i].type, span) != cases[i].bytes)
            fail_msg("%s: %lld", cases[i].type,
                     (long long)vv_mlir_type_bytes(cases[i].type, span));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_go_to_who_takes_them),
        cmocka_unit_test(an_inner_name_is_not_seen_outside),
        cmocka_unit_test(a_graph_may_use_a_value_before_it_is_made),
        cmocka_unit_test(arguments_of_functions_in_both_forms),
        cmocka_unit_test(results_whose_type_stands_elsewhere),
        cmocka_unit_test(sizes_of_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
