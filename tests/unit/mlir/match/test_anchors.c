/* SPDX-License-Identifier: Apache-2.0 */
/* Levels by arguments: equal layers, each with weights of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mlir_matched.h"

/* 0 main, and a layer each: 1 5 dot, 2 6 broadcast, 3 7 add, 4 8 tanh. Argument 0 is the data, the
 * others are weights. */
#define LAYER(x, w, b, n)                                                                     \
    "  %" n "0 = stablehlo.dot_general " x ", " w " : (t, t) -> t loc(\"f/dot\")\n"           \
    "  %" n "1 = stablehlo.broadcast_in_dim " b ", dims = [1] : (t) -> t loc(\"f/add\")\n"    \
    "  %" n "2 = stablehlo.add %" n "0, %" n "1 : t loc(\"f/add\")\n"                         \
    "  %" n "3 = stablehlo.tanh %" n "2 : t loc(\"f/tanh\")\n"
static const char layers[] =
    "func.func public @main(%arg0: t {jax.arg_info = \"%x: y\"} loc(\"data\"), %arg1: t, %arg2: t,"
    " %arg3: t, %arg4: t) -> t {\n"
    LAYER("%arg0", "%arg1", "%arg2", "1") LAYER("%13", "%arg3", "%arg4", "2")
    "  return %23 : t\n}\n";

/* Adds what one instruction of the last record is made from: bit n is argument n. */
static void arguments(struct matched *matched, uint64_t near, uint64_t far)
{
    struct vv_mlir_profile *profile = &matched->profile;
    struct vv_mlir_record *record = &profile->records[profile->record_count - 1];
    assert_int_equal(vv_array_reserve(&profile->arguments, &profile->arguments_capacity,
                                      profile->arguments_count + 1, sizeof *profile->arguments,
                                      NULL), VARVE_OK);
    if (record->arguments_count++ == 0)
        record->first_arguments = (uint32_t)profile->arguments_count;
    profile->arguments[profile->arguments_count++] =
        (struct vv_mlir_arguments){ .near = { near }, .far = { far } };
}

static void record(struct matched *matched, const char *op_name, const char *type, uint64_t near,
                   uint64_t far)
{
    struct vv_mlir_record *row = matched_record(matched, "fusion.1", type, 10);
    row->scope = matched_text(matched, "jit_f");
    row->op_name = matched_text(matched, op_name);
    arguments(matched, near, far);
}

static void weights_tell_layers_apart(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, layers);
    record(&matched, "f/dot", "dot", 1 | 2, 1 | 2);
    record(&matched, "f/dot", "dot", 8, 1 | 2 | 4 | 8);
    record(&matched, "f/add", "fusion", 4, 1 | 2 | 4);
    record(&matched, "f/tanh", "tanh", 0, 31);
    record(&matched, "f/tanh", "tanh", 0, 1 | 2 | 4);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 1; arguments 5; arguments 3; "
                                                "arguments 8; arguments 4");
    assert_int_equal(matched.matches.ambiguous_ns, 0);
    matched_end(&matched);
}

/* XLA may have found that a value does not matter; then the weight still says which layer it is. A
 * weight that no operation has, or none at all, says nothing. */
static void what_does_not_agree_says_nothing(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, layers);
    record(&matched, "f/dot", "dot", 8, 8);
    record(&matched, "f/tanh", "tanh", 16, 31);
    record(&matched, "f/add", "add", 0, 3);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 5; name 4+8; name 3+7");
    matched_end(&matched);
}

/* A program without names: type and weights are enough; the type alone is not. */
static void weights_and_type_without_names(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, layers);
    record(&matched, "", "dot", 8, 1 | 2 | 4 | 8);
    record(&matched, "", "multiply", 8, 1 | 2 | 4 | 8);
    record(&matched, "", "fusion", 8, 1 | 2 | 4 | 8);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 5; -; -");
    matched_end(&matched);
}

/* A fusion that has as many instructions of the arguments as there are operations has done them
 * all; otherwise nobody knows which ones. */
