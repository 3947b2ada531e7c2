/* SPDX-License-Identifier: Apache-2.0 */
/* test_write.c — mlir/write: annotations and tags in locations and attributes, over the forms of
 * producers (fuzz/corpus/mlir_module) and small texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir_writing.h"

static char *write_text(const char *text, enum mlir_writing how)
{
    size_t bytes;
    return mlir_written(text, strlen(text), how, &bytes);
}

static void assert_written(const char *text, enum mlir_writing how, const char *expected)
{
    char *written = write_text(text, how), *again = write_text(written, how);
    assert_string_equal(written, expected);
    assert_string_equal(again, expected); /* twice is once */
    free(written);
    free(again);
}

#define P(count, total) "varve.profile = \"count=" #count ", total=" #total "\""
#define A(count, total) "varve.profile = {count = " #count " : i64, total = " #total " : i64}"

static void locations_keep_what_they_say(void **state)
{
    (void)state;
    /* an alias, a name, a file, nothing */
    assert_written("\"a.b\"() : () -> () loc(#loc7)\n"
                   "\"a.c\"() : () -> () loc(\"n\"(\"f.py\":1:2))\n"
                   "\"a.d\"() : () -> ()\n#loc7 = loc(\"x\")\n", MLIR_ALL,
                   "\"a.b\"() : () -> () loc(#varve1)\n\"a.c\"() : () -> () loc(#varve2)\n"
                   "\"a.d\"() : () -> () loc(#varve3)\n#loc7 = loc(\"x\")\n"
                   "#varve1 = loc(fused<{" P(0, 0) "}>[#loc7])\n"
                   "#varve2 = loc(fused<{" P(1, 10) "}>[\"n\"(\"f.py\":1:2)])\n"
                   "#varve3 = loc(fused<{" P(2, 20) "}>[unknown])\n");
    /* fused ones: bare, of an alias, with a dictionary, with another attribute */
    assert_written("\"a.b\"() : () -> () loc(fused[\"x\", \"y\"])\n"
                   "\"a.c\"() : () -> () loc(#loc)\n"
                   "\"a.d\"() : () -> () loc(fused<{z = [1, 2]}>[\"x\"])\n"
                   "\"a.e\"() : () -> () loc(fused<\"z\">[\"x\"])\n"
                   "#loc = loc(fused[\"p\", \"q\"])\n",
                   MLIR_ALL,
                   "\"a.b\"() : () -> () loc(#varve1)\n\"a.c\"() : () -> () loc(#varve2)\n"
                   "\"a.d\"() : () -> () loc(#varve3)\n\"a.e\"() : () -> () loc(#varve4)\n"
                   "#loc = loc(fused[\"p\", \"q\"])\n"
                   "#varve1 = loc(fused<{" P(0, 0) "}>[\"x\", \"y\"])\n"
                   "#varve2 = loc(fused<{" P(1, 10) "}>[\"p\", \"q\"])\n"
                   "#varve3 = loc(fused<{z = [1, 2], " P(2, 20) "}>[\"x\"])\n"
                   "#varve4 = loc(fused<{" P(3, 30) "}>[fused<\"z\">[\"x\"]])\n");
}

static void what_says_the_same_at_the_same_place_has_one_alias(void **state)
{
    (void)state;
    static const char text[] = "\"a.b\"() : () -> () loc(#l)\n\"a.c\"() : () -> () loc(#l)\n"
                               "\"a.d\"() : () -> () loc(#l)\n\"a.e\"() : () -> () loc(#m)\n"
                               "#l = loc(\"x\")\n#m = loc(\"x\")\n";
    static const int64_t groups[] = { 4, 4, 5, 5 };
    struct vv_mlir_module module;
    struct vv_mlir_mark marks[4] = { { .op = 0 } };
    struct vv_mlir_write_options options = { .attribute = NULL };
    char *written = NULL;
    size_t bytes;
    FILE *out = open_memstream(&written, &bytes);
    assert_int_equal(vv_mlir_read("net.mlir", text, sizeof text - 1, &module, NULL), VARVE_OK);
    assert_int_equal(vv_mlir_fields_choose(NULL, &options.fields, NULL), VARVE_OK);
    for (uint32_t row = 0; row < 4; row++) {
        marks[row].op = row;
        vv_mlir_set(&marks[row].annotation, VV_MLIR_FIELD_group, groups[row]);
    }
    assert_int_equal(vv_mlir_write(&module, marks, 4, &options, out, NULL), VARVE_OK);
    fclose(out);
    assert_string_equal(written,
                        "\"a.b\"() : () -> () loc(#varve1)\n\"a.c\"() : () -> () loc(#varve1)\n"
                        "\"a.d\"() : () -> () loc(#varve2)\n\"a.e\"() : () -> () loc(#varve3)\n"
                        "#l = loc(\"x\")\n#m = loc(\"x\")\n"
                        "#varve1 = loc(fused<{varve.profile = \"group=4\"}>[#l])\n"
                        "#varve2 = loc(fused<{varve.profile = \"group=5\"}>[#l])\n"
                        "#varve3 = loc(fused<{varve.profile = \"group=5\"}>[#m])\n");
    free(written);
    vv_mlir_deinit(&module);
}

