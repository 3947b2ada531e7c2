/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "blocks" and "block_positions": blocks in blocks, the steps chosen, the rows cut off,
 * nothing there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "handmade.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

/* Four steps of 200: data [0,10), then three layers of conv 20 and relu 10, then sgd [150,160). */
static struct vv_model *layered(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    for (int64_t step = 0; step < 4; step++) {
        int64_t at = step * 200;
        handmade_step(model, track, step, at, at + 200);
        handmade_op(model, track, "data", at, at + 10);
        for (int64_t layer = 0; layer < 3; layer++) {
            handmade_op(model, track, "conv", at + 20 + 40 * layer, at + 40 + 40 * layer);
            handmade_op(model, track, "inner", at + 25 + 40 * layer, at + 35 + 40 * layer);
            handmade_op(model, track, "relu", at + 45 + 40 * layer, at + 55 + 40 * layer);
        }
        handmade_op(model, track, "sgd", at + 150, at + 160);
    }
    handmade_finish(model);
    return model;
}

static void layers_lie_in_steps(void **state)
{
    (void)state;
    struct vv_model *model = layered();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_blocks, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 4);
    assert_int_equal(sheet_int_of(&sheet, 0, "period"), 8);
    assert_int_equal(sheet_int_of(&sheet, 0, "times"), 4);
    assert_int_equal(sheet_int_of(&sheet, 0, "total_ns"), 440);
    assert_int_equal(sheet_int_of(&sheet, 0, "mean_ns"), 110);
    assert_int_equal(sheet_int_of(&sheet, 0, "mean_span_ns"), 160);
    assert_int_equal(sheet_int_of(&sheet, 1, "inside"), 0);
    assert_int_equal(sheet_int_of(&sheet, 1, "start"), 1);
    assert_int_equal(sheet_int_of(&sheet, 1, "period"), 2);
    assert_int_equal(sheet_int_of(&sheet, 1, "times"), 3);
    assert_int_equal(sheet_int_of(&sheet, 1, "all_times"), 12);
    assert_int_equal(sheet_int_of(&sheet, 1, "total_ns"), 360);
    assert_int_equal(sheet_int_of(&sheet, 1, "deviation_ns"), 0);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "rest"), "total_ns"), 0);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "total_ns"), 440);
    vv_sheet_deinit(&sheet);

    assert_int_equal(vv_analyse(vv_analyse_block_positions, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 10);
    assert_string_equal(sheet_cell_of(&sheet, 8, "name")->text, "conv");
    assert_int_equal(sheet_int_of(&sheet, 8, "calls"), 12);
    assert_int_equal(sheet_int_of(&sheet, 8, "total_ns"), 240);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void a_step_alone_has_its_layers(void **state)
{
    (void)state;
    struct vv_model *model = layered();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    question.selection.first_step = question.selection.last_step = 2;
    assert_int_equal(vv_analyse(vv_analyse_blocks, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 3);
    assert_int_equal(sheet_int_of(&sheet, 0, "period"), 2);
    assert_int_equal(sheet_int_of(&sheet, 0, "total_ns"), 90);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "rest"), "total_ns"), 20);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Two repeats side by side: with --top 1 the longer one is shown. */
static void the_largest_are_shown(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    uint32_t track = handmade_track(model, "train", 100);
    for (int64_t i = 0; i < 4; i++)
        handmade_op(model, track, "small", 10 * i, 10 * i + 1);
    for (int64_t i = 0; i < 3; i++)
        handmade_op(model, track, "large", 100 + 10 * i, 109 + 10 * i);
    handmade_finish(model);
    question.top = 1;
    assert_int_equal(vv_analyse(vv_analyse_blocks, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 4);
    assert_string_equal(sheet_cell_of(&sheet, 0, "name")->text, "large");
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "more"), "total_ns"), 4);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void nothing_is_said_so(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    handmade_finish(model);
    assert_int_equal(vv_analyse(vv_analyse_blocks, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 0);
    assert_string_equal(sheet.policy, "no operators and no device work to compare");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_lie_in_steps),
        cmocka_unit_test(a_step_alone_has_its_layers),
        cmocka_unit_test(the_largest_are_shown),
        cmocka_unit_test(nothing_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