static void a_fusion_of_all_is_of_all(void **state)
{
    (void)state;
    static const char twice[] =
        "func.func @main(%arg0: t, %arg1: t) {\n"
        "  %0 = stablehlo.multiply %arg0, %arg1 : t loc(\"f/mul\")\n"
        "  %1 = stablehlo.multiply %0, %arg1 : t loc(\"f/mul\")\n"
        "  %2 = stablehlo.multiply %1, %arg1 : t loc(\"f/mul\")\n"
        "  %3 = stablehlo.multiply %arg0, %arg0 : t loc(\"f/mul\")\n}\n";
    for (int instructions = 1; instructions <= 2; instructions++) {
        struct matched matched;
        matched_begin(&matched, twice);
        record(&matched, "f/mul", "fusion", 2, 3);
        if (instructions == 2)
            arguments(&matched, 2, 3);
        matched_run(&matched, NULL);
        assert_string_equal(matched_said(&matched), instructions == 2 ? "arguments 3+2"
                                                                      : "arguments 2+3");
        assert_int_equal(matched.matches.ambiguous_ns, instructions == 2 ? 0 : 10);
        assert_int_equal(matched.matches.of_record[0].is_fused, instructions == 2);
        matched_end(&matched);
    }
}

/* 2 the loop, 6 the call of the layer, 9 and 10 behind the loop, 16 and 17 in the layer. */
static const char loop_of_layers[] =
    "func.func public @main(%arg0: t, %arg1: t, %arg2: t) -> t {\n"
    "  %c = stablehlo.constant dense<0> : t\n"
    "  %0:3 = stablehlo.while(%i = %c, %x = %arg0, %w = %arg1) : t, t, t\n"
    "  cond {\n"
    "    %5 = stablehlo.compare LT, %i, %c : t\n    stablehlo.return %5 : t\n  } do {\n"
    "    %5 = func.call @slice(%w, %i) : (t, t) -> t\n"
    "    %6 = func.call @layer(%x, %5, %arg2) : (t, t, t) -> t loc(\"f/while/body/call\")\n"
    "    %7 = stablehlo.add %i, %c : t\n"
    "    stablehlo.return %7, %6, %w : t, t, t\n  }\n"
    "  %1 = stablehlo.dot_general %0#1, %0#2 : (t, t) -> t loc(\"f/dot\")\n"
    "  %2 = stablehlo.dot_general %0#1, %arg2 : (t, t) -> t loc(\"f/dot\")\n"
    "  return %2 : t\n}\n"
    "func.func private @slice(%arg0: t, %arg1: t) -> t {\n"
    "  %0 = stablehlo.dynamic_slice %arg0, %arg1 : (t, t) -> t\n  return %0 : t\n}\n"
    "func.func private @layer(%arg0: t, %arg1: t, %arg2: t) -> t {\n"
    "  %0 = stablehlo.dot_general %arg0, %arg1 : (t, t) -> t loc(\"dot\")\n"
    "  %1 = stablehlo.dot_general %0, %arg2 : (t, t) -> t loc(\"dot\")\n"
    "  return %1 : t\n}\n";
static const char loop_in_generic_form[] =
    "\"func.func\"() <{sym_name = \"main\"}> ({\n"
    "^bb0(%arg0: t, %arg1: t, %arg2: t):\n"
    "  %0 = \"stablehlo.constant\"() <{value = dense<0> : t}> : () -> t\n"
    "  %1:3 = \"stablehlo.while\"(%0, %arg0, %arg1) ({\n"
    "  ^bb0(%arg3: t loc(\"}\"), %arg4: t, %arg5: t):\n"
    "    %5 = \"stablehlo.compare\"(%arg3, %0) : (t, t) -> t\n"
    "    \"stablehlo.return\"(%5) : (t) -> ()\n  }, {\n"
    "  ^bb0(%arg3: t, %arg4: t, %arg5: t):\n"
    "    %5 = \"func.call\"(%arg5, %arg3) <{callee = @slice}> : (t, t) -> t\n"
    "    %6 = \"func.call\"(%arg4, %5, %arg2) <{callee = @layer}> : (t, t, t) -> t "
    "loc(\"f/while/body/call\")\n"
    "    %7 = \"stablehlo.add\"(%arg3, %0) : (t, t) -> t\n"
    "    \"stablehlo.return\"(%7, %6, %arg5) : (t, t, t) -> ()\n"
    "  }) : (t, t, t) -> (t, t, t)\n"
    "  %2 = \"stablehlo.dot_general\"(%1#1, %1#2) : (t, t) -> t loc(\"f/dot\")\n"
    "  %3 = \"stablehlo.dot_general\"(%1#1, %arg2) : (t, t) -> t loc(\"f/dot\")\n"
    "  \"func.return\"(%3) : (t) -> ()\n}) : () -> ()\n"
    "\"func.func\"() <{sym_name = \"slice\"}> ({\n^bb0(%arg0: t, %arg1: t):\n"
    "  %0 = \"stablehlo.dynamic_slice\"(%arg0, %arg1) : (t, t) -> t\n"
    "  \"func.return\"(%0) : (t) -> ()\n}) : () -> ()\n"
    "\"func.func\"() <{sym_name = \"layer\"}> ({\n^bb0(%arg0: t, %arg1: t, %arg2: t):\n"
    "  %0 = \"stablehlo.dot_general\"(%arg0, %arg1) : (t, t) -> t loc(\"dot\")\n"
    "  %1 = \"stablehlo.dot_general\"(%0, %arg2) : (t, t) -> t loc(\"dot\")\n"
    "  \"func.return\"(%1) : (t) -> ()\n}) : () -> ()\n";