static void aliases_stand_before_resources(void **state)
{
    (void)state;
    assert_written("\"a.b\"() : () -> () loc(\"x\")\n\n{-# a: \"0x00#-}\" #-}\n", MLIR_ALL,
                   "\"a.b\"() : () -> () loc(#varve1)\n\n"
                   "#varve1 = loc(fused<{" P(0, 0) "}>[\"x\"])\n{-# a: \"0x00#-}\" #-}\n");
    assert_written("\"a.b\"() : () -> () loc(\"x\")", MLIR_ALL,
                   "\"a.b\"() : () -> () loc(#varve1)\n"
                   "#varve1 = loc(fused<{" P(0, 0) "}>[\"x\"])\n");
}

static void what_another_tool_made_of_it_is_replaced(void **state)
{
    (void)state;
    assert_written("\"a.b\"() : () -> () loc(#loc3)\n#loc = loc(\"x\")\n"
                   "#loc3 = loc(fused<{varve.profile = {total = 7 : i64}}>[#loc])\n", MLIR_ALL,
                   "\"a.b\"() : () -> () loc(#varve1)\n#loc = loc(\"x\")\n"
                   "#loc3 = loc(fused<{varve.profile = {total = 7 : i64}}>[#loc])\n"
                   "#varve1 = loc(fused<{" P(0, 0) "}>[#loc])\n");
    assert_written("\"a.b\"() : () -> () "
                   "loc(fused<{varve.profile = {total = 7 : i64}, z}>[\"x\"])\n",
                   MLIR_BARE, "\"a.b\"() : () -> () loc(fused<{z}>[\"x\"])\n");
    assert_written("\"a.b\"() : () -> () loc(#l)\n#m = loc(\"m\")\n"
                   "#l = loc(fused<{varve.profile = {total = 7 : i64}}>[#m, #m])\n", MLIR_BARE,
                   "\"a.b\"() : () -> () loc(#varve1)\n#m = loc(\"m\")\n"
                   "#l = loc(fused<{varve.profile = {total = 7 : i64}}>[#m, #m])\n"
                   "#varve1 = loc(fused[#m, #m])\n");
    /* somebody else names an alias of ours: it stays */
    assert_written("\"a.b\"() : () -> () loc(#varve4)\n\"a.c\"(%a : i32 loc(#varve4)) : () -> ()\n"
                   "#varve4 = loc(fused<{varve.profile = {total = 7 : i64}}>[\"x\"])\n", MLIR_BARE,
                   "\"a.b\"() : () -> () loc(\"x\")\n\"a.c\"(%a : i32 loc(#varve4)) : () -> ()\n"
                   "#varve4 = loc(fused<{varve.profile = {total = 7 : i64}}>[\"x\"])\n");
}

static void tags_are_names_that_end_with_a_colon(void **state)
{
    (void)state;
    assert_written("\"a.b\"() : () -> () loc(\"x\"(#l))\n\"a.c\"() : () -> () loc(unknown)\n"
                   "\"a.d\"() : () -> ()\n\"a.e\"() : () -> () loc(\"f.py\":1:2)\n"
                   "#l = loc(\"y\")\n",
                   MLIR_TAGS,
                   "\"a.b\"() : () -> () loc(#varve1)\n"
                   "\"a.c\"() : () -> () loc(\"varve#1:\"(unknown))\n"
                   "\"a.d\"() : () -> () loc(\"varve#2:\")\n"
                   "\"a.e\"() : () -> () loc(\"varve#3:\"(\"f.py\":1:2))\n#l = loc(\"y\")\n"
                   "#varve1 = loc(\"varve#0:\"(\"x\"(#l)))\n");
    /* an annotation around a tag, either first */
    const char *both = "\"a.b\"() : () -> () loc(#varve1)\n"
                       "#varve1 = loc(fused<{" P(0, 0) "}>[\"varve#0:\"(\"x\")])\n";
    char *tagged = write_text("\"a.b\"() : () -> () loc(\"x\")\n", MLIR_TAGS);
    assert_written(tagged, MLIR_ALL, both);
    free(tagged);
    char *annotated = write_text("\"a.b\"() : () -> () loc(\"x\")\n", MLIR_ALL);
    assert_written(annotated, MLIR_TAGS,
                   "\"a.b\"() : () -> () loc(fused<{" P(0, 0) "}>[\"varve#0:\"(\"x\")])\n");
    free(annotated);
}

