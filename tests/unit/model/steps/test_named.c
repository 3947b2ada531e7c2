/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that nobody recorded as such: by name, by what the user says, and by what repeats
 * itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "handmade.h"

/* "track: begin+duration #index, …" of all steps, and R, A or P: their origin. */
static void expect_steps(const struct vv_model *model, const char *wanted)
{
    const struct vv_steps *steps = &model->steps;
    char text[400] = "";
    size_t length = 0;
    for (uint32_t s = 0; s < steps->table.count; s++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%u: %d+%d #%d %c",
                                   s > 0 ? ", " : "", steps->track[s],
                                   (int)(steps->begin_ns[s] - HANDMADE_BEGIN_NS),
                                   (int)steps->duration_ns[s], (int)steps->index[s],
                                   steps->origin[s] == VV_STEP_RANGE    ? 'R'
                                   : steps->origin[s] == VV_STEP_ANCHOR ? 'A'
                                                                        : 'P');
    assert_string_equal(text, wanted);
}

/* A helper that has fewer, and a main thread: two outer ranges, an inner one of the same name, two
 * anchors. */
static struct vv_model *make(void)
{
    struct vv_model *model = handmade_model();
    uint32_t helper = handmade_track(model, "helper", 101),
             main_track = handmade_track(model, "main", 100);
    handmade_op(model, helper, "train_step 9", 5, 50);
    handmade_op(model, main_track, "conv", 10, 20);
    handmade_op(model, main_track, "mine", 20, 25);
    handmade_op(model, main_track, "Optimizer.step#SGD", 80, 90);
    handmade_op(model, main_track, "mine", 100, 120);
    handmade_op(model, main_track, "Optimizer.step#SGD", 150, 160);
    return model;
}

static uint32_t add_ranges(struct vv_model *model)
{
    uint32_t range = handmade_slice(model, 1, "Train_Step 3", VARVE_LAYER_HOST, 10, 92);
    handmade_slice(model, 1, "train_step", VARVE_LAYER_HOST, 30, 40);
    handmade_slice(model, 1, "train_step[x]", VARVE_LAYER_HOST, 100, 160);
    handmade_slice(model, 1, "train_steps", VARVE_LAYER_HOST, 170, 180);
    return range;
}

/* Decoder layers repeat themselves, but the engine's step is the range around them. */
static void an_engines_range_is_its_step(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t main_track = handmade_track(model, "main", 100);
    handmade_slice(model, main_track, "execute_8192_context_9(sq8192)_generation_37(sq37)",
                   VARVE_LAYER_HOST, 0, 410);
    for (int layer = 0; layer < 40; layer++) {
        handmade_op(model, main_track, "attention", 10 * layer, 10 * layer + 6);
        handmade_op(model, main_track, "mlp", 10 * layer + 6, 10 * layer + 9);
    }
    handmade_slice(model, main_track, "execute_diffusion_1_256x256", VARVE_LAYER_HOST, 500, 600);
    handmade_slice(model, main_track, "executes", VARVE_LAYER_HOST, 700, 800);
    handmade_finish(model);
    expect_steps(model, "0: 0+410 #0 R, 0: 500+100 #1 R");
    vv_model_destroy(model);
}

static void the_outermost_ranges_of_the_thread_that_has_most(void **state)
{
    (void)state;
    struct vv_model *model = make();
    add_ranges(model);
    handmade_finish(model);
    expect_steps(model, "1: 10+82 #3 R, 1: 100+60 #1 R");
    for (uint32_t s = 0; s < model->slices.table.count; s++) {
        bool is_step = model->steps.slice[0] == s || model->steps.slice[1] == s;
        assert_int_equal(model->slices.flags[s], is_step ? VV_SLICE_STEP : 0);
    }
    vv_model_destroy(model);
}

/* From the end of the one before; the first from the thread's first slice. */
static void else_what_lies_between_anchors(void **state)
{
    (void)state;
    struct vv_model *model = make();
    handmade_finish(model);
    expect_steps(model, "1: 10+80 #0 A, 1: 90+70 #1 A");
    vv_model_destroy(model);
}