/* The weights of all turns come in and are handed on; each turn slices its own. */
static void through_loops_and_calls(void **state)
{
    (void)state;
    const char *const forms[] = { loop_of_layers, loop_in_generic_form };
    for (size_t i = 0; i < 2; i++) {
        struct matched matched;
        matched_begin(&matched, forms[i]);
        record(&matched, "f/while/body/call/dot", "dot", 2, 1 | 2);
        record(&matched, "f/while/body/call/dot", "dot", 4, 1 | 2 | 4);
        record(&matched, "f/dot", "dot", 2, 1 | 2 | 4);
        record(&matched, "f/dot", "dot", 4, 1 | 2 | 4);
        matched_run(&matched, NULL);
        assert_string_equal(matched_said(&matched),
                            "arguments 16; arguments 17; arguments 9; arguments 10");
        matched_end(&matched);
    }
}

/* An operation of a function that is called twice is made from the arguments of either call. */
static void a_function_that_is_called_twice(void **state)
{
    (void)state;
    static const char twice[] =
        "func.func @main(%arg0: t, %arg1: t, %arg2: t, %arg3: t) {\n"
        "  %0 = call @layer(%arg0, %arg1, %arg2) : (t, t, t) -> t loc(\"f/call\")\n"
        "  %1 = call @layer(%0, %arg3, %arg2) : (t, t, t) -> t loc(\"f/call\")\n}\n"
        "func.func private @layer(%arg0: t, %arg1: t, %arg2: t) -> t {\n"
        "  %0 = stablehlo.dot_general %arg0, %arg1 : (t, t) -> t loc(\"dot\")\n"
        "  %1 = stablehlo.dot_general %0, %arg2 : (t, t) -> t loc(\"dot\")\n"
        "  return %1 : t\n}\n";
    struct matched matched;
    matched_begin(&matched, twice);
    record(&matched, "f/call/dot", "dot", 1 | 2, 1 | 2);
    record(&matched, "f/call/dot", "dot", 8, 15);
    record(&matched, "f/call/dot", "dot", 4, 7);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 4; arguments 4; arguments 5");
    matched_end(&matched);
}

/* Without a function "main", those run that nobody calls. Then arguments alone say nothing: each
 * function has its own. */
static void several_functions(void **state)
{
    (void)state;
    static const char two[] =
        "func.func public @f(%arg0: t, %arg1: t, %arg2: t) {\n"
        "  %0 = stablehlo.dot_general %arg0, %arg1 : (t, t) -> t loc(\"f/dot\")\n"
        "  %1 = stablehlo.dot_general %0, %arg2 : (t, t) -> t loc(\"f/dot\")\n}\n"
        "func.func public @g(%arg0: t, %arg1: t, %arg2: t) {\n"
        "  %0 = stablehlo.dot_general %arg0, %arg2 : (t, t) -> t loc(\"g/dot\")\n"
        "  %1 = stablehlo.dot_general %0, %arg1 : (t, t) -> t loc(\"g/dot\")\n}\n";
    struct matched matched;
    matched_begin(&matched, two);
    record(&matched, "f/dot", "dot", 4, 7);
    record(&matched, "g/dot", "dot", 5, 5);
    record(&matched, "", "dot", 5, 5);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 2; arguments 4; -");
    matched_end(&matched);
}

/* Behind a loss all depends on all. What each operand depends on tells the products apart, and the
 * forms that XLA gave them, with their names: there one instruction does both. */
