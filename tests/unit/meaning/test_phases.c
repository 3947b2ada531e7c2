/* SPDX-License-Identifier: Apache-2.0 */
/* Phases that nobody recorded, and which forward operator a backward one belongs to
 * (doc/metrics.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "handmade_device.h"
#include "meaning/autograd_links.h"
#include "meaning/phases.h"
#include "question/question.h"

static const struct vv_question everything = VV_QUESTION_ALL;

/* An operator with a sequence number; forward_tid 0 = a forward one. */
static void numbered(struct vv_model *model, uint32_t track, const char *name, int64_t sequence,
                     uint64_t forward_tid, const int64_t times[2])
{
    handmade_arguments(model, handmade_op(model, track, name, times[0], times[1]), 0, sequence,
                       forward_tid);
}
#define AT(begin, end) ((const int64_t[2]){ begin, end })

/* The engine's range and in it the backward operator, which repeat each other's numbers. */
static void backward(struct vv_model *model, uint32_t track, const char *name, int64_t sequence,
                     int64_t begin, int64_t end)
{
    char range[80];
    snprintf(range, sizeof range, "autograd::engine::evaluate_function: %s", name);
    numbered(model, track, range, sequence, 1, AT(begin, end));
    numbered(model, track, name, sequence, 1, AT(begin + 1, end - 1));
}

/* One step [0,1000): loader [10,110), convolution [150,250) with its numbers inside, relu
 * [260,300), backward on another thread from 400 to 700, Optimizer.step [800,900). The forward
 * thread is called 1, as PyTorch calls the first. */
static struct vv_model *training(void)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 4711),
             autograd = handmade_track(model, "autograd", 4712);
    handmade_step(model, train, 0, 0, 1000);
    handmade_op(model, train, "enumerate(DataLoader)#_Single.__next__", 10, 110);
    numbered(model, train, "aten::stack", 3, 0, AT(20, 100));
    numbered(model, train, "aten::conv2d", 7, 0, AT(150, 250));
    numbered(model, train, "aten::convolution", 7, 0, AT(160, 240));
    numbered(model, train, "aten::relu", 8, 0, AT(260, 300));
    backward(model, autograd, "ReluBackward0", 8, 400, 500);
    backward(model, autograd, "ConvolutionBackward0", 7, 520, 700);
    handmade_op(model, autograd, "aten::convolution_backward", 530, 690);
    handmade_op(model, train, "Optimizer.step#SGD.step", 800, 900);
    numbered(model, train, "aten::add_", 9, 0, AT(810, 890));
    return model;
}

static uint32_t slice_of(const struct vv_model *model, const char *name)
{
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (strcmp(vv_intern_text(&model->strings, model->slices.name[row]), name) == 0)
            return row;
    fail_msg("no slice '%s'", name);
    return VV_NONE;
}

static void assert_phase(const struct vv_model *model, const char *name, const char *expected)
{
    struct vv_op_phases phases;
    assert_int_equal(vv_op_phases(model, &phases, NULL), VARVE_OK);
    uint32_t phase = vv_phase_of(model, &phases, slice_of(model, name));
    if (expected == NULL)
        assert_int_equal(phase, VV_NONE);
    else
        assert_string_equal(vv_phase_text(model, phase), expected);
}

static void operators_tell_their_phase(void **state)
{
    (void)state;
    struct vv_model *model = training();
    uint32_t main = 0, idle = handmade_track(model, "idle", 4713);
    /* waits for the other thread */
    handmade_slice(model, main, "## backward ##", VARVE_LAYER_API, 350, 750);
    handmade_op(model, idle, "aten::elsewhere", 170, 180);
    handmade_finish(model);
    assert_phase(model, "aten::stack", "data");
    assert_phase(model, "aten::conv2d", "forward");
    assert_phase(model, "aten::relu", "forward");
    assert_phase(model, "autograd::engine::evaluate_function: ReluBackward0", "backward");
    assert_phase(model, "aten::convolution_backward", "backward");
    assert_phase(model, "aten::add_", "optimizer");
    assert_phase(model, "## backward ##", NULL);
    assert_phase(model, "aten::elsewhere", NULL);
    vv_model_destroy(model);
}

static void phases_that_were_recorded_are_those(void **state)
{
    (void)state;
    struct vv_model *model = training();
    handmade_phase(model, 0, "mine", 140, 310);
    handmade_finish(model);
    assert_phase(model, "aten::relu", "mine");
    assert_phase(model, "aten::add_", NULL);
    vv_model_destroy(model);
}

