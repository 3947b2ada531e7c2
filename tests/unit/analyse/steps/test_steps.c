/* SPDX-License-Identifier: Apache-2.0 */
/* Tables "steps", "step_phases", "step" and "phases", and how steps are chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "handmade.h"
#include "question/question.h"

static const struct vv_question all = VV_QUESTION_ALL;

/* Step 0 [0,100): data [0,20), forward [20,70) holding an inner phase [30,40), data again [80,90);
 *   conv [25,60). Step 1 [100,150): forward [110,200) sticks out. */
static struct vv_model *training(void)
{
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    handmade_step(model, track, 0, 0, 100);
    handmade_phase(model, track, "data", 0, 20);
    handmade_phase(model, track, "forward", 20, 70);
    handmade_op(model, track, "conv", 25, 60);
    handmade_phase(model, track, "inner", 30, 40);
    handmade_phase(model, track, "data", 80, 90);
    uint32_t step = handmade_step(model, track, 1, 100, 150);
    uint32_t sticking = handmade_phase(model, track, "forward", 110, 200);
    handmade_finish(model);
    (void)step;
    (void)sticking;
    return model;
}

static void phases_split_the_steps(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_phases, model, &all, &sheet, NULL), VARVE_OK);
    size_t forward = sheet_row_of(&sheet, "phase", "forward"),
           data = sheet_row_of(&sheet, "phase", "data");
    assert_int_equal(sheet_row_of(&sheet, "phase", "inner"), SIZE_MAX);
    assert_int_equal(sheet_int_of(&sheet, data, "total_ns"), 30);
    assert_int_equal(sheet_int_of(&sheet, data, "steps"), 1);
    assert_int_equal(sheet_int_of(&sheet, forward, "steps"), 1);
    assert_int_equal(sheet_int_of(&sheet, forward, "total_ns"), 50);
    int64_t sum = 0;
    for (size_t row = 0; row < sheet.row_count; row++) {
        if (sheet.kinds[row] != VV_ROW_TOTAL)
            sum += sheet_int_of(&sheet, row, "total_ns");
    }
    assert_int_equal(sum, 150);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "total_ns"), 150);
    assert_string_equal(sheet.policy,
                        "2 steps on train, 150 ns; median 75 ns, p10 55 ns, p90 95 ns, "
                        "longest 100 ns (step 0)");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void each_step_adds_up(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_steps, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 2);
    assert_int_equal(sheet_int_of(&sheet, 0, "step"), 0);
    assert_int_equal(sheet_int_of(&sheet, 0, "begin_ns"), HANDMADE_BEGIN_NS);
    assert_int_equal(sheet_int_of(&sheet, 0, "duration_ns"), 100);
    assert_int_equal(sheet_int_of(&sheet, 0, "in_data_ns"), 30);
    assert_int_equal(sheet_int_of(&sheet, 0, "in_forward_ns"), 50);
    assert_int_equal(sheet_int_of(&sheet, 0, "other_ns"), 20);
    assert_int_equal(sheet_int_of(&sheet, 0, "operator_calls"), 1);
    assert_int_equal(sheet_int_of(&sheet, 0, "self_ns"), 100 - 25);
    assert_int_equal(sheet_int_of(&sheet, 1, "at_ns"), 100);
    assert_int_equal(sheet_int_of(&sheet, 1, "other_ns"), 50);
    assert_false(sheet_cell_of(&sheet, 1, "in_data_ns")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void step_phases_add_up_and_are_hidden(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_sheet sheet;
    int64_t sums[2] = { 0, 0 };
    assert_int_equal(vv_analyse(vv_analyse_step_phases, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 4);
    for (size_t row = 0; row < sheet.row_count; row++)
        sums[sheet_int_of(&sheet, row, "step")] += sheet_int_of(&sheet, row, "duration_ns");
    assert_int_equal(sums[0], 100);
    assert_int_equal(sums[1], 50);
    for (size_t c = 0; c < sheet.column_count; c++)
        assert_true(sheet.columns[c].hidden);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void the_summary_of_a_selection(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_sheet sheet;
    assert_int_equal(vv_selection_steps(&question.selection, "1..", NULL), VARVE_OK);
    assert_int_equal(vv_analyse(vv_analyse_step, model, &question, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "steps"), 1);
    assert_int_equal(sheet_int_of(&sheet, 0, "total_ns"), 50);
    assert_int_equal(sheet_int_of(&sheet, 0, "median_ns"), 50);
    assert_int_equal(sheet_int_of(&sheet, 0, "longest_step"), 1);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void more_phases_than_columns_still_add_up(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "train", 100);
    handmade_step(model, track, 0, 0, 1000);
    for (int64_t i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "phase %d", (int)i);
        handmade_phase(model, track, name, i * 50, i * 50 + 10 + i);
    }
    handmade_finish(model);
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_steps, model, &all, &sheet, NULL), VARVE_OK);
    int64_t sum = sheet_int_of(&sheet, 0, "other_ns");
    size_t shown = 0;
    for (size_t c = 0; c < sheet.column_count; c++) {
        if (strncmp(sheet.columns[c].name, "in_", 3) == 0) {
            sum += vv_sheet_cell(&sheet, 0, c)->integer;
            shown++;
        }
    }
    assert_int_equal(shown, 8);
    assert_int_equal(sum, 1000);
    assert_int_equal(sheet_int_of(&sheet, 0, "in_phase 19_ns"), 29);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void no_steps_is_an_answer(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    handmade_op(model, handmade_track(model, "main", 100), "conv", 0, 10);
    handmade_finish(model);
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_steps, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 0);
    assert_string_equal(sheet.policy,
                        "no steps recorded: mark them with varve_step_begin, in Python varve.step; "
                        "--step-by NAME takes ranges for them");
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_analyse(vv_analyse_phases, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, 0);
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_analyse(vv_analyse_step, model, &all, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet_int_of(&sheet, 0, "steps"), 0);
    assert_false(sheet_cell_of(&sheet, 0, "median_ns")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void ranges_of_steps_are_parsed(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t first, last;
    } good[] = {
        { NULL, INT64_MIN, INT64_MAX }, { "3", 3, 3 },           { "3..5", 3, 5 },
        { "3..", 3, INT64_MAX },        { "..5", INT64_MIN, 5 }, { "-4..-2", -4, -2 },
    };
    static const char *const bad[] = { "",     "..",    "a",     "3-5",
                                       "5..3", "3...5", "3..5x", "99999999999999999999" };
    struct vv_selection selection = VV_SELECTION_ALL;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(vv_selection_steps(&selection, good[i].text, NULL), VARVE_OK);
        assert_true(selection.first_step == good[i].first && selection.last_step == good[i].last);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(vv_selection_steps(&selection, bad[i], NULL), VARVE_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_split_the_steps),
        cmocka_unit_test(each_step_adds_up),
        cmocka_unit_test(step_phases_add_up_and_are_hidden),
        cmocka_unit_test(the_summary_of_a_selection),
        cmocka_unit_test(more_phases_than_columns_still_add_up),
        cmocka_unit_test(no_steps_is_an_answer),
        cmocka_unit_test(ranges_of_steps_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
