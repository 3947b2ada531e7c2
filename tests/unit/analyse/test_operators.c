/* SPDX-License-Identifier: Apache-2.0 */
/* Table "operators" on models with known answers (doc/metrics.md). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/analyse.h"
#include "../../support/handmade.h"

/* Two steps on "train" with phases; "load" on another thread; one "conv" before the steps.
 *   step 0 [100,200): forward [110,160) with conv [110,150) holding gemm [120,140); relu [165,175)
 *   step 1 [200,260): conv [210,240) */
static struct vv_model *training(void)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100),
             loader = handmade_track(model, "loader", 101);
    handmade_op(model, train, "conv", 10, 30);
    handmade_step(model, train, 0, 100, 200);
    handmade_phase(model, train, "forward", 110, 160);
    uint32_t conv = handmade_op(model, train, "conv", 110, 150);
    handmade_op(model, train, "gemm", 120, 140);
    handmade_op(model, train, "relu", 165, 175);
    handmade_step(model, train, 1, 200, 260);
    handmade_op(model, train, "conv", 210, 240);
    handmade_op(model, loader, "load", 50, 90);
    handmade_op(model, loader, "load", 120, 190);
    handmade_arguments(model, conv, 4000, -1, 0);
    handmade_finish(model);
    return model;
}

static void analyse(const struct vv_model *model, struct vv_question question,
                    struct vv_sheet *out)
{
    struct varve_error error = { 0 };
    if (vv_analyse_operators(model, &question, out, &error) != VARVE_OK)
        fail_msg("%s", error.message);
}

static const struct vv_question everything = VV_QUESTION_ALL;