static void parts_tell_apart_what_depends_on_all(void **state)
{
    (void)state;
    static const char gradients[] =
        "func.func @main(%arg0: t, %arg1: t, %arg2: t) {\n"
        "  %0 = stablehlo.multiply %arg0, %arg1 : t\n"
        "  %1 = stablehlo.multiply %0, %arg2 : t\n"
        "  %2 = stablehlo.tanh %1 : t\n"
        "  %3 = stablehlo.dot_general %0, %2 : (t, t) -> t loc(\"f/dot\")\n"
        "  %4 = stablehlo.transpose %3, dims = [1, 0] : (t) -> t loc(\"f/transpose\")\n"
        "  %5 = stablehlo.dot_general %1, %2 : (t, t) -> t loc(\"f/dot\")\n"
        "  %6 = stablehlo.transpose %5, dims = [1, 0] : (t) -> t loc(\"f/transpose\")\n}\n";
    const uint64_t all[VV_MLIR_ARGUMENT_WORDS] = { 7 }, some[VV_MLIR_ARGUMENT_WORDS] = { 3 };
    struct matched matched;
    matched_begin(&matched, gradients);
    const char *const names[] = { "f/dot", "f/transpose" };
    for (size_t i = 0; i < 4; i++) {
        record(&matched, names[i / 2], "dot", 0, 7);
        struct vv_mlir_arguments *of =
            &matched.profile.arguments[matched.profile.arguments_count - 1];
        vv_mlir_add_part(of->parts, all);
        if (i % 2 == 0)
            vv_mlir_add_part(of->parts, some);
    }
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "arguments 4; arguments 6; arguments 5; arguments 7");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(matched.matches.of_record[i].is_fused, i / 2);
    matched_end(&matched);
}

/* Only if the product is what it is made from. */
static void a_product_in_another_form(void **state)
{
    (void)state;
    static const char form[] =
        "func.func @main(%arg0: t, %arg1: t) {\n"
        "  %0 = stablehlo.dot_general %arg0, %arg1 : (t, t) -> t loc(\"f/dot\")\n"
        "  %1 = stablehlo.reshape %0 : (t) -> t loc(\"f/x\")\n"
        "  %2 = stablehlo.transpose %1, dims = [1, 0] : (t) -> t loc(\"f/transpose\")\n}\n";
    static const struct { const char *type; uint64_t far; const char *said; } cases[] = {
        { "dot", 3, "name 3+1+2" }, { "dot", 7, "!name 3" }, { "multiply", 3, "!name 3" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matched matched;
        matched_begin(&matched, form);
        record(&matched, "f/transpose", cases[i].type, 3, cases[i].far);
        matched_run(&matched, NULL);
        assert_string_equal(matched_said(&matched), cases[i].said);
        matched_end(&matched);
    }
}

/* Two layers of one function, which the module's author and the profile called from elsewhere. A
 * fusion of four is named after its result: that call chain, made from that. */
static void a_fusion_is_its_result(void **state)
{
    (void)state;
#define AT(line) " : t loc(\"f/add\"(callsite(\"m.py\":" line ":0 at \"export.py\":5:0)))\n"
    static const char adds[] =
        "func.func @main(%arg0: t, %arg1: t, %arg2: t) {\n"
        "  %0 = stablehlo.add %arg0, %arg1" AT("10") "  %1 = stablehlo.add %0, %arg1" AT("20")
        "  %2 = stablehlo.add %1, %arg2" AT("10") "  %3 = stablehlo.add %2, %arg2" AT("20") "}\n";
    static const struct { uint32_t line, result; const char *said; } cases[] = {
        { 20, 2, "arguments 4" }, { 10, 2, "arguments 3" }, { 20, 1, "arguments 2" },
        { 20, 0, "arguments 2+4" }, { 30, 2, "arguments 2+3+4" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matched matched;
        matched_begin(&matched, adds);
        record(&matched, "f/add", "fusion", 2, 3);
        arguments(&matched, 4, 7);
        matched_frame(&matched, "m.py", cases[i].line);
        matched_frame(&matched, "train.py", 7);
        matched.profile.records[0].result_arguments = cases[i].result;
        matched_run(&matched, NULL);
        assert_string_equal(matched_said(&matched), cases[i].said);
        matched_end(&matched);
    }
}

/* Inner instructions, too. */
static void what_a_fusion_holds(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, layers);
    record(&matched, "f/dot", "fusion", 8, 1 | 2 | 4 | 8);
    arguments(&matched, 16, 31);
    matched.profile.records[0].arguments_count = 1;
    matched_inner(&matched, "f/add", -1);
    matched.profile.inners[0].arguments = 2;
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 5+7");
    matched_end(&matched);
}

/* What stands in a region makes the operation around it depend on more; functions that are called
 * are not looked into. */
static void regions_and_functions(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched,
                  "\"func.func\"() <{sym_name = \"main\"}> ({\n"
                  "^bb0(%arg0: t loc(\"a\"), %arg1: t, %arg2: t):\n"
                  "  %0 = \"t.if\"(%arg0) ({\n    %9 = \"t.add\"(%arg1) : (t) -> t\n  }) : (t) -> t"
                  " loc(\"f/if\")\n"
                  "  %1 = \"t.if\"(%arg0) ({\n    %9 = \"t.add\"(%arg2) : (t) -> t\n  }) : (t) -> t"
                  " loc(\"f/if\")\n"
                  "  %2 = \"t.exp\"(%1) : (t) -> t loc(\"f/exp\")\n"
                  "}) {sym_name = \"main\"} : () -> ()\n"
                  "func.func @other(%arg0: t) {\n  %0 = \"t.exp\"(%arg0) : (t) -> t"
                  " loc(\"f/exp\")\n}\n");
    record(&matched, "f/if", "if", 1, 1 | 4);
    record(&matched, "f/exp", "exp", 0, 1 | 4);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 3; arguments 5");
    matched_end(&matched);
}