static void attributes_go_into_dictionaries(void **state)
{
    (void)state;
    assert_written("\"a.b\"() : () -> ()\n\"a.c\"() <{p}> {q = 1} : () -> () loc(\"x\")\n"
                   "\"a.d\"() {} : () -> ()\n", MLIR_ATTRIBUTES,
                   "\"a.b\"() {" A(0, 0) "} : () -> ()\n"
                   "\"a.c\"() <{p}> {q = 1, " A(1, 10) "} : () -> () loc(\"x\")\n"
                   "\"a.d\"() {" A(2, 20) "} : () -> ()\n");
    assert_written("module {\n  func.func @f(%a: i32) attributes {b} {\n"
                   "    linalg.matmul ins(%a : i32) outs(%a : i32) -> i32\n"
                   "    %0 = torch.mm %a, %a : i32, i32 -> i32\n"
                   "    scf.for %i = %a to %a {\n    } loc(\"x\")\n  }\n}\n", MLIR_ATTRIBUTES,
                   "module attributes {" A(0, 0) "} {\n  func.func @f(%a: i32) attributes {b, "
                   A(1, 10) "} {\n    linalg.matmul {" A(2, 20) "} ins(%a : i32)"
                   " outs(%a : i32) -> i32\n    %0 = torch.mm %a, %a {" A(3, 30)
                   "} : i32, i32 -> i32\n    scf.for %i = %a to %a {\n    } {" A(4, 40)
                   "} loc(\"x\")\n  }\n}\n");
}

/* Where iree-opt 3.13 reads them. */
static void attributes_of_iree_s_own_forms(void **state)
{
    (void)state;
    static const struct { const char *text, *said; } cases[] = {
        { "util.global private @d = #t : !hal.device\n",
          "util.global private @d {V} = #t : !hal.device\n" },
        { "%0 = util.global.load @d : !hal.device\n",
          "%0 = util.global.load @d {V} : !hal.device\n" },
        { "%0 = hal.fence.create device(%d : !hal.device) flags(\"None\") : !hal.fence\n",
          "%0 = hal.fence.create device(%d : !hal.device) flags(\"None\") : !hal.fence"
          " attributes {V}\n" },
        { "%0 = hal.element_type<f32> : i32\n", "%0 = hal.element_type<f32> {V} : i32\n" },
        { "cf.br ^bb1(%0 : index)\n", "cf.br ^bb1(%0 : index) {V}\n" },
        { "%0, %1 = stream.resource.alloca uninitialized : !s{%c} => !t\n",
          "%0, %1 = stream.resource.alloca uninitialized : {V} !s{%c} => !t\n" },
        { "%0 = hal.tensor.import %a : !hal.buffer_view -> tensor<8xf32>\n",
          "%0 = hal.tensor.import %a : !hal.buffer_view -> tensor<8xf32>\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[400];
        const char *mark = strstr(cases[i].said, "{V}");
        if (mark == NULL)
            snprintf(expected, sizeof expected, "%s", cases[i].said);
        else
            snprintf(expected, sizeof expected, "%.*s{" A(0, 0) "}%s", (int)(mark - cases[i].said),
                     cases[i].said, mark + 3);
        assert_written(cases[i].text, MLIR_ATTRIBUTES, expected);
        char *written = write_text(cases[i].text, MLIR_ATTRIBUTES);
        char *bare = write_text(written, MLIR_BARE_ATTRIBUTES);
        assert_string_equal(bare, cases[i].text);
        free(written);
        free(bare);
    }
}


static void every_form_is_written_and_goes_back(void **state)
{
    static const char *const forms[] = { "torch", "jax", "tensorflow", "onnx", "iree", "plain" };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char path[512], *text = calloc(1, 1 << 16);
        snprintf(path, sizeof path, VV_TESTS_FOLDER "/fuzz/corpus/mlir_module/%s", forms[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_non_null(text);
        assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
        fclose(file);
        char *attributes = write_text(text, MLIR_ATTRIBUTES);
        char *bare = write_text(attributes, MLIR_BARE_ATTRIBUTES);
        assert_string_equal(bare, text);
        free(attributes);
        free(bare);
        char *all = write_text(text, MLIR_ALL), *odd = write_text(text, MLIR_ODD);
        char *less = write_text(all, MLIR_ODD), *more = write_text(odd, MLIR_ALL);
        assert_string_equal(more, all);
        if (strcmp(forms[i], "plain") != 0 && strcmp(forms[i], "jax") != 0 &&
            strcmp(forms[i], "tensorflow") != 0)
            assert_string_equal(less, odd);
        free(all);
        free(odd);
        free(less);
        free(more);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locations_keep_what_they_say),
        cmocka_unit_test(what_says_the_same_at_the_same_place_has_one_alias),
        cmocka_unit_test(aliases_stand_before_resources),
        cmocka_unit_test(what_another_tool_made_of_it_is_replaced),
        cmocka_unit_test(tags_are_names_that_end_with_a_colon),
        cmocka_unit_test(attributes_go_into_dictionaries),
        cmocka_unit_test(attributes_of_iree_s_own_forms),
        cmocka_unit_test(every_form_is_written_and_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
