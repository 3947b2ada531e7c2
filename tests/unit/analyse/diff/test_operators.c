/* SPDX-License-Identifier: Apache-2.0 */
/* Table "diff_operators": contributions add up to the change of the step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "analyse/diff/diff.h"

enum { STEPS = 8 };

/* Steps up to an anchor, so that no range stands for them: conv of that length, then nothing for so
 * long. */
static struct vv_model *anchored(int64_t conv_ns, int64_t idle_ns)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    for (int64_t i = 0, at = 0; i < STEPS; i++, at += conv_ns + idle_ns + 20) {
        handmade_op(model, track, "conv", at, at + conv_ns);
        handmade_op(model, track, "Optimizer.step#SGD.step", at + conv_ns + idle_ns,
                    at + conv_ns + idle_ns + 20);
    }
    handmade_finish(model);
    assert_int_equal(model->steps.table.count, STEPS);
    return model;
}

static void time_outside_all_ranges_is_a_contribution(void **state)
{
    (void)state;
    const struct vv_side sides[VV_SIDES] = { { anchored(100, 30), VV_SELECTION_ALL, "base" },
                                             { anchored(110, 75), VV_SELECTION_ALL, "new" } };
    const struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    struct varve_error error;
    if (vv_diff(vv_diff_operators, sides, &question, &sheet, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    int64_t sum_ns = 0, total_ns = 0;
    for (size_t row = 0; row < sheet.row_count; row++)
        *(sheet.kinds[row] == VV_ROW_TOTAL ? &total_ns : &sum_ns) +=
            sheet_int_of(&sheet, row, "change_ns");
    assert_int_equal(total_ns, 55);
    assert_int_equal(sum_ns, 55);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "conv"), "change_ns"), 10);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "conv"), "base_self_ns"),
                     100);
    /* no step differs from another of its side */
    size_t itself = sheet_row_of(&sheet, "name", "(the step itself)");
    assert_int_equal(sheet_int_of(&sheet, itself, "change_ns"), 45);
    assert_int_equal(sheet_int_of(&sheet, itself, "low_ns"), 45);
    assert_int_equal(sheet_int_of(&sheet, itself, "high_ns"), 45);
    vv_sheet_deinit(&sheet);
    for (int i = 0; i < VV_SIDES; i++)
        vv_model_destroy((struct vv_model *)sides[i].model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        time_outside_all_ranges_is_a_contribution) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
