/* SPDX-License-Identifier: Apache-2.0 */
/* test_question.c — question/question.c: however a table ends, its scratch does; one that failed
 * leaves no sheet. What is left over shows in the sanitizer build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "question/question.h"

static const struct vv_sheet_column columns[] = {
    { "value", "value", VV_CELL_INT, VV_UNIT_NONE, false, false },
};

/* A row, and memory that it does not give back; --top 1 fails after that, --top 2 before. */
static enum varve_code table(const struct vv_model *model, const struct vv_question *question,
                             struct vv_scratch *scratch, struct vv_sheet *out,
                             struct varve_error *error)
{
    int64_t *values;
    size_t row;
    (void)model;
    if (question->top == 2)
        VV_FAIL(error, VARVE_INVALID, "before the sheet began");
    vv_sheet_init(out, "table", "TABLE", columns, 1);
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &values, 1000, error));
    VV_TRY(vv_sheet_row(out, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(out, row, 0, values[999] + 7);
    if (question->top == 1)
        VV_FAIL(error, VARVE_INVALID, "after the row");
    return VARVE_OK;
}

static void a_table_that_succeeds_leaves_its_sheet(void **state)
{
    const struct vv_question all = VV_QUESTION_ALL;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    (void)state;
    assert_int_equal(vv_analyse(table, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 1);
    assert_int_equal(vv_sheet_cell(&sheet, 0, 0)->integer, 7);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void a_table_that_fails_leaves_none(void **state)
{
    static const char *const messages[] = { "after the row", "before the sheet began" };
    struct vv_model *model = handmade_model();
    (void)state;
    for (int64_t top = 1; top <= 2; top++) {
        struct vv_question question = VV_QUESTION_ALL;
        struct varve_error error;
        struct vv_sheet sheet;
        question.top = top;
        assert_int_equal(vv_analyse(table, model, &question, &sheet, &error), VARVE_INVALID);
        assert_string_equal(error.message, messages[top - 1]);
        assert_int_equal(sheet.row_count, 0);
        assert_null(sheet.cells);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_that_succeeds_leaves_its_sheet),
        cmocka_unit_test(a_table_that_fails_leaves_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