static void steps_split_into_the_phases_of_all_threads(void **state)
{
    (void)state;
    struct vv_model *model = training();
    /* 20 of it while nothing else goes on */
    handmade_op(model, 1, "enumerate(DataLoader)#prefetch", 780, 850);
    handmade_finish(model);
    struct vv_sheet sheet;
    struct varve_error error = { 0 };
    if (vv_analyse(vv_analyse_phases, model, &everything, &sheet, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    static const struct { const char *phase; int64_t total_ns; } rows[] = {
        { "backward", 100 + 180 },     { "forward", 100 + 40 }, { "data", 100 + 20 },
        { "optimizer", 100 },          { "other", 1000 - 640 }, { "total", 1000 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "phase", rows[i].phase),
                                      "total_ns"),
                         rows[i].total_ns);
    assert_non_null(strstr(sheet.policy, "; phases found from what operators say"));
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* ---- an optimizer that calls forward and backward itself ---- */

/* In Optimizer.step [100,900): zero_grad, a linear layer whose addmm is linked, a copy, backward,
 * the update, the layer again without a gradient. Names carry a number where they come again. */
static struct vv_model *with_closure(void)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 1);
    handmade_step(model, train, 0, 0, 1000);
    handmade_op(model, train, "Optimizer.step#LBFGS.step", 100, 900);
    handmade_op(model, train, "Optimizer.zero_grad#LBFGS.zero_grad", 110, 130);
    handmade_op(model, train, "aten::zero_", 115, 125);
    handmade_slice(model, train, "my forward", VARVE_LAYER_API, 140, 260);
    handmade_op(model, train, "aten::linear", 150, 200);
    numbered(model, train, "aten::addmm", 1, 0, AT(160, 190));
    handmade_op(model, train, "aten::expand", 162, 170);
    handmade_op(model, train, "aten::clone", 210, 220);
    handmade_op(model, train, "aten::ones_like", 270, 280);
    backward(model, train, "AddmmBackward0", 1, 300, 500);
    handmade_op(model, train, "aten::mm", 350, 450);
    handmade_op(model, train, "aten::add_", 600, 650);
    handmade_op(model, train, "aten::dot", 700, 720);
    handmade_finish(model);
    return model;
}

static void an_optimizer_with_a_closure_holds_all_phases(void **state)
{
    (void)state;
    static const struct { const char *name, *phase; } expected[] = {
        { "Optimizer.step#LBFGS.step", NULL },
        { "Optimizer.zero_grad#LBFGS.zero_grad", "optimizer" },
        { "aten::zero_", "optimizer" }, { "my forward", NULL }, { "aten::linear", "forward" },
        { "aten::addmm", "forward" }, { "aten::expand", "forward" }, { "aten::clone", "forward" },
        { "aten::ones_like", "forward" }, { "AddmmBackward0", "backward" },
        { "aten::mm", "backward" }, { "aten::add_", "optimizer" }, { "aten::dot", "optimizer" },
    };
    struct vv_model *model = with_closure();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_phase(model, expected[i].name, expected[i].phase);
    vv_model_destroy(model);
}

static void a_closure_splits_its_step(void **state)
{
    (void)state;
    static const struct { const char *phase; int64_t total_ns; } rows[] = {
        { "forward", 50 + 10 + 10 }, { "backward", 200 },   { "optimizer", 20 + 50 + 20 },
        { "other", 1000 - 360 },     { "total", 1000 },
    };
    struct vv_model *model = with_closure();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_phases, model, &everything, &sheet, NULL), VARVE_OK);
    assert_int_equal(sheet.row_count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "phase", rows[i].phase),
                                      "total_ns"),
                         rows[i].total_ns);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* ---- collectives that run in the background ---- */

/* As gloo's: on a track of their own, beside backward [400,700), and alone [700,760), [900,950). */
static struct vv_model *with_collectives(void)
{
    struct vv_model *model = training();
    uint32_t track = handmade_track(model, "gloo:all_reduce", 0);
    model->tracks.kind[track] = VV_TRACK_ASYNC;
    handmade_slice(model, track, "gloo:all_reduce", VARVE_LAYER_COMM, 690, 760);
    handmade_slice(model, track, "gloo:all_reduce", VARVE_LAYER_COMM, 850, 950);
    handmade_slice(model, track, "prefetch", VARVE_LAYER_HOST, 950, 990);
    handmade_finish(model);
    return model;
}