/* ---- weights of modules ---- */

/* As iree-turbine prints a program: no layer is named, but its weights are. */
static const char turbine[] =
    "func.func @main(%x: t) {\n"
    "  %w = util.global.load @params.blocks.0.fc.weight : t\n"
    "  %v = torch_c.from_builtin_tensor %w : t -> t\n"
    "  %t = torch.aten.t %v : t -> t loc(#l)\n"
    "  %0 = torch.aten.mm %x, %t : t, t -> t loc(#l)\n"
    "  %u = util.global.load @params.blocks.1.fc.weight : t\n"
    "  %y = torch.aten.t %u : t -> t loc(#l)\n"
    "  %1 = torch.aten.mm %0, %y : t, t -> t loc(#l)\n"
    "  %2 = torch.aten.add.Tensor %w, %u : t, t -> t loc(#l)\n"
    "}\n#l = loc(\"linear.py\":134:0)\n";

static void paths_of_weights(void **state)
{
    (void)state;
    static const struct { const char *path, *type, *said; } cases[] = {
        { "blocks.1.fc", "aten::mm", "arguments 7" },
        { "blocks.0.fc", "aten::linear", "!arguments 4" },
        { "params.blocks.0.fc", "aten::mm", "arguments 4" },
        { "blocks.2.fc", "aten::mm", "order 7" },
        { "fc", "aten::mm", "arguments 4+7" },
        { "blocks.0.fc", "aten::add", "order 8" }, /* of both layers' weights */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matched matched;
        matched_begin(&matched, turbine);
        matched_record(&matched, "", cases[i].type, 10)->path =
            matched_text(&matched, cases[i].path);
        matched_run(&matched, NULL);
        if (strncmp(cases[i].said, "order", 5) != 0)
            assert_string_equal(matched_said(&matched), cases[i].said);
        else
            assert_null(strstr(matched_said(&matched), "arguments"));
        matched_end(&matched);
    }
}

/* A call stack that all layers have finds them all; the weights choose. */
static void weights_choose_among_call_stacks(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, turbine);
    matched_record(&matched, "", "aten::mm", 10)->path = matched_text(&matched, "blocks.1.fc");
    matched_frame(&matched, "linear.py", 134);
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "arguments 7");
    matched_end(&matched);
}

/* Not if a better level is asked for. */
static void the_weakest_level_counts(void **state)
{
    (void)state;
    const struct vv_mlir_match_options names = { NULL, VV_MLIR_LEVEL_NAME };
    struct matched matched;
    matched_begin(&matched, layers);
    record(&matched, "f/dot", "dot", 8, 1 | 2 | 4 | 8);
    record(&matched, "", "dot", 8, 1 | 2 | 4 | 8);
    matched_run(&matched, &names);
    assert_string_equal(matched_said(&matched), "name 1+5; -");
    matched_end(&matched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_tell_layers_apart),
        cmocka_unit_test(what_does_not_agree_says_nothing),
        cmocka_unit_test(weights_and_type_without_names),
        cmocka_unit_test(a_fusion_of_all_is_of_all),
        cmocka_unit_test(through_loops_and_calls),
        cmocka_unit_test(a_function_that_is_called_twice),
        cmocka_unit_test(several_functions),
        cmocka_unit_test(parts_tell_apart_what_depends_on_all),
        cmocka_unit_test(a_product_in_another_form),
        cmocka_unit_test(a_fusion_is_its_result),
        cmocka_unit_test(what_a_fusion_holds),
        cmocka_unit_test(regions_and_functions),
        cmocka_unit_test(paths_of_weights),
        cmocka_unit_test(weights_choose_among_call_stacks),
        cmocka_unit_test(the_weakest_level_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
