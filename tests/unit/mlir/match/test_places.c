/* SPDX-License-Identifier: Apache-2.0 */
/* Levels by dispatch, line, module path, call stack and order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mlir_matched.h"

/* 0 … 2 dispatches, 3 a definition */
static const char dispatches[] =
    "\"flow.dispatch\"() {entry_points = [@e0::@mm]} : () -> () loc(\"a\")\n"
    "\"flow.dispatch\"() {entry_points = [@e1::@add]} : () -> () loc(\"b\")\n"
    "\"flow.dispatch\"() {entry_points = [@e0::@mm]} : () -> () loc(\"c\")\n"
    "func.func @lonely() {\n}\n";

static void record_dispatch(struct matched *matched, const char *symbol, int64_t index)
{
    struct vv_mlir_record *record = matched_record(matched, "", "", 10);
    record->symbol = matched_text(matched, symbol);
    record->command_index = index;
}

static void dispatches_by_number(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, dispatches);
    record_dispatch(&matched, "mm", 0);
    record_dispatch(&matched, "add", 1);
    record_dispatch(&matched, "mm", 2);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "command index 0; command index 1; command index 2");
    matched_end(&matched);
}

/* Another number of dispatches, or another symbol at a number: then only symbols count, and one
 * that is used twice is a group. */
static void other_programs_have_symbols_alone(void **state)
{
    (void)state;
    static const struct { const char *second; int64_t last; } cases[] = { { "mm", 2 },
                                                                         { "add", 3 } };
    for (size_t i = 0; i < 2; i++) {
        struct matched matched;
        matched_begin(&matched, dispatches);
        record_dispatch(&matched, "mm", 0);
        record_dispatch(&matched, cases[i].second, 1);
        record_dispatch(&matched, "lonely", cases[i].last);
        record_dispatch(&matched, "unknown", -1);
        matched_run(&matched, NULL);
        assert_string_equal(matched_said(&matched), i == 0 ? "symbol 2+0; symbol 2+0; symbol 3; -"
                                                           : "symbol 2+0; symbol 1; symbol 3; -");
        matched_end(&matched);
    }
}

/* ---- lines ---- */

static void record_line(struct matched *matched, const char *file, uint32_t line, uint32_t column)
{
    struct vv_mlir_record *record = matched_record(matched, "", "", 10);
    record->file = matched_text(matched, file);
    record->line = line;
    record->column = column;
}

static void lines_and_columns(void **state)
{
    (void)state;
    static const char text[] = "\"t.a\"() : () -> () loc(\"src/k.mlir\":7:3)\n"
                               "\"t.b\"() : () -> () loc(\"src/k.mlir\":7:9)\n"
                               "\"t.c\"() : () -> () loc(\"src/k.mlir\":8:3)\n";
    struct matched matched;
    matched_begin(&matched, text);
    record_line(&matched, "build/k.mlir", 7, 9);
    record_line(&matched, "k.mlir", 8, 0);
    record_line(&matched, "k.mlir", 9, 0);
    record_line(&matched, "other.mlir", 7, 0);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "source line 1; source line 2; -; -");
    matched_end(&matched);
    matched_begin(&matched, text);
    record_line(&matched, "k.mlir", 7, 0);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "source line 1+0");
    matched_end(&matched);
}

/* A module that was printed without locations: readers give its operations their lines in it. */
static void lines_of_the_text_itself(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, "\"t.a\"() : () -> ()\n\n\"t.b\"() : () -> ()\n");
    record_line(&matched, "/elsewhere/net.mlir", 3, 0);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "source line 1");
    matched_end(&matched);
}

/* ---- PyTorch ---- */

/* Two equal layers, each linear, relu, linear: all operations of a kind have one call stack. */
#define LAYER(n)                                                                              \
    "%" #n "0 = torch.aten.linear %x : !t loc(\"blocks." #n ".fc/linear\"(#linear1))\n"       \
    "%" #n "1 = torch.aten.relu %x : !t loc(\"blocks." #n "/relu\"(#relu))\n"                 \
    "%" #n "2 = torch.aten.mul.Tensor %x : !t loc(\"blocks." #n "/mul\"(#relu))\n"
static const char torch[] =
    LAYER(0) LAYER(1)
    "#linear = loc(\"/lib/torch/nn/modules/linear.py\":134:0)\n"
    "#fc = loc(\"/src/mine/model.py\":10:0)\n"
    "#linear1 = loc(callsite(#linear at #fc))\n"
    "#relu = loc(\"/src/mine/model.py\":11:0)\n";