static void collectives_alone_are_communication(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t total_ns; } phases[] = {
        { "backward", 280 }, { "communication", 110 }, { "optimizer", 100 },
        { "other", 1000 - 620 - 110 },
    }, parts[] = {
        { "communication_ns", 110 }, { "data_loader_ns", 100 }, { "cpu_op_ns", 140 + 280 + 100 },
        { "other_ns", 1000 - 100 - 110 - 520 },
    };
    struct vv_model *model = with_collectives();
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_phases, model, &everything, &sheet, NULL), VARVE_OK);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        assert_int_equal(sheet_int_of(&sheet, sheet_row_of(&sheet, "phase", phases[i].name),
                                      "total_ns"),
                         phases[i].total_ns);
    vv_sheet_deinit(&sheet);
    assert_int_equal(vv_analyse(vv_analyse_step_split, model, &everything, &sheet, NULL), VARVE_OK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(sheet_int_of(&sheet, 0, parts[i].name), parts[i].total_ns);
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* ---- where the run went ---- */

static void the_run_is_in_steps_and_outside(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t ns; } parts[] = {
        { "in_steps_ns", 300 }, { "in_warm_up_ns", 0 }, { "start_ns", 100 },
        { "outside_compile_ns", 30 }, { "outside_data_ns", 20 }, { "outside_operator_ns", 50 },
        { "outside_rest_ns", 500 }, { "duration_ns", 1000 },
    };
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 1);
    handmade_op(model, train, "aten::empty", 100, 110);
    handmade_op(model, train, "inductor compile", 120, 150);
    for (int64_t i = 0; i < 3; i++)
        handmade_step(model, train, i, 200 + 100 * i, 300 + 100 * i);
    handmade_op(model, train, "aten::mm", 250, 260);
    handmade_op(model, train, "enumerate(DataLoader)#_Single.__next__", 600, 620);
    handmade_op(model, train, "aten::mm", 640, 680);
    handmade_finish(model);
    struct vv_sheet sheet;
    assert_int_equal(vv_analyse(vv_analyse_trace, model, &everything, &sheet, NULL), VARVE_OK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(sheet_int_of(&sheet, 0, parts[i].name), parts[i].ns);
    assert_string_equal(sheet_cell_of(&sheet, 0, "time")->text,
                        "300 ns of 1.00 µs in steps; else compilers 30 ns, before the first "
                        "operator (start, imports) 100 ns, waits for data 20 ns, other operators, "
                        "such as an evaluation's 50 ns, no operator (Python, saving) 500 ns");
    vv_sheet_deinit(&sheet);
    vv_model_destroy(model);
}

/* ---- recomputing ---- */

/* On one thread: f [0,10), then backward [20,100) in which `name` [30,40) has a backward operator
 * at 50 or later. */
static struct vv_model *recomputing(int64_t later)
{
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 1);
    numbered(model, train, "f", 1, 0, AT(0, 10));
    numbered(model, train, "autograd::engine::evaluate_function: FBackward", 1, 1, AT(20, 100));
    numbered(model, train, "FBackward", 1, 1, AT(21, 99));
    numbered(model, train, "again", 5, 0, AT(30, 40));
    handmade_op(model, train, "inside", 32, 38);
    if (later > 100) {
        numbered(model, train, "penalty", 6, 0, AT(110, 120));
        backward(model, train, "PenaltyBackward", 6, 130, 140);
    }
    backward(model, train, "AgainBackward", 5, later, later + 10);
    handmade_finish(model);
    return model;
}

static void what_is_differentiated_in_the_same_pass_was_recomputed(void **state)
{
    (void)state;
    struct vv_model *model = recomputing(50);
    assert_phase(model, "f", "forward");
    assert_phase(model, "FBackward", "backward");
    assert_phase(model, "again", "recompute");
    assert_phase(model, "inside", "recompute");
    assert_phase(model, "AgainBackward", "backward");
    vv_model_destroy(model);
    model = recomputing(150); /* the gradient was differentiated itself, after another forward
                                 operator */
    assert_phase(model, "again", "backward");
    vv_model_destroy(model);
}

/* As checkpoints that save no inputs leave it: what computes again has numbers, and no backward
 * operator takes them. Where all that a backward operator calls has, it is to be differentiated
 * itself. */
