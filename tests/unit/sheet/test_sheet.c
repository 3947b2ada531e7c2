/* SPDX-License-Identifier: Apache-2.0 */
/* A sheet keeps what is put into it, however many rows come after. */
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sheet/sheet.h"

static const struct vv_sheet_column columns[] = {
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, true },
};

static void new_rows_are_empty(void **state)
{
    (void)state;
    struct vv_sheet sheet;
    size_t row = 9;
    vv_sheet_init(&sheet, "operators", "OPERATORS", columns, 3);
    assert_int_equal(vv_sheet_row(&sheet, VV_ROW_TOTAL, &row, NULL), VARVE_OK);
    assert_int_equal(row, 0);
    assert_int_equal(sheet.kinds[0], VV_ROW_TOTAL);
    for (size_t column = 0; column < 3; column++)
        assert_false(vv_sheet_cell(&sheet, 0, column)->present);
    vv_sheet_deinit(&sheet);
}

static void a_thousand_rows_stay_as_they_were(void **state)
{
    (void)state;
    struct vv_sheet sheet;
    char text[20];
    size_t row;
    vv_sheet_init(&sheet, "operators", "OPERATORS", columns, 3);
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "row %d", i);
        assert_int_equal(vv_sheet_row(&sheet, VV_ROW_PLAIN, &row, NULL), VARVE_OK);
        assert_int_equal(vv_sheet_text(&sheet, row, 0, text, NULL), VARVE_OK);
        vv_sheet_int(&sheet, row, 1, i);
        vv_sheet_real(&sheet, row, 2, i / 1000.0);
    }
    assert_int_equal(sheet.row_count, 1000);
    for (size_t i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "row %zu", i);
        assert_string_equal(vv_sheet_cell(&sheet, i, 0)->text, text);
        assert_int_equal(vv_sheet_cell(&sheet, i, 1)->integer, i);
        assert_true(vv_sheet_cell(&sheet, i, 2)->real == (double)i / 1000.0);
    }
    vv_sheet_deinit(&sheet);
}

static void columns_are_found_by_name(void **state)
{
    (void)state;
    struct vv_sheet sheet;
    vv_sheet_init(&sheet, "operators", "OPERATORS", columns, 3);
    assert_int_equal(vv_sheet_find(&sheet, "share"), 2);
    assert_true(vv_sheet_find(&sheet, "self") == SIZE_MAX);
    vv_sheet_deinit(&sheet);
}

static void a_policy_is_kept_and_replaced(void **state)
{
    (void)state;
    struct vv_sheet sheet;
    vv_sheet_init(&sheet, "operators", "OPERATORS", columns, 3);
    assert_null(sheet.policy);
    assert_int_equal(vv_sheet_policy(&sheet, NULL, "%d steps", 17), VARVE_OK);
    assert_string_equal(sheet.policy, "17 steps");
    assert_int_equal(vv_sheet_policy(&sheet, NULL, "all"), VARVE_OK);
    assert_string_equal(sheet.policy, "all");
    vv_sheet_deinit(&sheet);
    vv_sheet_deinit(&sheet);
    vv_sheet_deinit(NULL);
}

static void units_are_called_as_documented(void **state)
{
    (void)state;
    static const char *const names[] = { "", "count", "ns", "ns", "bytes", "1", "count", "flop/s",
                                         "bytes/s" };
    for (int unit = VV_UNIT_NONE; unit <= VV_UNIT_BYTES_PER_S; unit++)
        assert_string_equal(vv_unit_name((enum vv_unit)unit), names[unit]);
}

/* A hidden column is shown where it tells rows apart, and stays hidden in the static columns. */
static void a_column_that_varies_is_shown(void **state)
{
    (void)state;
    static const struct vv_sheet_column hidden[] = {
        { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    };
    static const int64_t ranks[] = { 3, 3, 4 };
    struct vv_sheet sheet;
    size_t row;
    vv_sheet_init(&sheet, "devices", "DEVICES", hidden, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vv_sheet_row(&sheet, VV_ROW_PLAIN, &row, NULL), VARVE_OK);
        vv_sheet_int(&sheet, row, 0, ranks[i]);
        assert_int_equal(vv_sheet_row(&sheet, VV_ROW_TOTAL, &row, NULL), VARVE_OK);
        assert_int_equal(vv_sheet_show_varied(&sheet, "rank", NULL), VARVE_OK);
        assert_int_equal(vv_sheet_show_varied(&sheet, "none", NULL), VARVE_OK);
        assert_int_equal(sheet.columns[0].hidden, i < 2);
    }
    assert_true(hidden[0].hidden);
    vv_sheet_deinit(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_rows_are_empty),
        cmocka_unit_test(a_thousand_rows_stay_as_they_were),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(a_policy_is_kept_and_replaced),
        cmocka_unit_test(units_are_called_as_documented),
        cmocka_unit_test(a_column_that_varies_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