/* A call of JAX's returns early, so the wait behind it belongs to the next step. One call, or a
 * function with another name, is none. */
static void else_what_lies_between_calls_of_a_jitted_step(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t main_track = handmade_track(model, "main", 100);
    handmade_op(model, main_track, "PjitFunction(step)", 0, 10);
    handmade_op(model, main_track, "wait", 10, 70);
    handmade_op(model, main_track, "PjitFunction(step)", 70, 80);
    handmade_op(model, main_track, "PjitFunction(update)", 90, 95);
    handmade_op(model, main_track, "PjitFunction(relu)", 95, 97);
    handmade_op(model, main_track, "PjitFunction(relu)", 97, 99);
    handmade_finish(model);
    expect_steps(model, "0: 0+10 #0 A, 0: 10+70 #1 A");
    vv_model_destroy(model);
}

static void what_the_user_says_goes_before(void **state)
{
    (void)state;
    static const struct { const char *step_by, *wanted; } cases[] = {
        { "mine", "1: 20+5 #0 R, 1: 100+20 #1 R" },
        { "..mine", "1: 10+15 #0 A, 1: 25+95 #1 A" },
        { "train_step", "1: 10+82 #3 R, 1: 100+60 #1 R" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vv_model *model = make();
        add_ranges(model);
        handmade_step(model, 0, 7, 0, 200);
        model->step_by = cases[i].step_by;
        handmade_finish(model);
        expect_steps(model, cases[i].wanted);
        vv_model_destroy(model);
    }
    struct vv_model *model = make();
    struct varve_error error;
    model->step_by = "..yours";
    assert_int_equal(vv_model_finish(model, &error), VARVE_INVALID);
    assert_string_equal(error.message, "no range 'yours' in this trace to take for steps");
    vv_model_destroy(model);
}

/* ---- anchors other than a name ---- */

static uint32_t operator_with(struct vv_model *model, const char *name, int64_t begin, int64_t end,
                              int64_t rows)
{
    uint32_t slice = handmade_op(model, 0, name, begin, end), tensor;
    uint32_t op = handmade_arguments(model, slice, 0, -1, 0);
    const int64_t dims[2] = { rows, 3 };
    assert_int_equal(vv_model_add_tensor(model, 0, 2, dims, &tensor, NULL), VARVE_OK);
    model->ops.first_tensor[op] = tensor;
    model->ops.tensor_count[op] = 1;
    return slice;
}

/* Five times two optimizers of one name, whose parameters have 4 and `rows` rows; then `more` times
 * one with parameters of 6 rows. The first of the two makes its state. */
static struct vv_model *two_optimizers(int64_t rows, int64_t more)
{
    struct vv_model *model = handmade_model();
    handmade_track(model, "main", 100);
    for (int64_t i = 0; i < 5; i++) {
        int64_t at = 100 * i;
        if (i == 0)
            operator_with(model, "aten::zeros", 21, 22, 9);
        handmade_op(model, 0, "aten::mm", at + 1, at + 10);
        handmade_op(model, 0, "Optimizer.step#Adam", at + 20, at + 30);
        operator_with(model, "aten::add_", at + 23, at + 25, 4);
        handmade_op(model, 0, "Optimizer.step#Adam", at + 60, at + 70);
        operator_with(model, "aten::add_", at + 63, at + 65, rows);
    }
    for (int64_t at = 500; at < 500 + 100 * more; at += 100) {
        handmade_op(model, 0, "Optimizer.step#Adam", at + 20, at + 30);
        operator_with(model, "aten::add_", at + 23, at + 25, 6);
    }
    handmade_finish(model);
    return model;
}

static void several_optimizers_end_one_step(void **state)
{
    (void)state;
    struct vv_model *model = two_optimizers(5, 0);
    expect_steps(model, "0: 1+69 #0 A, 0: 70+100 #1 A, 0: 170+100 #2 A, 0: 270+100 #3 A, "
                        "0: 370+100 #4 A");
    vv_model_destroy(model);
    model = two_optimizers(5, 3); /* another model is trained behind */
    expect_steps(model, "0: 1+69 #0 A, 0: 70+100 #1 A, 0: 170+100 #2 A, 0: 270+100 #3 A, "
                        "0: 370+100 #4 A, 0: 470+60 #5 A, 0: 530+100 #6 A, 0: 630+100 #7 A");
    vv_model_destroy(model);
    model = two_optimizers(4, 0); /* one optimizer, twice as often */
    assert_int_equal(model->steps.table.count, 10);
    vv_model_destroy(model);
}

/* The step begins with the last batch before backward; what repeats itself before is no step. */
static void one_optimizer_step_is_a_step(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    handmade_track(model, "main", 100);
    for (int64_t i = 0; i < 20; i++) {
        handmade_op(model, 0, "aten::add", 10 * i, 10 * i + 4);
        handmade_op(model, 0, "aten::mul", 10 * i + 4, 10 * i + 9);
    }
    handmade_op(model, 0, "enumerate(DataLoader)#_Single.__next__", 210, 220);
    handmade_op(model, 0, "enumerate(DataLoader)#_Single.__next__", 230, 240);
    handmade_op(model, 0, "autograd::engine::evaluate_function: MmBackward0", 250, 260);
    handmade_op(model, 0, "enumerate(DataLoader)#_Single.__next__", 262, 268);
    handmade_op(model, 0, "Optimizer.step#SGD.step", 270, 280);
    handmade_finish(model);
    expect_steps(model, "0: 230+50 #0 A");
    vv_model_destroy(model);
}

/* Three iterations: forward [0,10), two of the engine's ranges [20,40), the update [50,60). */
static void backward_passes_end_steps(void **state)
{
    (void)state;
    for (uint32_t engine = 0; engine < 2; engine++) {
        struct vv_model *model = handmade_model();
        handmade_track(model, "main", 100);
        handmade_track(model, "engine", 101);
        for (int64_t i = 0; i < 3; i++) {
            int64_t at = 100 * i;
            handmade_op(model, 0, "aten::mm", at, at + 10);
            handmade_op(model, engine, "autograd::engine::evaluate_function: B", at + 20, at + 30);
            handmade_op(model, engine, "aten::mm", at + 21, at + 29);
            handmade_op(model, engine, "autograd::engine::evaluate_function: A", at + 32, at + 40);
            handmade_op(model, 0, "aten::add_", at + 50, at + 60);
        }
        handmade_finish(model);
        expect_steps(model, "0: 0+40 #0 A, 0: 40+100 #1 A, 0: 140+100 #2 A");
        assert_string_equal(vv_intern_text(&model->strings, model->steps.name[0]),
                            "a backward pass");
        vv_model_destroy(model);
    }
}

static void iterate(struct vv_model *model, uint32_t track, int64_t times)
{
    for (int64_t at = 0; at < 100 * times; at += 100) {
        handmade_op(model, track, "aten::mm", at, at + 10);
        handmade_op(model, track, "autograd::engine::evaluate_function: B", at + 20, at + 40);
    }
}

/* Two threads train, a third infers, and has more operators; a device's thread of the engine runs
 * what others call. The steps are of the thread with most passes, or of the one asked for. */
static void other_threads_have_passes_of_their_own(void **state)
{
    (void)state;
    static const char *const asked[] = { NULL, "trains less", "main" };
    for (size_t c = 0; c < 3; c++) {
        struct vv_model *model = handmade_model();
        handmade_track(model, "main", 100);
        handmade_track(model, "infers", 101);
        handmade_track(model, "trains less", 102);
        handmade_track(model, "pt_autograd_0", 103);
        model->step_thread = asked[c];
        iterate(model, 0, 5);
        iterate(model, 2, 3);
        for (int64_t at = 0; at < 500; at += 5)
            handmade_op(model, 1, "aten::mm", at, at + 4);
        handmade_op(model, 3, "autograd::engine::evaluate_function: B", 25, 35);
        handmade_op(model, 3, "autograd::engine::evaluate_function: B", 125, 135);
        handmade_finish(model);
        const bool is_less = c == 1;
        assert_int_equal(model->steps.table.count, is_less ? 3 : 5);
        assert_int_equal(model->steps.track[0], is_less ? 2 : 0);
        const uint32_t left[] = { is_less ? 5 : 0, 0, is_less ? 0 : 3, 0 };
        assert_memory_equal(model->tracks.steps_left, left, sizeof left);
        vv_model_destroy(model);
    }
}

/* Without training, from the end of one wait for a batch to the end of the next. */
static void waits_for_data_end_steps(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    handmade_track(model, "main", 100);
    handmade_op(model, 0, "aten::empty", 0, 5);
    for (int64_t i = 0; i < 3; i++) {
        handmade_op(model, 0, "enumerate(DataLoader)#_Single.__next__", 100 * i + 10, 100 * i + 20);
        handmade_op(model, 0, "aten::mm", 100 * i + 30, 100 * i + 80);
    }
    handmade_finish(model);
    expect_steps(model, "0: 20+100 #0 A, 0: 120+100 #1 A");
    vv_model_destroy(model);
}

/* ---- repetition ---- */

/* Pairs of operators of 10 and of `beside` ns in all, and one that takes long. */
static void a_repeat_must_hold_most_of_the_time(void **state)
{
    (void)state;
    static const struct { int64_t times, other_ns, pause_ns; uint32_t steps; } cases[] = {
        { 30, 400, 0, 0 }, { 30, 200, 0, 30 }, { 30, 400, 5000, 0 }, { 6, 20, 0, 6 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct vv_model *model = handmade_model();
        char name[20];
        handmade_track(model, "main", 100);
        int64_t at = 0;
        for (int64_t i = 0; i < 20; i++) { /* more elements than six times two */
            snprintf(name, sizeof name, "other %d", (int)i);
            handmade_op(model, 0, name, at, at + cases[c].other_ns / 20);
            at += cases[c].other_ns / 20;
        }
        for (int64_t i = 0; i < cases[c].times; i++) {
            handmade_op(model, 0, "a", at, at + 4);
            handmade_op(model, 0, "b", at + 4, at + 10);
            at += 10 + (i == 3 ? cases[c].pause_ns : 0);
        }
        handmade_finish(model);
        assert_int_equal(model->steps.table.count, cases[c].steps);
        vv_model_destroy(model);
    }
}

/* Pairs of operators, ten apart; the last pair takes no time, or time. */
static void else_what_repeats_itself(void **state)
{
    (void)state;
    for (int64_t last_ns = 0; last_ns < 2; last_ns++) {
        struct vv_model *model = handmade_model();
        uint32_t track = handmade_track(model, "main", 100);
        for (int64_t i = 0; i < 20; i++) {
            int64_t duration_ns = i < 19 ? 3 : last_ns;
            handmade_op(model, track, "a", 10 * i, 10 * i + duration_ns);
            handmade_op(model, track, "b", 10 * i + duration_ns, 10 * i + 2 * duration_ns);
        }
        handmade_finish(model);
        assert_int_equal(model->steps.table.count, last_ns > 0 ? 20 : 0);
        for (uint32_t s = 0; s < model->steps.table.count; s++) {
            assert_int_equal(model->steps.begin_ns[s], HANDMADE_BEGIN_NS + 10 * s);
            assert_int_equal(model->steps.duration_ns[s], s < 19 ? 10 : 2);
            assert_int_equal(model->steps.origin[s], VV_STEP_REPEAT);
        }
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engines_range_is_its_step),
        cmocka_unit_test(the_outermost_ranges_of_the_thread_that_has_most),
        cmocka_unit_test(else_what_lies_between_anchors),
        cmocka_unit_test(else_what_lies_between_calls_of_a_jitted_step),
        cmocka_unit_test(what_the_user_says_goes_before),
        cmocka_unit_test(several_optimizers_end_one_step),
        cmocka_unit_test(one_optimizer_step_is_a_step),
        cmocka_unit_test(backward_passes_end_steps),
        cmocka_unit_test(other_threads_have_passes_of_their_own),
        cmocka_unit_test(waits_for_data_end_steps),
        cmocka_unit_test(a_repeat_must_hold_most_of_the_time),
        cmocka_unit_test(else_what_repeats_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