static void whole_trace_and_steps_side_by_side(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_sheet sheet;
    analyse(model, everything, &sheet);
    size_t conv = sheet_row_of(&sheet, "name", "conv"), load = sheet_row_of(&sheet, "name", "load");
    assert_int_equal(sheet_int_of(&sheet, conv, "calls"), 3);
    assert_int_equal(sheet_int_of(&sheet, conv, "total_ns"), 20 + 40 + 30);
    assert_int_equal(sheet_int_of(&sheet, conv, "self_ns"), 20 + 20 + 30);
    assert_int_equal(sheet_int_of(&sheet, conv, "step_calls"), 2);
    assert_int_equal(sheet_int_of(&sheet, conv, "step_total_ns"), 70);
    assert_int_equal(sheet_int_of(&sheet, conv, "step_self_ns"), 50);
    assert_int_equal(sheet_int_of(&sheet, conv, "median_ns"), 30);
    assert_int_equal(sheet_int_of(&sheet, conv, "step_median_ns"), 35);
    assert_int_equal(sheet_int_of(&sheet, conv, "min_ns"), 20);
    assert_int_equal(sheet_int_of(&sheet, conv, "max_ns"), 40);
    assert_int_equal(sheet_int_of(&sheet, load, "calls"), 2);
    assert_int_equal(sheet_int_of(&sheet, load, "step_calls"), 0);
    assert_false(sheet_cell_of(&sheet, load, "step_median_ns")->present);
    assert_string_equal(sheet.policy,
                        "2 steps on train, 160 ns; 1 more thread recorded: --by thread");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void flop_rate_is_of_calls_whose_flop_are_known(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_sheet sheet;
    analyse(model, everything, &sheet);
    const struct vv_cell *rate =
        sheet_cell_of(&sheet, sheet_row_of(&sheet, "name", "conv"), "flop_per_s");
    assert_true(rate->present && fabs(rate->real - 4000 / 40e-9) < 1);
    assert_false(sheet_cell_of(&sheet, sheet_row_of(&sheet, "name", "relu"), "flop_per_s")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* Sums a column over all rows but the total's, which is compared. */
static void assert_adds_up(const struct vv_sheet *sheet, const char *column)
{
    int64_t sum = 0, total = -1;
    for (size_t row = 0; row < sheet->row_count; row++) {
        if (sheet->kinds[row] == VV_ROW_TOTAL)
            total = sheet_int_of(sheet, row, column);
        else
            sum += sheet_int_of(sheet, row, column);
    }
    assert_int_equal(sum, total);
}

static void rows_add_up_however_cut_and_grouped(void **state)
{
    (void)state;
    struct vv_model *model = training();
    static const char *const groupings[] = { "op", "name", "shape", "thread", "phase" };
    for (size_t g = 0; g < sizeof groupings / sizeof *groupings; g++) {
        for (int64_t top = 0; top < 6; top++) {
            struct vv_question question = everything;
            struct vv_sheet sheet;
            question.by = groupings[g];
            question.top = top;
            analyse(model, question, &sheet);
            assert_adds_up(&sheet, "self_ns");
            assert_adds_up(&sheet, "step_self_ns");
            size_t total = sheet_row_of(&sheet, "row", "total");
            assert_int_equal(sheet_int_of(&sheet, total, "step_self_ns"), 160);
            assert_int_equal(sheet_int_of(&sheet, total, "self_ns"), 20 + 160 + 110);
            assert_int_equal(sheet_int_of(&sheet, total, "calls"), 7);
            vv_sheet_deinit(&sheet);
        }
    }
    vv_model_destroy(model);
}

static void the_rest_is_one_row(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_question question = everything;
    struct vv_sheet sheet;
    question.top = 1;
    analyse(model, question, &sheet);
    assert_int_equal(sheet.row_count, 4);
    assert_string_equal(sheet_cell_of(&sheet, 0, "name")->text, "conv");
    assert_string_equal(sheet_cell_of(&sheet, 1, "name")->text, "3 more: --top 0");
    assert_int_equal(sheet_int_of(&sheet, 1, "step_self_ns"), 20 + 10);
    assert_string_equal(sheet_cell_of(&sheet, 2, "name")->text, "(outside operators)");
    assert_int_equal(sheet_int_of(&sheet, 2, "step_self_ns"), 80);
    double last = sheet_cell_of(&sheet, 2, "step_self_running_share")->real;
    assert_true(fabs(last - 1.0) < 1e-12);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void direct_recursion_counts_once(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "f", 0, 100);
    handmade_op(model, track, "f", 10, 90);
    handmade_op(model, track, "g", 20, 80);
    handmade_op(model, track, "f", 30, 40);
    handmade_finish(model);
    struct vv_sheet sheet;
    analyse(model, everything, &sheet);
    size_t f = sheet_row_of(&sheet, "name", "f");
    assert_int_equal(sheet_int_of(&sheet, f, "calls"), 2);
    assert_int_equal(sheet_int_of(&sheet, f, "total_ns"), 110);
    assert_int_equal(sheet_int_of(&sheet, f, "self_ns"), 50);
    assert_false(sheet_cell_of(&sheet, f, "step_self_ns")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void a_slice_that_sticks_out_is_cut_at_the_step_end(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "around", 0, 20);
    handmade_step(model, track, 0, 10, 50);
    handmade_op(model, track, "late", 40, 70);
    handmade_finish(model);
    struct vv_sheet sheet;
    analyse(model, everything, &sheet);
    size_t late = sheet_row_of(&sheet, "name", "late"),
           around = sheet_row_of(&sheet, "name", "around");
    assert_int_equal(sheet_int_of(&sheet, late, "step_self_ns"), 10);
    assert_int_equal(sheet_int_of(&sheet, late, "step_total_ns"), 10);
    assert_int_equal(sheet_int_of(&sheet, late, "total_ns"), 30);
    assert_int_equal(sheet_int_of(&sheet, around, "step_calls"), 0);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "step_self_ns"), 40);
    assert_adds_up(&sheet, "step_self_ns");
    assert_adds_up(&sheet, "self_ns");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void groups_by_thread_and_phase(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_question question = everything;
    struct vv_sheet sheet;
    question.by = "thread";
    analyse(model, question, &sheet);
    size_t load = sheet_row_of(&sheet, "name", "load");
    assert_string_equal(sheet_cell_of(&sheet, load, "thread")->text, "loader");
    assert_true(sheet.columns[vv_sheet_find(&sheet, "step_self_ns")].hidden);
    assert_false(sheet.columns[vv_sheet_find(&sheet, "thread")].hidden);
    vv_sheet_deinit(&sheet);

    question.by = "phase";
    analyse(model, question, &sheet);
    size_t forward = sheet_row_of(&sheet, "phase", "forward");
    assert_string_equal(sheet_cell_of(&sheet, forward, "name")->text, "conv");
    assert_int_equal(sheet_int_of(&sheet, forward, "calls"), 1);
    assert_false(sheet_cell_of(&sheet, sheet_row_of(&sheet, "name", "relu"), "phase")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void order_follows_the_column(void **state)
{
    (void)state;
    static const struct { const char *sort, *first; } cases[] = {
        { NULL, "conv" },  { "self", "conv" }, { "calls", "conv" }, { "total_ns", "load" },
        { "name", "conv" }, { "p90", "conv" }, { "max_ns", "load" }, { "flop", "conv" },
    };
    struct vv_model *model = training();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vv_question question = everything;
        struct vv_sheet sheet;
        question.sort = cases[i].sort;
        analyse(model, question, &sheet);
        assert_string_equal(sheet_cell_of(&sheet, 0, "name")->text, cases[i].first);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

static void wrong_words_are_refused(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_sheet sheet;
    struct varve_error error;
    struct vv_question question = everything;
    question.sort = "speed";
    assert_int_equal(vv_analyse_operators(model, &question, &sheet, &error), VARVE_INVALID);
    assert_non_null(strstr(error.message, "'speed'"));
    question = everything;
    question.by = "module";
    assert_int_equal(vv_analyse_operators(model, &question, &sheet, &error), VARVE_INVALID);
    question = everything;
    question.selection.thread = "nobody";
    assert_int_equal(vv_analyse_operators(model, &question, &sheet, &error), VARVE_INVALID);
    assert_string_equal(error.message,
                        "no thread 'nobody' in this trace. Its threads: train, loader");
    question = everything;
    question.selection.first_step = 7;
    assert_int_equal(vv_analyse_operators(model, &question, &sheet, &error), VARVE_INVALID);
    assert_non_null(strstr(error.message, "steps 0..1"));
    vv_model_destroy(model);
}

static void a_selection_of_steps_takes_their_slices_on_every_thread(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_question question = everything;
    struct vv_sheet sheet;
    question.selection.first_step = question.selection.last_step = 0;
    analyse(model, question, &sheet);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "conv"), "calls"), 1);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "load"), "calls"), 1);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "step_self_ns"), 100);
    assert_adds_up(&sheet, "self_ns");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void nothing_recorded_is_an_answer(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    handmade_finish(model);
    analyse(model, everything, &sheet);
    assert_int_equal(sheet.row_count, 0);
    assert_string_equal(sheet.policy,
                        "no operators recorded; no steps recorded: mark them with varve_step_begin");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_trace_and_steps_side_by_side),
        cmocka_unit_test(flop_rate_is_of_calls_whose_flop_are_known),
        cmocka_unit_test(rows_add_up_however_cut_and_grouped),
        cmocka_unit_test(the_rest_is_one_row),
        cmocka_unit_test(direct_recursion_counts_once),
        cmocka_unit_test(a_slice_that_sticks_out_is_cut_at_the_step_end),
        cmocka_unit_test(groups_by_thread_and_phase),
        cmocka_unit_test(order_follows_the_column),
        cmocka_unit_test(wrong_words_are_refused),
        cmocka_unit_test(a_selection_of_steps_takes_their_slices_on_every_thread),
        cmocka_unit_test(nothing_recorded_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
