/* SPDX-License-Identifier: Apache-2.0 */
/* test_readback.c — mlir/readback/readback.c: which annotations there are, and what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mlir/readback/readback.h"

/* "operation source counted total" of each row. */
static void assert_table(const char *text, const char *key, int64_t top, const char *expected)
{
    static const char *const shown[] = { "operation", "source", "line", "carrier", "counted",
                                         "total_ns" };
    char found[2048] = "";
    struct vv_mlir_module module;
    struct vv_sheet sheet;
    assert_int_equal(vv_mlir_read("a", text, strlen(text), &module, NULL), VARVE_OK);
    assert_int_equal(vv_mlir_readback(&module, key, top, &sheet, NULL), VARVE_OK);
    for (size_t row = 0; row < sheet.row_count; row++) {
        for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
            size_t column = vv_sheet_find(&sheet, shown[i]), length = strlen(found);
            const struct vv_cell *cell = vv_sheet_cell(&sheet, row, column);
            const char *between = i > 0 ? " " : row > 0 ? "\n" : "";
            if (!cell->present)
                snprintf(found + length, sizeof found - length, "%s-", between);
            else if (sheet.columns[column].type == VV_CELL_TEXT)
                snprintf(found + length, sizeof found - length, "%s%s", between, cell->text);
            else
                snprintf(found + length, sizeof found - length, "%s%lld", between,
                         (long long)cell->integer);
        }
    }
    assert_string_equal(found, expected);
    vv_sheet_deinit(&sheet);
    vv_mlir_deinit(&module);
}

#define A(total, group) \
    "fused<{varve.profile = {group = " #group " : i64, members = 2 : i64, total = " #total \
    " : i64}}>"
#define MEMBER(group) "fused<{varve.profile = {group = " #group " : i64, members = 2 : i64}}>"

static void a_record_is_counted_once(void **state)
{
    (void)state;
    assert_table("\"t.mm\"() : () -> () loc(" A(70, 1) "[\"fc1\"])\n"
                 "\"t.add\"() : () -> () loc(" MEMBER(1) "[\"fc1/bias\"])\n"
                 "\"t.copy\"() : () -> () loc(" A(70, 1) "[\"fc1\"])\n"
                 "\"t.relu\"() : () -> () loc(" A(90, 2) "[\"f.py\":7:1])\n"
                 "\"t.none\"() : () -> () loc(\"x\")\n",
                 "varve.profile", 0,
                 "t.relu f.py:7 4 location yes 90\n"
                 "t.mm fc1 1 location yes 70\n"
                 "t.copy fc1 3 location no 70\n"
                 "t.add fc1/bias 2 location no -\n"
                 "total - - - - 160");
}

static void fused_operations_name_each_of_their_sources_once(void **state)
{
    (void)state;
    assert_table("\"l.loop\"() : () -> () loc(fused[" A(70, 1) "[\"MatMul:\", \"fc1\"], callsite("
                 A(90, 2) "[\"fc2\"] at " A(70, 1) "[\"fc1\"]), \"x\"])\n",
                 "varve.profile", 0,
                 "l.loop fc2 1 location yes 90\n"
                 "l.loop fc1 1 location yes 70\n"
                 "total - - - - 160");
}

static void an_annotation_hides_the_earlier_one_within(void **state)
{
    (void)state;
    assert_table("\"l.loop\"() : () -> () loc(" A(70, 1) "[" A(5, 9) "[\"fc1\"]])\n",
                 "varve.profile", 0, "l.loop fc1 1 location yes 70\ntotal - - - - 70");
}

static void attributes_are_read_by_their_name(void **state)
{
    static const char text[] =
        "\"tf.A\"() {profiler_data = {dur = 5 : i64, ts = 1 : i64}} : () -> () loc(\"a\")\n"
        "\"tf.B\"() {profiler_data = {dur = 5 : i64, ts = 1 : i64}} : () -> () loc(\"b\")\n"
        "\"tf.C\"() {profiler_data = {dur = 3 : i64}} : () -> ()\n";
    (void)state;
    assert_table(text, "profiler_data", 0,
                 "tf.A a 1 attribute yes 5\ntf.B b 2 attribute yes 5\ntf.C - 3 attribute yes 3\n"
                 "total - - - - 13");
    assert_table(text, "profiler_data", 1,
                 "tf.A a 1 attribute yes 5\n(2 more) - - - - 8\ntotal - - - - 13");
    assert_table(text, "varve.profile", 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_counted_once),
        cmocka_unit_test(fused_operations_name_each_of_their_sources_once),
        cmocka_unit_test(an_annotation_hides_the_earlier_one_within),
        cmocka_unit_test(attributes_are_read_by_their_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