static void what_a_backward_operator_has_numbered_was_recomputed(void **state)
{
    (void)state;
    for (int is_twice = 0; is_twice < 2; is_twice++) {
        struct vv_model *model = handmade_model();
        uint32_t train = handmade_track(model, "train", 1);
        numbered(model, train, "f", 1, 0, AT(0, 10));
        numbered(model, train, "autograd::engine::evaluate_function: FBackward", 1, 1, AT(20, 100));
        numbered(model, train, "FBackward", 1, 1, AT(21, 99));
        numbered(model, train, "again", 5, 0, AT(30, 40));
        handmade_op(model, train, "inside", 32, 38);
        numbered(model, train, "gradient", is_twice ? 6 : -1, 0, AT(50, 60));
        handmade_op(model, train, "part of it", 52, 58);
        handmade_finish(model);
        assert_phase(model, "again", is_twice ? "backward" : "recompute");
        assert_phase(model, "inside", is_twice ? "backward" : "recompute");
        assert_phase(model, "gradient", "backward");
        assert_phase(model, "part of it", "backward");
        assert_phase(model, "FBackward", "backward");
        vv_model_destroy(model);
    }
}

static void a_checkpoint_recomputes(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 1);
    handmade_op(model, train, "autograd::engine::evaluate_function: CheckpointFunctionBackward", 0,
                100);
    handmade_op(model, train, "CheckpointFunctionBackward", 1, 99);
    handmade_op(model, train, "aten::gelu", 10, 20);
    handmade_op(model, train, "autograd::engine::evaluate_function: GeluBackward0", 30, 60);
    handmade_op(model, train, "aten::gelu_backward", 40, 50);
    handmade_op(model, train, "autograd::engine::evaluate_function: Other", 100, 200);
    handmade_slice(model, train, "torch/utils/checkpoint.py(1115): unpack_hook", VARVE_LAYER_PYTHON,
                   110, 150);
    handmade_op(model, train, "aten::mm", 120, 130);
    handmade_op(model, train, "aten::mul", 160, 170);
    handmade_finish(model);
    assert_phase(model, "aten::gelu", "recompute");
    assert_phase(model, "aten::gelu_backward", "backward");
    assert_phase(model, "aten::mm", "recompute");
    assert_phase(model, "aten::mul", "backward");
    vv_model_destroy(model);
}

static void xla_names_the_transposed_program(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t stream = handmade_stream(model, 0, 1), arg;
    static const char *const texts[] = { "jit(f)/jvp(g)/dot", "jit(f)/transpose(jvp(g))/dot",
                                         "jit(f)/add" };
    static const char *const names[] = { "forward_fusion", "backward_fusion", "other_fusion" };
    static const char *const phases[] = { "forward", "backward", NULL };
    for (int i = 0; i < 3; i++) {
        uint32_t slice = (uint32_t)model->slices.table.count;
        handmade_work(model, stream, names[i], 0, 10 * i, 10 * i + 5);
        assert_int_equal(vv_model_add_arg(model, &arg, NULL), VARVE_OK);
        model->args.key[arg] = handmade_text(model, "tf_op");
        model->args.kind[arg] = VV_ARG_TEXT;
        model->args.value[arg] = handmade_text(model, texts[i]);
        model->slices.first_arg[slice] = arg;
        model->slices.arg_count[slice] = 1;
    }
    handmade_finish(model);
    for (int i = 0; i < 3; i++)
        assert_phase(model, names[i], phases[i]);
    vv_model_destroy(model);
}

/* ---- links ---- */

static void backward_operators_know_their_forward_ones(void **state)
{
    (void)state;
    struct vv_model *model = training();
    backward(model, 1, "ReluBackward0", 8, 710, 720); /* a second pass over a graph that was kept */
    handmade_finish(model);
    struct vv_autograd_links links;
    assert_int_equal(vv_autograd_links(model, &links, NULL), VARVE_OK);
    static const struct { const char *forward, *backward; uint32_t ordinal; } expected[] = {
        { "aten::relu", "ReluBackward0", 1 }, { "aten::convolution", "ConvolutionBackward0", 1 },
        { "aten::relu", "ReluBackward0", 2 },
    };
    assert_int_equal(links.count, 3);
    for (size_t i = 0; i < links.count; i++) {
        const struct vv_autograd_link *link = &links.items[i];
        assert_string_equal(vv_intern_text(&model->strings, model->slices.name[link->forward]),
                            expected[i].forward);
        assert_string_equal(vv_intern_text(&model->strings, model->slices.name[link->backward]),
                            expected[i].backward);
        assert_int_equal(link->ordinal, expected[i].ordinal);
    }
    vv_model_destroy(model);
}

