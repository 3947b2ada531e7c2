/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the critical path: all rows, or the first and what remains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "question/question.h"

/* One thread, one step of 100, three operators one behind the other, which take 50, 30 and 20. */
static void what_is_not_shown_remains(void **state)
{
    (void)state;
    size_t all = 4; /* the step itself takes nothing */
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    handmade_step(model, track, 0, 0, 100);
    handmade_op(model, track, "long", 0, 50);
    handmade_op(model, track, "middle", 50, 80);
    handmade_op(model, track, "short", 80, 100);
    handmade_finish(model);
    for (size_t top = 0; top <= all + 1; top++) {
        struct vv_question question = VV_QUESTION_ALL;
        struct vv_sheet sheet;
        question.top = (int64_t)top;
        assert_int_equal(vv_analyse(vv_analyse_critical_ops, model, &question, &sheet, NULL),
                         VARVE_OK);
        size_t count[VV_ROW_TOTAL + 1] = { 0 };
        int64_t sums_ns[VV_ROW_TOTAL + 1] = { 0 };
        for (size_t row = 0; row < sheet.row_count; row++) {
            count[sheet.kinds[row]]++;
            sums_ns[sheet.kinds[row]] += sheet_int_of(&sheet, row, "time_ns");
        }
        assert_int_equal(count[VV_ROW_PLAIN], top > 0 && top < all ? top : all);
        assert_int_equal(count[VV_ROW_REMAINDER], top > 0 && top < all);
        assert_int_equal(sums_ns[VV_ROW_PLAIN] + sums_ns[VV_ROW_REMAINDER], 100);
        assert_int_equal(sums_ns[VV_ROW_TOTAL], 100);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_not_shown_remains) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
