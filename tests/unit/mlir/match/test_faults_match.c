/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_match.c — the n-th allocation fails, for every n, in each piece of work on a program:
 * reading it, matching it with a profile, its tables, writing it, reading it back, its hot
 * operations, its values; programs of XLA and of IREE; a profile. Each time the answer is
 * VARVE_NO_MEMORY, and nothing is held (the sanitizer build sees leaks). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "handmade.h"
#include "mlir/hot/hot.h"
#include "mlir/marks/marks.h"
#include "mlir/readback/readback.h"
#include "mlir/tables/tables.h"
#include "mlir/values/values.h"
#include "mlir/vmfb/vmfb.h"
#include "model/once.h"
#include "mlir_matched.h"

static const char text[] =
    "func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32> loc(\"varve#1:\"(#a))\n"
    "  %1 = \"tf.Conv2D\"(%0, %arg1) {onnx_node_name = \"k\"} : (tensor<4xf32>, tensor<4xf32>) ->"
    " tensor<4xf32> loc(\"n/Conv2D@f\")\n"
    "  %2 = \"tf.BiasAdd\"(%1, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"
    " loc(fused[\"n/BiasAdd\", \"b\\22\"])\n"
    "  %3 = func.call @g(%2) : (tensor<4xf32>) -> tensor<4xf32> loc(\"call\")\n"
    "  %6:2 = stablehlo.while(%x = %3, %y = %arg1) : t, t cond {\n"
    "    %7 = stablehlo.compare %x, %y : t\n    stablehlo.return %7 : t\n  } do {\n"
    "    %7 = stablehlo.add %x, %y : t\n    stablehlo.return %7, %y : t, t\n  }\n"
    "  %w = util.global.load @p.fc.weight : tensor<4xf32>\n"
    "  %4 = torch.aten.mm %3, %w : tensor<4xf32> loc(#a)\n"
    "  %5 = torch.aten.mm %4, %w : tensor<4xf32> loc(fused<{varve.profile = {count = 2 : i64,"
    " self = 80 : i64, total = 90 : i64}}>[#a])\n"
    "}\n"
    "func.func @g(%arg0: tensor<4xf32>) {\n"
    "  \"flow.dispatch\"() {entry_points = [@e0::@mm]} : () -> () loc(\"d\")\n}\n"
    "#a = loc(callsite(\"jit(f)/add\"(\"a.py\":7:3) at \"b.py\":9:0))\n";

static struct matched matched; /* the module and the records, made before allocations fail */

static void add_arguments(struct vv_mlir_record *record)
{
    struct vv_mlir_profile *profile = &matched.profile;
    assert_int_equal(vv_array_reserve(&profile->arguments, &profile->arguments_capacity, 1,
                                      sizeof *profile->arguments, NULL), VARVE_OK);
    profile->arguments[0] = (struct vv_mlir_arguments){ .near = { 3 }, .far = { 3 } };
    profile->arguments_count = 1;
    record->arguments_count = 1;
}

static void make_records(void)
{
    static const char *const names[] = { "n/BiasAdd", "n/Conv2D", "n/BiasAdd;b\"", "call/d", "k",
                                         "x/n/Conv2D", "BiasAdd" };
    matched_begin(&matched, text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        matched_record(&matched, names[i], i == 0 ? "_FusedConv2D" : "", 10)->function =
            matched_text(&matched, "f");
    for (int i = 0; i < 4; i++) {
        matched_record(&matched, "", i < 2 ? "aten::mm" : "aten::relu", 20);
        matched_frame(&matched, "a.py", 7);
        matched_frame(&matched, "b.py", 9);
    }
    matched_record(&matched, "", "aten::mm", 10)->path = matched_text(&matched, "fc");
    struct vv_mlir_record *record = matched_record(&matched, "fusion", "fusion", 30);
    record->scope = matched_text(&matched, "jit_f");
    record->op_name = matched_text(&matched, "jit(f)/add");
    add_arguments(record);
    matched_inner(&matched, "jit(f)/add", 1);
    record = matched_record(&matched, "", "", 5);
    record->symbol = matched_text(&matched, "mm");
    record->command_index = 0;
    record = matched_record(&matched, "", "", 5);
    record->file = matched_text(&matched, "a.py");
    record->line = 7;
}

/* ---- pieces of work ---- */

static enum varve_code read_it(struct varve_error *error)
{
    struct vv_mlir_module module;
    VV_TRY(vv_mlir_read("net.mlir", text, sizeof text - 1, &module, error));
    vv_mlir_deinit(&module);
    return VARVE_OK;
}

static enum varve_code match_it(struct varve_error *error)
{
    static const struct vv_mlir_match_options all = { "key", VV_MLIR_LEVEL_COUNT };
    struct vv_mlir_matches matches;
    VV_TRY(vv_mlir_match(&matched.module, &matched.profile, &all, &matches, error));
    vv_mlir_matches_deinit(&matches);
    return VARVE_OK;
}

static enum varve_code make_tables(struct varve_error *error)
{
    const struct vv_mlir_join join = { &matched.module, &matched.profile, &matched.matches };
    for (const struct vv_mlir_table_entry *entry = vv_mlir_tables; entry->name != NULL; entry++) {
        struct vv_sheet sheet;
        VV_TRY(vv_mlir_table(entry->make, &join, 1, &sheet, error));
        vv_sheet_deinit(&sheet);
    }
    return VARVE_OK;
}

static enum varve_code write_as(const char *attribute, const struct vv_mlir_mark *marks,
                                size_t count, struct varve_error *error)
{
    struct vv_mlir_write_options options = { .attribute = attribute };
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    enum varve_code code = vv_mlir_fields_choose(NULL, &options.fields, error);
    if (code == VARVE_OK)
        code = vv_mlir_write(&matched.module, marks, count, &options, out, error);
    if (code == VARVE_OK)
        code = vv_mlir_write_tags(&matched.module, out, error);
    fclose(out);
    return code;
}

static enum varve_code write_it(struct varve_error *error)
{
    struct vv_mlir_mark *marks;
    size_t count;
    VV_TRY(vv_mlir_marks_make(&matched.profile, &matched.matches, &marks, &count, error));
    enum varve_code code = write_as(NULL, marks, count, error);
    if (code == VARVE_OK)
        code = write_as(VV_MLIR_KEY, marks, count, error);
    free(marks);
    return code;
}

static enum varve_code read_back(struct varve_error *error)
{
    struct vv_sheet sheet;
    VV_TRY(vv_mlir_readback(&matched.module, VV_MLIR_KEY, 0, &sheet, error));
    vv_sheet_deinit(&sheet);
    return VARVE_OK;
}

static enum varve_code find_hot(struct varve_error *error)
{
    struct vv_mlir_hot hot;
    struct vv_sheet sheet;
    VV_TRY(vv_mlir_hot_find(&matched.module, 0.8, &hot, error));
    enum varve_code code = vv_mlir_hot_sheet(&matched.module, &hot, &sheet, error);
    if (code == VARVE_OK)
        vv_sheet_deinit(&sheet);
    vv_mlir_hot_deinit(&hot);
    VV_TRY(code);
    VV_TRY(vv_mlir_hot_match(&matched.module, &matched.profile, &matched.matches, 0.8, &hot,
                             error));
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    code = vv_mlir_hot_mark(&matched.module, &hot, out, error);
    fclose(out);
    vv_mlir_hot_deinit(&hot);
    return code;
}

static enum varve_code find_values(struct varve_error *error)
{
    struct vv_mlir_values values;
    VV_TRY(vv_mlir_values_find(&matched.module, &values, error));
    vv_mlir_values_deinit(&values);
    return VARVE_OK;
}

/* ---- other programs, and a profile ---- */

static unsigned char file_bytes[8192];

static size_t read_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, VV_TESTS_FOLDER "/fuzz/corpus/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t bytes = fread(file_bytes, 1, sizeof file_bytes, file);
    fclose(file);
    assert_true(bytes > 0);
    return bytes;
}

