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
        cmocka_unit_test(the_outermost_ranges_of_the_thread_that_has_most),
        cmocka_unit_test(else_what_lies_between_anchors),
        cmocka_unit_test(what_the_user_says_goes_before),
        cmocka_unit_test(else_what_repeats_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
