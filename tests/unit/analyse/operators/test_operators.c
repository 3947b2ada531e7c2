/* SPDX-License-Identifier: Apache-2.0 */
/* Table "operators" on models with known answers (doc/metrics.md). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "question/question.h"

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
    if (vv_analyse(vv_analyse_operators, model, &question, out, &error) != VARVE_OK)
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
    assert_false(
        sheet_cell_of(&sheet, sheet_row_of(&sheet, "name", "relu"), "flop_per_s")->present);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* A host that only launches has done with a call before the device begins it. */
static void flop_rate_is_the_device_s_where_it_does_the_work(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_sheet sheet;
    uint32_t train = handmade_track(model, "train", 100), stream = handmade_stream(model, 0, 7);
    uint32_t conv = handmade_op(model, train, "conv", 10, 15);
    handmade_arguments(model, conv, 4000, -1, 0);
    handmade_call(model, train, "launch", 1, 11, 12);
    handmade_work(model, stream, "conv_kernel", 1, 30, 80);
    handmade_finish(model);
    analyse(model, everything, &sheet);
    assert_true(fabs(sheet_cell_of(&sheet, sheet_row_of(&sheet, "name", "conv"),
                                   "flop_per_s")->real - 4000 / 50e-9) < 1);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* What none of the chosen threads did has no row. */
static void operators_of_others_have_no_rows(void **state)
{
    (void)state;
    struct vv_model *model = training();
    struct vv_question question = everything;
    struct vv_sheet sheet;
    question.selection.thread = "loader";
    analyse(model, question, &sheet);
    assert_int_not_equal(sheet_row_of(&sheet, "name", "load"), SIZE_MAX);
    assert_int_equal(sheet_row_of(&sheet, "name", "relu"), SIZE_MAX);
    vv_sheet_deinit(&sheet);
    question = everything;
    question.selection.first_step = question.selection.last_step = 1;
    analyse(model, question, &sheet);
    assert_int_not_equal(sheet_row_of(&sheet, "name", "conv"), SIZE_MAX);
    assert_int_equal(sheet_row_of(&sheet, "name", "relu"), SIZE_MAX);
    assert_int_equal(sheet_row_of(&sheet, "name", "load"), SIZE_MAX);
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
    static const char *const groupings[] = { "op",     "name",   "shape",  "thread", "phase",
                                             "module", "source", "stream", "layer",  "rank" };
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
            if (g < 5) /* elsewhere a group has both conv and the gemm inside it: one call       */
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
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "step_self_ns"),
                     40);
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
    assert_int_equal(vv_analyse(vv_analyse_operators, model, &question, &sheet, &error),
                     VARVE_INVALID);
    assert_non_null(strstr(error.message, "'speed'"));
    question = everything;
    question.by = "colour";
    assert_int_equal(vv_analyse(vv_analyse_operators, model, &question, &sheet, &error),
                     VARVE_INVALID);
    question = everything;
    question.selection.thread = "nobody";
    assert_int_equal(vv_analyse(vv_analyse_operators, model, &question, &sheet, &error),
                     VARVE_INVALID);
    assert_string_equal(error.message,
                        "no thread 'nobody' in this trace. Its threads: train, loader");
    question = everything;
    question.selection.first_step = 7;
    assert_int_equal(vv_analyse(vv_analyse_operators, model, &question, &sheet, &error),
                     VARVE_INVALID);
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
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "row", "total"), "step_self_ns"),
                     100);
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
                        "no operators recorded; no steps recorded");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* By a trait that nothing has there is one row, "(none)", and how to have more. */
static void a_trait_that_nothing_has_is_said(void **state)
{
    (void)state;
    struct vv_question question = everything;
    question.by = "module";
    for (int with_module = 0; with_module < 2; with_module++) {
        struct vv_model *model = handmade_model();
        struct vv_sheet sheet;
        uint32_t train = handmade_track(model, "train", 100);
        if (with_module)
            handmade_slice(model, train, "nn.Module: Linear_0", VARVE_LAYER_PYTHON, 5, 60);
        handmade_op(model, train, "addmm", 10, 50);
        handmade_finish(model);
        analyse(model, question, &sheet);
        assert_int_equal(strstr(sheet.policy,
                                "no modules recorded: varve record --collect +modules") == NULL,
                         with_module);
        vv_sheet_deinit(&sheet);
        vv_model_destroy(model);
    }
}

/* ---- with devices ---- */

/* One step [0,100) on "train": conv [10,50) holds gemm [20,40), which launches two kernels at once
 * (streams 7 and 8), and a copy of its own; "backward" on "autograd", during the step, launches
 * one; one kernel nobody launched. */