static enum varve_code read_hlo(struct varve_error *error)
{
    size_t bytes = read_file("hlo/every_field");
    struct vv_hlo_arguments found;
    struct vv_scratch scratch = { 0 };
    struct vv_hlo_rows rows = { 0 };
    struct vv_hlo hlo;
    VV_TRY(vv_hlo_init(&hlo, error));
    enum varve_code code = vv_hlo_add(&hlo, (struct vv_bytes){ file_bytes, bytes }, NULL, error);
    for (uint32_t row = 0; code == VARVE_OK && row < hlo.instruction_count; row++)
        code = vv_hlo_inner(&hlo, row, &rows, error);
    if (code == VARVE_OK)
        code = vv_hlo_find_arguments(&hlo, 0, &scratch, &found, error);
    free(rows.items);
    vv_scratch_deinit(&scratch);
    vv_hlo_deinit(&hlo);
    return code;
}

static enum varve_code read_vmfb(struct varve_error *error)
{
    size_t bytes = read_file("vmfb/whole");
    char *program = NULL;
    uint64_t length;
    enum varve_code code =
        vv_mlir_vmfb_text("net.vmfb", file_bytes, bytes, &program, &length, error);
    free(program);
    return code;
}

static struct vv_model *model;

static void make_model(void)
{
    model = handmade_model();
    uint32_t track = handmade_track(model, "main", 1);
    handmade_slice(model, track, "EagerLocalExecute: __inference_f_1", VARVE_LAYER_OP, 0, 400);
    for (int64_t at = 0; at < 400; at += 100) {
        handmade_slice(model, track, "blocks.0.fc", VARVE_LAYER_OP, at, at + 90);
        handmade_slice(model, track, "a/MatMul:MatMul", VARVE_LAYER_HOST, at + 1, at + 40);
        handmade_op(model, track, "aten::mm", at + 41, at + 60);
    }
    handmade_finish(model);
}

static enum varve_code make_profile(struct varve_error *error)
{
    static const struct vv_question everything = VV_QUESTION_ALL;
    struct vv_mlir_profile profile;
    vv_onces_forget(model->onces);
    VV_TRY(vv_mlir_profile_make(model, &everything, &profile, error));
    vv_mlir_profile_deinit(&profile);
    return VARVE_OK;
}

static void every_allocation_fails_once(void **state)
{
    static const struct { const char *name; enum varve_code (*run)(struct varve_error *error); }
    works[] = {
        { "read", read_it }, { "match", match_it }, { "tables", make_tables },
        { "write", write_it }, { "read back", read_back }, { "hot", find_hot },
        { "values", find_values }, { "hlo", read_hlo }, { "vmfb", read_vmfb },
        { "profile", make_profile },
    };
    (void)state;
    make_records();
    matched_run(&matched, NULL);
    make_model();
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        struct varve_error error = { 0 };
        allocation_count = 0;
        if (works[i].run(&error) != VARVE_OK)
            fail_msg("%s: %s", works[i].name, error.message);
        long total = allocation_count;
        assert_true(total > 0);
        for (long n = 0; n < total; n++) {
            allocations_left = n;
            enum varve_code code = works[i].run(&error);
            allocations_left = -1;
            if (code != VARVE_NO_MEMORY)
                fail_msg("%s, allocation %ld of %ld: code %d", works[i].name, n, total, code);
        }
    }
    vv_model_destroy(model);
    matched_end(&matched);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
