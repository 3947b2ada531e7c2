/* SPDX-License-Identifier: Apache-2.0 */
/* test_module.c — mlir/module: the forms that producers print (fuzz/corpus/mlir_module), pieces of
 * text, and texts that are no MLIR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlir_laws.h"
#include "mlir/module/module.h"
#include "sentence.h"

static const char *const forms[] = { "torch", "jax",   "tensorflow", "onnx", "iree", "generic",
                                     "plain", "cycle", "crlf" };
enum { FORMS = sizeof forms / sizeof forms[0] };

struct text {
    char *bytes;
    size_t count;
};

static struct text read_form(const char *name)
{
    char path[512];
    struct text text = { NULL, 0 };
    snprintf(path, sizeof path, VV_TESTS_FOLDER "/fuzz/corpus/mlir_module/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text.bytes = malloc(1 << 16);
    assert_non_null(text.bytes);
    text.count = fread(text.bytes, 1, 1 << 16, file);
    fclose(file);
    return text;
}

static void read_text(const char *text, struct vv_mlir_module *out_module)
{
    struct varve_error error = { 0 };
    enum varve_code code = vv_mlir_read("net.mlir", text, strlen(text), out_module, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(code, VARVE_OK);
    assert_null(mlir_flaw(out_module));
}

/* "builtin.module func.func> tf.Add scf.if> …": the names, and '>' for each level. */
static void assert_names(const struct vv_mlir_module *module, const char *expected)
{
    char text[4096] = "";
    uint32_t depths[256] = { 0 };
    for (uint32_t row = 0; row < module->op_count; row++) {
        const struct vv_mlir_op *op = &module->ops[row];
        depths[row] = op->parent == VV_MLIR_NONE ? 0 : depths[op->parent] + 1;
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%.*s%s", row > 0 ? " " : "",
                 (int)depths[row], ">>>>>>>>", vv_mlir_string(module, op->name));
    }
    assert_string_equal(text, expected);
}

static const struct vv_mlir_op *find(const struct vv_mlir_module *module, const char *name)
{
    for (uint32_t row = 0; row < module->op_count; row++)
        if (strcmp(vv_mlir_string(module, module->ops[row].name), name) == 0)
            return &module->ops[row];
    fail_msg("no %s", name);
    return NULL;
}

/* "fused MatMul: (callsite (block0 (f.py:3:4) @g.py:1:2))": '(' opens a level, '@' is a caller. */
static void assert_place(const struct vv_mlir_module *module, const struct vv_mlir_op *op,
                         const char *expected)
{
    static const char *const kinds[] = { "", "", "callsite", "fused", "unknown" };
    char text[1024] = "";
    assert_int_not_equal(op->place, VV_MLIR_NONE);
    struct vv_mlir_place place = module->places[op->place];
    for (uint32_t i = 0; i < place.part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[place.first_part + i];
        size_t length = strlen(text);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%u%s%s%s",
                                   i > 0 ? " " : "", part->depth, part->caller != 0 ? "@" : ":",
                                   kinds[part->kind], vv_mlir_string(module, part->text));
        if (part->kind == VV_MLIR_FILE)
            snprintf(text + length, sizeof text - length, ":%u:%u", part->line, part->column);
    }
    assert_string_equal(text, expected);
}

static void assert_span(const struct vv_mlir_module *module, struct vv_mlir_span span,
                        const char *expected)
{
    assert_int_equal(span.end - span.begin, strlen(expected));
    assert_memory_equal(module->text + span.begin, expected, strlen(expected));
}