static struct vv_model *launching(bool with_autograd)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100),
             autograd = handmade_track(model, "autograd", 101);
    uint32_t seven = handmade_stream(model, 0, 7), eight = handmade_stream(model, 0, 8);
    handmade_step(model, train, 0, 0, 100);
    handmade_op(model, train, "conv", 10, 50);
    handmade_op(model, train, "gemm", 20, 40);
    handmade_call(model, train, "launch", 1, 22, 24);
    handmade_call(model, train, "launch", 2, 25, 27);
    handmade_call(model, train, "copy", 3, 42, 48);
    handmade_work(model, seven, "gemm_kernel", 1, 30, 60);
    handmade_work(model, eight, "gemm_kernel", 2, 50, 70);
    handmade_work(model, seven, "Memcpy DtoH", 3, 70, 75);
    handmade_work(model, eight, "stray", 0, 200, 207);
    if (with_autograd) {
        handmade_op(model, autograd, "backward", 55, 90);
        handmade_call(model, autograd, "launch", 4, 60, 61);
        handmade_work(model, seven, "backward_kernel", 4, 80, 91);
    }
    handmade_finish(model);
    return model;
}

static void device_work_belongs_to_the_operator_that_launched_it(void **state)
{
    (void)state;
    struct vv_model *model = launching(true);
    struct vv_sheet sheet;
    analyse(model, everything, &sheet);
    size_t conv = sheet_row_of(&sheet, "name", "conv"), gemm = sheet_row_of(&sheet, "name", "gemm");
    size_t outside = sheet_row_of(&sheet, "row", "outside"),
           total = sheet_row_of(&sheet, "row", "total");
    assert_int_equal(sheet_int_of(&sheet, gemm, "device_self_ns"), 30 + 20);
    assert_int_equal(sheet_int_of(&sheet, gemm, "device_busy_ns"), 40);
    assert_int_equal(sheet_int_of(&sheet, gemm, "kernels"), 2);
    assert_int_equal(sheet_int_of(&sheet, conv, "device_self_ns"), 5);
    assert_int_equal(sheet_int_of(&sheet, conv, "device_total_ns"), 55);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "launch"),
                                  "device_total_ns"),
                     0);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "backward"),
                                  "device_self_ns"),
                     11);
    assert_int_equal(sheet_int_of(&sheet, outside, "device_self_ns"), 7);
    assert_int_equal(sheet_int_of(&sheet, total, "device_self_ns"), 50 + 5 + 11 + 7);
    assert_int_equal(sheet_int_of(&sheet, total, "step_device_self_ns"), 55);
    assert_int_equal(sheet_int_of(&sheet, total, "kernels"), 5);
    static const char *const sums[] = { "device_self_ns", "step_device_self_ns", "kernels",
                                        "step_kernels" };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        assert_adds_up(&sheet, sums[i]);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

static void people_see_the_whole_where_other_threads_launched(void **state)
{
    (void)state;
    for (int with_autograd = 0; with_autograd < 2; with_autograd++) {
        struct vv_model *model = launching(with_autograd);
        struct vv_sheet sheet;
        analyse(model, everything, &sheet);
        assert_int_equal(sheet.columns[vv_sheet_find(&sheet, "step_device_self_ns")].hidden,
                         with_autograd);
        assert_int_equal(sheet.columns[vv_sheet_find(&sheet, "device_self_ns")].hidden,
                         !with_autograd);
        vv_sheet_deinit(&sheet);
        vv_model_destroy(model);
    }
}