static void record_call(struct matched *matched, const char *type, bool is_linear)
{
    matched_record(matched, "", type, 10);
    if (is_linear) {
        matched_frame(matched, "torch/nn/modules/linear.py", 134);
        matched_frame(matched, "torch/nn/modules/module.py", 1798);
    }
    matched_frame(matched, "model.py", is_linear ? 10 : 11);
    matched_frame(matched, "torch/nn/modules/module.py", 1798);
    matched_frame(matched, "train.py", 7);
}

/* Frames of the framework are passed over; the type chooses, and then the order, since each call
 * stack has as many records as operations. */
static void call_stacks_and_order(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, torch);
    for (int layer = 0; layer < 2; layer++) {
        record_call(&matched, "aten::linear", true);
        record_call(&matched, "aten::relu", false);
        record_call(&matched, "aten::mul", false);
    }
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "call stack 0; call stack 1; call stack 2; call stack 3; call stack 4; "
                        "call stack 5");
    assert_int_equal(matched.matches.ambiguous_ns, 0);
    matched_end(&matched);
}

/* A third relu: nobody knows which one is not in the module. An operator of another type has what
 * the others leave. */
static void uneven_counts_are_a_group(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, torch);
    for (int i = 0; i < 3; i++)
        record_call(&matched, "aten::relu", false);
    record_call(&matched, "aten::softmax", false);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "call stack 1+4; call stack 1+4; call stack 1+4; !call stack 5+2");
    assert_int_equal(matched.matches.ambiguous_ns, 40);
    matched_end(&matched);
}

/* The same file name in another folder is another file. */
static void files_of_other_folders_are_others(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, torch);
    matched_record(&matched, "", "aten::gelu", 10);
    matched_frame(&matched, "/src/yours/model.py", 11);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "-");
    matched_end(&matched);
}

static void module_paths(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, torch);
    matched_record(&matched, "", "aten::relu", 10)->path = matched_text(&matched, "blocks.1");
    matched_record(&matched, "", "aten::linear", 10)->path = matched_text(&matched, "blocks.1.fc");
    matched_record(&matched, "", "aten::softmax", 10)->path = matched_text(&matched, "blocks.0");
    matched_record(&matched, "", "aten::mul", 10)->path = matched_text(&matched, "blocks.0/mul");
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "module path 4; module path 3; !module path 1; module path 2");
    matched_end(&matched);
}

/* Without any place, types come in order; both sides must have as many. */
static void order_alone(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, torch);
    matched_record(&matched, "", "aten::relu", 10);
    matched_record(&matched, "", "aten::linear", 10);
    matched_record(&matched, "", "aten::relu", 10);
    matched_record(&matched, "named", "aten::mul", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "order 1; -; order 4; -");
    matched_end(&matched);
}

/* ONNX Runtime makes one node of "x * 0.5 * (1 + erf(x / sqrt(2)))" and gives it no path. */
static void patterns_by_their_one_operation(void **state)
{
    (void)state;
    static const char onnx[] =
        "%0 = torch.operator \"onnx.Div\"(%x) : (!t) -> !t loc(\"/0/Div\")\n"
        "%1 = torch.operator \"onnx.Erf\"(%0) : (!t) -> !t loc(\"/0/Erf\")\n"
        "%2 = torch.operator \"onnx.Erf\"(%1) : (!t) -> !t loc(\"/1/Erf\")\n";
    struct matched matched;
    matched_begin(&matched, onnx);
    matched_record(&matched, "Gelu", "Gelu", 10);
    matched_record(&matched, "Gelu_token_0", "Gelu", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "order 1; order 2");
    assert_true(matched.matches.of_record[0].is_fused);
    matched_end(&matched);
    matched_begin(&matched, onnx);
    matched_record(&matched, "Gelu", "Gelu", 10);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "-");
    matched_end(&matched);
}

/* Each rank has run the whole module. */
static void ranks_are_apart(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, torch);
    for (uint32_t i = 0; i < 4; i++)
        matched_record(&matched, "", "aten::relu", 10)->process = i % 2;
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "order 1; order 1; order 4; order 4");
    struct vv_mlir_record sum;
    vv_mlir_group_sum(&matched.profile, &matched.matches, 0, &sum);
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.self_ns, 20);
    matched_end(&matched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatches_by_number),
        cmocka_unit_test(other_programs_have_symbols_alone),
        cmocka_unit_test(lines_and_columns),
        cmocka_unit_test(lines_of_the_text_itself),
        cmocka_unit_test(call_stacks_and_order),
        cmocka_unit_test(uneven_counts_are_a_group),
        cmocka_unit_test(files_of_other_folders_are_others),
        cmocka_unit_test(module_paths),
        cmocka_unit_test(order_alone),
        cmocka_unit_test(patterns_by_their_one_operation),
        cmocka_unit_test(ranks_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