static void the_forms_of_producers_are_read(void **state)
{
    static const char *const names[FORMS] = {
        [0] = "builtin.module >func.func >>torch.vtensor.literal >>torch.constant.int "
              ">>torch.constant.none >>torch.prim.ListConstruct >>torch.aten.mm >>onnx.MatMul "
              ">>torch.aten.max.dim >>func.return",
        [1] = "builtin.module >func.func >>stablehlo.constant >>stablehlo.dot_general "
              ">>stablehlo.reduce >>func.call >>stablehlo.while >>>stablehlo.constant "
              ">>>stablehlo.return >>>stablehlo.add >>>stablehlo.return >>func.return >func.func "
              ">>stablehlo.tanh >>func.return",
        [2] = "builtin.module >func.func >>tf_executor.graph >>>tf.Const >>>tf.MatMul "
              ">>>tf_executor.island >>>>tf.BiasAdd >>>>tf_executor.yield >>>tf_executor.fetch "
              ">>func.return",
        [3] = "builtin.module >func.func >>onnx.Constant >>onnx.MatMul >>func.return",
        [4] = "builtin.module >util.global >stream.executable >>stream.executable.export "
              ">>>iree_tensor_ext.dispatch.workgroup_count_from_slice >>>stream.return "
              ">>builtin.module >>>func.func >>>>util.assume.int >>>>linalg.generic "
              ">>>>>arith.addi >>>>>linalg.yield >>>>func.return >util.func "
              ">>stream.resource.try_map >>stream.cmd.execute >>>stream.cmd.dispatch "
              ">>util.return",
        [5] = "builtin.module >func.func >>tf.Add >>scf.if >>>scf.yield >>>scf.yield "
              ">>func.return",
        [6] = "builtin.module >func.func >>tosa.add >>arith.cmpi >>scf.if >>>test.op "
              ">>>test.other >>scf.index_switch >>>scf.yield >>>scf.yield >>cf.switch "
              ">>func.return",
        [7] = "x.y x.z",
        [8] = "builtin.module >a.b",
    };
    (void)state;
    for (int i = 0; i < FORMS; i++) {
        struct text text = read_form(forms[i]);
        struct vv_mlir_module module;
        struct varve_error error = { 0 };
        enum varve_code code =
            vv_mlir_read(forms[i], text.bytes, text.count, &module, &error);
        assert_string_equal(error.message, "");
        assert_int_equal(code, VARVE_OK);
        assert_null(mlir_flaw(&module));
        assert_names(&module, names[i]);
        vv_mlir_deinit(&module);
        free(text.bytes);
    }
}

/* Cut at each byte, in a block of its own: a module, or a sentence. */
static void every_form_may_be_cut(void **state)
{
    (void)state;
    for (int i = 0; i < FORMS; i++) {
        struct text text = read_form(forms[i]);
        for (size_t count = 0; count < text.count; count++) {
            struct vv_mlir_module module;
            struct varve_error error = { 0 };
            char *piece = malloc(count > 0 ? count : 1);
            assert_non_null(piece);
            memcpy(piece, text.bytes, count);
            enum varve_code code = vv_mlir_read(forms[i], piece, count, &module, &error);
            if (code == VARVE_OK)
                assert_null(mlir_flaw(&module));
            else
                sentence_must(&error, code, count);
            if (code == VARVE_OK)
                vv_mlir_deinit(&module);
            free(piece);
        }
        free(text.bytes);
    }
}

static void locations_are_lists_of_parts(void **state)
{
    (void)state;
    struct vv_mlir_module module;
    struct text text = read_form("tensorflow");
    text.bytes[text.count] = '\0';
    read_text(text.bytes, &module);
    assert_place(&module, find(&module, "tf.MatMul"),
                 "0:fused 1:MatMul: 1:callsite 2:block0/attn/MatMul 3:model.py:32:1 2@callsite "
                 "3@model.py:32:1 3@model.py:90:1");
    assert_place(&module, find(&module, "tf.BiasAdd"), "0:block0/add@__inference_f_42");
    assert_place(&module, find(&module, "tf_executor.yield"), "0:unknown");
    assert_int_equal(module.located, 4);
    vv_mlir_deinit(&module);
    free(text.bytes);

    text = read_form("jax");
    text.bytes[text.count] = '\0';
    read_text(text.bytes, &module);
    assert_place(&module, find(&module, "stablehlo.dot_general"),
                 "0:jit(f)/block0/attn/dot_general 1:callsite 2:attn 3:model.py:9:43 2@<module> "
                 "3@model.py:20:4");
    assert_place(&module, find(&module, "stablehlo.reduce"),
                 "0:reduce_sum: 1:jit(f)/reduce_sum 2:callsite 3:attn 4:model.py:9:43 "
                 "3@<module> 4@model.py:20:4");
    vv_mlir_deinit(&module);
    free(text.bytes);
}

