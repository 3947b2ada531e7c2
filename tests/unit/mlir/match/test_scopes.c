/* SPDX-License-Identifier: Apache-2.0 */
/* The same operations in several functions: a record that says its function is of that one's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mlir_matched.h"

/* As TensorFlow prints a saved model: 0 f(1 2 3 4 5 6) 7 g(8 9 10 11 12 13). A convolution of the
 * short cut is as near to the ReLU as that of the main branch. */
#define NET(f)                                                                                \
    "func.func @" f "0(%x: t) -> t {\n"                                                       \
    "  %0 = \"tf.Conv2D\"(%x, %x) : (t, t) -> t loc(\"a/Conv2D@" f "\")\n"                    \
    "  %1 = \"tf.BiasAdd\"(%0, %x) : (t, t) -> t loc(\"a/BiasAdd@" f "\")\n"                  \
    "  %2 = \"tf.Conv2D\"(%x, %x) : (t, t) -> t loc(\"s/Conv2D@" f "\")\n"                    \
    "  %3 = \"tf.BiasAdd\"(%2, %x) : (t, t) -> t loc(\"s/BiasAdd@" f "\")\n"                  \
    "  %4 = \"tf.AddV2\"(%1, %3) : (t, t) -> t loc(\"add@" f "\")\n"                          \
    "  %5 = \"tf.Relu\"(%4) : (t) -> t loc(\"relu@" f "\")\n"                                 \
    "}\n"
static const char twice[] = NET("__inference_f_1") NET("__inference_g_2");

static void record(struct matched *matched, const char *name, const char *type,
                   const char *function)
{
    matched_record(matched, name, type, 10)->function = matched_text(matched, function);
}

static void the_function_chooses(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, twice);
    record(&matched, "a/Conv2D", "Conv2D", "__inference_g_2");
    record(&matched, "relu", "Relu", "__inference_f_1");
    record(&matched, "relu", "Relu", "__inference_g_2");
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "normal name 8; normal name 6; normal name 13");
    assert_int_equal(matched.matches.ambiguous_ns, 0);
    matched_end(&matched);
}

/* Without a function, or with one that the module does not have, it is in both. */
static void an_unknown_function_says_nothing(void **state)
{
    (void)state;
    static const char *const functions[] = { "", "__inference_h_3" };
    for (size_t i = 0; i < 2; i++) {
        struct matched matched;
        matched_begin(&matched, twice);
        record(&matched, "relu", "Relu", functions[i]);
        matched_run(&matched, NULL);
        assert_string_equal(matched_said(&matched), "normal name 6+13");
        assert_int_equal(matched.matches.ambiguous_ns, 10);
        matched_end(&matched);
    }
}

/* A fused kernel has the name of its pattern's last operation; the other convolution has a record
 * of its own, so the pattern is that of the main branch. */
static void patterns_are_walked_in_the_function(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched, twice);
    record(&matched, "relu", "_FusedConv2D", "__inference_g_2");
    record(&matched, "s/BiasAdd", "_FusedConv2D", "__inference_g_2");
    record(&matched, "ArithmeticOptimizer/X_add", "AddV2", "__inference_f_1");
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched),
                        "fused name 8+9+12+13; fused name 10+11; fused name 5");
    matched_end(&matched);
}

/* Also by the symbol of the function around it; and by the call sites of what was inlined. */
static void symbols_and_call_sites(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched,
                  "func.func @f(%x: t) {\n  %0 = \"tf.Relu\"(%x) : (t) -> t loc(\"relu\")\n}\n"
                  "func.func @g(%x: t) {\n  %0 = \"tf.Relu\"(%x) : (t) -> t loc(\"relu\")\n"
                  "  %1 = \"tf.Tanh\"(%x) : (t) -> t loc(callsite(\"tanh@f\" at \"call@g\"))\n"
                  "  %2 = \"tf.Tanh\"(%x) : (t) -> t loc(callsite(\"tanh@f\" at \"call@h\"))\n"
                  "}\n");
    record(&matched, "relu", "Relu", "f");
    record(&matched, "relu", "Relu", "g");
    record(&matched, "tanh", "Tanh", "h");
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "name 1; name 3; normal name 5");
    matched_end(&matched);
}

/* What a function calls bears the call's name before its own, for TensorFlow's calls, too. */
static void names_over_calls(void **state)
{
    (void)state;
    struct matched matched;
    matched_begin(&matched,
                  "func.func @g0(%x: t) {\n"
                  "  %0 = \"tf.StatefulPartitionedCall\"(%x) <{f = @f0}> : (t) -> t loc(\"c@g\")\n"
                  "  %1 = \"tf.StatefulPartitionedCall\"(%x) <{f = @f0}> : (t) -> t loc(\"d@g\")\n"
                  "}\n"
                  "func.func @f0(%x: t) {\n"
                  "  %0 = \"tf.Relu\"(%x) : (t) -> t loc(\"net/relu@f\")\n}\n");
    record(&matched, "c/net/relu", "Relu", "g");
    matched_run(&matched, NULL);
    assert_string_equal(matched_said(&matched), "call chain 4");
    matched_end(&matched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_function_chooses),
        cmocka_unit_test(an_unknown_function_says_nothing),
        cmocka_unit_test(patterns_are_walked_in_the_function),
        cmocka_unit_test(symbols_and_call_sites),
        cmocka_unit_test(names_over_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