/* Three steps with one number: each backward operator belongs to the forward one before it. */
static void a_number_that_comes_again_names_the_operator_before(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    for (int64_t step = 0; step < 3; step++) {
        handmade_arguments(model, handmade_op(model, track, "conv", 100 * step, 100 * step + 10), 0,
                           5, 0);
        handmade_arguments(model,
                           handmade_op(model, track, "conv_backward", 100 * step + 50,
                                       100 * step + 60),
                           0, 5, 100);
    }
    handmade_finish(model);
    struct vv_autograd_links links;
    assert_int_equal(vv_autograd_links(model, &links, NULL), VARVE_OK);
    assert_int_equal(links.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(links.items[i].forward, 2 * i);
        assert_int_equal(links.items[i].backward, 2 * i + 1);
        assert_int_equal(links.items[i].ordinal, 1);
    }
    vv_model_destroy(model);
}

/* Two threads count for themselves, so that the same numbers come on both. */
static void threads_are_told_apart(void **state)
{
    (void)state;
    for (int by_tid = 0; by_tid < 2; by_tid++) {
        struct vv_model *model = handmade_model();
        uint32_t one = handmade_track(model, "one", 100), two = handmade_track(model, "two", 200);
        uint32_t engine = handmade_track(model, "engine", 300);
        uint64_t of_one = by_tid ? 100 : 1, of_two = by_tid ? 200 : 2;
        for (int64_t i = 0; i < 4; i++) {
            numbered(model, one, "on one", i, 0, AT(10 * i, 10 * i + 5));
            numbered(model, engine, "OneBackward", i, of_one, AT(1000 + 20 * i, 1005 + 20 * i));
        }
        for (int64_t i = 3; i < 8; i++) {
            numbered(model, two, "on two", i, 0, AT(10 * i - 25, 10 * i - 20));
            numbered(model, engine, "TwoBackward", i, of_two, AT(2000 + 20 * i, 2005 + 20 * i));
        }
        handmade_finish(model);
        struct vv_autograd_links links;
        assert_int_equal(vv_autograd_links(model, &links, NULL), VARVE_OK);
        assert_int_equal(links.count, 9);
        for (size_t i = 0; i < links.count; i++) {
            const char *forward =
                vv_intern_text(&model->strings, model->slices.name[links.items[i].forward]);
            const char *back =
                vv_intern_text(&model->strings, model->slices.name[links.items[i].backward]);
            assert_string_equal(forward, strcmp(back, "OneBackward") == 0 ? "on one" : "on two");
        }
        vv_model_destroy(model);
    }
}

static void table_of_links_adds_up(void **state)
{
    (void)state;
    struct vv_model *model = training();
    backward(model, 1, "ReluBackward0", 8, 710, 720);
    handmade_finish(model);
    for (int64_t top = 0; top < 4; top++) {
        struct vv_question question = everything;
        struct vv_sheet sheet;
        int64_t forward_ns = 0, backward_ns = 0;
        question.top = top;
        question.sort = top == 2 ? "backward" : NULL;
        assert_int_equal(vv_analyse(vv_analyse_links, model, &question, &sheet, NULL), VARVE_OK);
        size_t last = sheet.row_count - 1;
        for (size_t row = 0; row < last; row++) {
            forward_ns += sheet_int_of(&sheet, row, "forward_ns");
            backward_ns += sheet_int_of(&sheet, row, "backward_ns");
        }
        assert_int_equal(forward_ns, 80 + 40);
        assert_int_equal(forward_ns, sheet_int_of(&sheet, last, "forward_ns"));
        assert_int_equal(backward_ns, 178 + 98 + 8);
        assert_int_equal(backward_ns, sheet_int_of(&sheet, last, "backward_ns"));
        vv_sheet_deinit(&sheet);
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_tell_their_phase),
        cmocka_unit_test(phases_that_were_recorded_are_those),
        cmocka_unit_test(steps_split_into_the_phases_of_all_threads),
        cmocka_unit_test(an_optimizer_with_a_closure_holds_all_phases),
        cmocka_unit_test(a_closure_splits_its_step),
        cmocka_unit_test(collectives_alone_are_communication),
        cmocka_unit_test(the_run_is_in_steps_and_outside),
        cmocka_unit_test(what_is_differentiated_in_the_same_pass_was_recomputed),
        cmocka_unit_test(what_a_backward_operator_has_numbered_was_recomputed),
        cmocka_unit_test(a_checkpoint_recomputes),
        cmocka_unit_test(xla_names_the_transposed_program),
        cmocka_unit_test(backward_operators_know_their_forward_ones),
        cmocka_unit_test(a_number_that_comes_again_names_the_operator_before),
        cmocka_unit_test(threads_are_told_apart),
        cmocka_unit_test(table_of_links_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