static void an_alias_is_as_deep_as_where_it_stands(void **state)
{
    (void)state;
    struct vv_mlir_module module;
    read_text("#a = loc(callsite(\"x\" at \"f.py\":1:2))\n"
              "\"t.a\"() : () -> () loc(callsite(\"y\" at fused[#a, #a]))\n"
              "\"t.b\"() : () -> () loc(#a)\n"
              "\"t.c\"() : () -> () loc(#none)\n", &module);
    assert_place(&module, &module.ops[0],
                 "0:callsite 1:y 1@fused 2@callsite 3@x 3@f.py:1:2 2@callsite 3@x 3@f.py:1:2");
    assert_place(&module, &module.ops[1], "0:callsite 1:x 1@f.py:1:2");
    assert_place(&module, &module.ops[2], "0:unknown");
    vv_mlir_deinit(&module);
}

static void escapes_and_metadata_are_kept(void **state)
{
    (void)state;
    struct vv_mlir_module module;
    struct text text = read_form("generic");
    text.bytes[text.count] = '\0';
    read_text(text.bytes, &module);
    assert_place(&module, find(&module, "func.return"), "0:\xE4\xB8\xAD \"q\" \\");
    assert_place(&module, find(&module, "scf.if"),
                 "0:fused{varve.profile = {count = 3 : i64, total = 90 : i64}} 1:if "
                 "1:net.py:8:1");
    assert_span(&module, find(&module, "tf.Add")->attributes,
                "{device = \"\", note = \"a \\\\ \\22 b\"}");
    assert_span(&module, find(&module, "scf.if")->attributes, "{unit}");
    assert_string_equal(vv_mlir_string(&module, find(&module, "func.func")->symbol), "main");
    assert_int_equal(find(&module, "scf.if")->results, 2);
    vv_mlir_deinit(&module);
    free(text.bytes);
}

static void symbols_and_resources_are_found(void **state)
{
    (void)state;
    struct vv_mlir_module module;
    struct text text = read_form("iree");
    text.bytes[text.count] = '\0';
    read_text(text.bytes, &module);
    assert_string_equal(vv_mlir_string(&module, find(&module, "stream.cmd.dispatch")->symbol),
                        "main_dispatch_0_matmul");
    assert_string_equal(vv_mlir_string(&module, find(&module, "stream.cmd.execute")->symbol), "");
    assert_string_equal(vv_mlir_string(&module, module.ops[0].symbol), "");
    assert_int_equal(module.resources_at, module.bytes);
    vv_mlir_deinit(&module);
    free(text.bytes);

    text = read_form("onnx");
    text.bytes[text.count] = '\0';
    read_text(text.bytes, &module);
    assert_memory_equal(module.text + module.resources_at, "{-#", 3);
    vv_mlir_deinit(&module);
    free(text.bytes);
}

static void a_comment_and_blanks_end_no_operation_late(void **state)
{
    (void)state;
    struct vv_mlir_module module;
    read_text("\"a.b\"() : () -> () // why\n  \n\"a.c\"() : () -> ()  \n", &module);
    assert_span(&module, module.ops[0].text, "\"a.b\"() : () -> ()");
    assert_span(&module, module.ops[1].text, "\"a.c\"() : () -> ()");
    vv_mlir_deinit(&module);
}