static void rows_are_ordered_by_any_column(void **state)
{
    (void)state;
    struct vv_model *model = launching(true);
    static const struct { const char *sort, *first; } orders[] = {
        { "device_self", "gemm" }, { "device self", "gemm" }, { "device_total_ns", "conv" },
        { "kernels", "gemm" }, { "self", "backward" }, { "p99", "conv" },
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct vv_question question = everything;
        struct vv_sheet sheet;
        question.sort = orders[i].sort;
        analyse(model, question, &sheet);
        assert_string_equal(sheet_cell_of(&sheet, 0, "name")->text, orders[i].first);
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

static void one_row_for_a_layer_a_stream_a_module_a_line(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100), seven = handmade_stream(model, 0, 7),
             source;
    handmade_slice(model, train, "model.py(3): forward", VARVE_LAYER_PYTHON, 0, 100);
    handmade_slice(model, train, "nn.Module: Linear_0", VARVE_LAYER_PYTHON, 10, 90);
    uint32_t mm = handmade_op(model, train, "mm", 20, 40);
    handmade_call(model, train, "launch", 1, 30, 35);
    uint32_t add = handmade_op(model, train, "add", 50, 60);
    handmade_work(model, seven, "kernel", 1, 40, 45);
    assert_int_equal(vv_model_add_source(model, &source, NULL), VARVE_OK);
    model->sources.file[source] = handmade_text(model, "net.c");
    model->sources.line[source] = 12;
    model->slices.source[add] = source;
    uint32_t op = handmade_arguments(model, mm, 0, -1, 0);
    model->ops.stack[op] = handmade_text(model, "mm.py(1): f;main.py(2): g");
    handmade_finish(model);
    static const struct { const char *by, *name; int64_t self_ns, total_ns; } rows[] = {
        { "layer", "PYTHON", 100 - 30, 100 },       { "layer", "OP", 25, 30 },
        { "layer", "RUNTIME", 5, 5 },               { "stream", "stream", 15, 20 },
        { "stream", "(none)", 85, 100 + 5 }, { "module", "nn.Module: Linear_0", 80, 80 },
        { "module", "(none)", 20, 100 },            { "source", "net.c:12", 10, 10 },
        { "source", "mm.py(1): f", 20, 20 },        { "source", "model.py(3): forward", 70, 100 },
        { "rank", "(none)", 100, 100 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vv_question question = everything;
        struct vv_sheet sheet;
        question.by = rows[i].by;
        analyse(model, question, &sheet);
        size_t row = sheet_row_of(&sheet, "name", rows[i].name);
        assert_true(row != SIZE_MAX);
        assert_int_equal(sheet_int_of(&sheet, row, "self_ns"), rows[i].self_ns);
        assert_int_equal(sheet_int_of(&sheet, row, "total_ns"), rows[i].total_ns);
        assert_adds_up(&sheet, "self_ns");
        assert_adds_up(&sheet, "device_self_ns");
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

/* Linear_0 has mm, whose backward one runs in the engine's range on another thread; add has no
 * module, nor has its. */
static void backward_operators_have_the_module_of_their_forward_ones(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 100),
             engine = handmade_track(model, "engine", 200);
    handmade_slice(model, train, "nn.Module: Linear_0", VARVE_LAYER_PYTHON, 0, 30);
    handmade_arguments(model, handmade_op(model, train, "mm", 10, 20), 0, 7, 0);
    handmade_arguments(model, handmade_op(model, train, "add", 40, 50), 0, 8, 0);
    handmade_op(model, engine, "autograd::engine::evaluate_function: MmBackward0", 100, 140);
    handmade_arguments(model, handmade_op(model, engine, "MmBackward0", 110, 130), 0, 7, 100);
    handmade_op(model, engine, "t", 115, 120);
    handmade_op(model, engine, "autograd::engine::evaluate_function: AddBackward0", 140, 200);
    handmade_arguments(model, handmade_op(model, engine, "AddBackward0", 150, 200), 0, 8, 100);
    handmade_finish(model);
    struct vv_question question = everything;
    struct vv_sheet sheet;
    question.by = "module";
    analyse(model, question, &sheet);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "nn.Module: Linear_0"),
                                  "self_ns"),
                     10 + 20 + 40);
    assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "name", "(none)"), "self_ns"),
                     10 + 60);
    assert_adds_up(&sheet, "self_ns");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_trace_and_steps_side_by_side),
        cmocka_unit_test(flop_rate_is_of_calls_whose_flop_are_known),
        cmocka_unit_test(flop_rate_is_the_device_s_where_it_does_the_work),
        cmocka_unit_test(operators_of_others_have_no_rows),
        cmocka_unit_test(rows_add_up_however_cut_and_grouped),
        cmocka_unit_test(the_rest_is_one_row),
        cmocka_unit_test(direct_recursion_counts_once),
        cmocka_unit_test(a_slice_that_sticks_out_is_cut_at_the_step_end),
        cmocka_unit_test(groups_by_thread_and_phase),
        cmocka_unit_test(device_work_belongs_to_the_operator_that_launched_it),
        cmocka_unit_test(people_see_the_whole_where_other_threads_launched),
        cmocka_unit_test(rows_are_ordered_by_any_column),
        cmocka_unit_test(one_row_for_a_layer_a_stream_a_module_a_line),
        cmocka_unit_test(backward_operators_have_the_module_of_their_forward_ones),
        cmocka_unit_test(order_follows_the_column),
        cmocka_unit_test(wrong_words_are_refused),
        cmocka_unit_test(a_selection_of_steps_takes_their_slices_on_every_thread),
        cmocka_unit_test(nothing_recorded_is_an_answer),
        cmocka_unit_test(a_trait_that_nothing_has_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