static void faults_say_where_they_are(void **state)
{
    static const struct {
        const char *text, *message;
    } faults[] = {
        { "module {\n  \"a.b\"( : () -> ()\n}", "net.mlir:3:1: '}' where ')' should stand" },
        { "module {\n", "net.mlir:1:8: '{' is never closed" },
        { "\"a.b\"() {x = \"y} : () -> ()", "net.mlir:1:14: a string is never closed" },
        { "}", "net.mlir:1:1: '}' closes nothing" },
        { "%0 \"a.b\"()", "net.mlir:1:1: values without '=' and an operation" },
        { "%0 = ", "net.mlir:1:6: an operation should begin here" },
        { "{\"traceEvents\": []}", "net.mlir:1:1: an operation should begin here" },
        { "\"a.b\"() : () -> () loc(\"x\"(\"y\")", "net.mlir:1:23: '(' is never closed" },
        { "\"a.b\"() : () -> () loc(maybe)",
          "net.mlir:1:24: no kind of location that is known in a location" },
        { "\"a.b\"() : () -> () loc(\"x\" \"y\")",
          "net.mlir:1:28: text behind the end in a location" },
        { "{-# \"a\" ", "net.mlir:1:1: '{-#' is never closed" },
        { "module {\n^bb0 \"a.b\"()\n}", "net.mlir:2:1: a block's label without ':'" },
        { "#a loc(unknown)", "net.mlir:1:1: an alias without '='" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct vv_mlir_module module;
        struct varve_error error = { 0 };
        assert_int_equal(vv_mlir_read("net.mlir", faults[i].text, strlen(faults[i].text), &module,
                                      &error), VARVE_CORRUPT);
        assert_string_equal(error.message, faults[i].message);
    }
}

/* Brackets of each kind, and locations of each kind, a million deep. */
static void a_million_levels_do_no_harm(void **state)
{
    static const struct {
        const char *before, *unit, *closer, *behind;
        bool is_module;
    } towers[] = {
        { "\"a.b\"(", "(", ")", ") : () -> ()", true },
        { "\"a.b\"() {x = ", "[", "]", "} : () -> ()", true },
        { "\"a.b\"() : !t", "<<", ">>", "", true },
        { "", "\"a.b\"() ({\n", "})", "\n", true },
        { "\"a.b\"() : () -> () loc(", "fused[", "]", ")", true },
        { "\"a.b\"() : () -> () loc(\"n\"", "(\"n\"", ")", ")", true },
        { "\"a.b\"() : () -> () loc(\"n\"", "(\"n\"", "", "", false },
        { "#a = loc(\"x\")\n\"a.b\"() : () -> () loc(", "callsite(#a at ", "", "", false },
        { "", "\n\n\n", "", "", true },
        { "\"a.b\"() : () -> ()", "\n// {", "", "\n{}", true },
    };
    enum { LEVELS = 1000000 };
    (void)state;
    for (size_t i = 0; i < sizeof towers / sizeof towers[0]; i++) {
        size_t unit = strlen(towers[i].unit), closer = strlen(towers[i].closer);
        char *text = malloc(LEVELS * (unit + closer) + 256), *at = text;
        assert_non_null(text);
        at = stpcpy(at, towers[i].before);
        for (int level = 0; level < LEVELS; level++, at += unit)
            memcpy(at, towers[i].unit, unit);
        if (strncmp(towers[i].before, "\"a.b\"() : () -> () loc(", 23) == 0 &&
            towers[i].is_module && towers[i].unit[0] == 'f')
            at = stpcpy(at, "unknown");
        for (int level = 0; level < LEVELS; level++, at += closer)
            memcpy(at, towers[i].closer, closer);
        at = stpcpy(at, towers[i].behind);
        struct vv_mlir_module module;
        struct varve_error error = { 0 };
        enum varve_code code = vv_mlir_read("net.mlir", text, (size_t)(at - text), &module, &error);
        assert_int_equal(code, towers[i].is_module ? VARVE_OK : VARVE_CORRUPT);
        if (code == VARVE_OK) {
            assert_null(mlir_flaw(&module));
            vv_mlir_deinit(&module);
        }
        free(text);
    }
}

/* Each alias is twice the one before it: 2^64 parts, if they were all kept. */
static void aliases_of_aliases_end(void **state)
{
    char text[16384], *at = text;
    (void)state;
    at += sprintf(at, "\"a.b\"() : () -> () loc(#l64)\n#l0 = loc(\"x\")\n");
    for (int i = 1; i <= 64; i++)
        at += sprintf(at, "#l%d = loc(fused[#l%d, #l%d])\n", i, i - 1, i - 1);
    struct vv_mlir_module module;
    read_text(text, &module);
    assert_int_equal(module.cut_places, 1);
    assert_int_equal(module.places[0].part_count, 1024);
    vv_mlir_deinit(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_forms_of_producers_are_read),
        cmocka_unit_test(every_form_may_be_cut),
        cmocka_unit_test(locations_are_lists_of_parts),
        cmocka_unit_test(an_alias_is_as_deep_as_where_it_stands),
        cmocka_unit_test(escapes_and_metadata_are_kept),
        cmocka_unit_test(symbols_and_resources_are_found),
        cmocka_unit_test(a_comment_and_blanks_end_no_operation_late),
        cmocka_unit_test(faults_say_where_they_are),
        cmocka_unit_test(a_million_levels_do_no_harm),
        cmocka_unit_test(aliases_of_aliases_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
