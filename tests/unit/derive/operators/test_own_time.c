/* SPDX-License-Identifier: Apache-2.0 */
/* Whose time is it: exact for nests, for overlaps, and where a slice sticks out of the window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "derive/operators/own_time.h"
#include "handmade.h"

static int64_t own[16];

/* The own times of all slices of a finished model's first track; returns the sum. */
static int64_t sweep(const struct vv_model *model, int64_t end)
{
    uint32_t stack[16];
    int64_t end_ns = end == INT64_MAX ? end : HANDMADE_BEGIN_NS + end;
    return vv_own_time(&model->slices, 0, (uint32_t)model->slices.table.count, end_ns, stack, own);
}

static void nested_slices_own_what_children_leave(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 0, 100);
    handmade_op(model, track, "b", 10, 40);
    handmade_op(model, track, "c", 15, 20);
    handmade_op(model, track, "d", 40, 100);
    handmade_finish(model);
    assert_int_equal(sweep(model, INT64_MAX), 100);
    const int64_t expected[] = { 10, 25, 5, 60 };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(own[i], expected[i]);
        assert_int_equal(own[i], model->slices.self_ns[i]);
    }
    vv_model_destroy(model);
}

static void an_overlap_belongs_to_the_one_that_began_last(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 0, 10);
    handmade_op(model, track, "b", 5, 15);
    handmade_op(model, track, "c", 20, 30);
    handmade_finish(model);
    assert_int_equal(sweep(model, INT64_MAX), 25);
    assert_int_equal(own[0], 5);
    assert_int_equal(own[1], 10);
    assert_int_equal(own[2], 10);
    vv_model_destroy(model);
}

static void an_early_slice_goes_on_when_a_late_one_ends(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 0, 30);
    handmade_op(model, track, "b", 5, 40);
    handmade_op(model, track, "c", 10, 35);
    handmade_finish(model);
    assert_int_equal(sweep(model, INT64_MAX), 40);
    assert_int_equal(own[0], 5);
    assert_int_equal(own[1], 10);
    assert_int_equal(own[2], 25);
    vv_model_destroy(model);
}

static void time_beyond_the_window_does_not_count(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 0, 100);
    handmade_op(model, track, "b", 10, 90);
    handmade_op(model, track, "c", 60, 70);
    handmade_finish(model);
    assert_int_equal(sweep(model, 50), 50);
    assert_int_equal(own[0], 10);
    assert_int_equal(own[1], 40);
    assert_int_equal(own[2], 0);
    vv_model_destroy(model);
}

static void slices_without_length_own_nothing(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    uint32_t track = handmade_track(model, "main", 100);
    handmade_op(model, track, "a", 0, 10);
    handmade_op(model, track, "b", 5, 5);
    handmade_op(model, track, "c", 10, 10);
    handmade_finish(model);
    assert_int_equal(sweep(model, INT64_MAX), 10);
    assert_int_equal(own[0], 10);
    assert_int_equal(own[1] + own[2], 0);
    vv_model_destroy(model);
}

/* The model's self times are taken where slices nest. Without them the same comes out. */
static void self_times_are_those_of_a_sweep(void **state)
{
    (void)state;
    uint64_t drawn = 1;
    for (int round = 0; round < 3000; round++) {
        struct vv_model *model = handmade_model();
        uint32_t track = handmade_track(model, "main", 100), stack[16];
        int64_t length = 2 + round % 40, swept[16];
        for (int i = 0; i < 12; i++) {
            drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
            int64_t begin = (int64_t)(drawn >> 33) % length, end = (int64_t)(drawn >> 45) % length;
            handmade_op(model, track, "a", begin < end ? begin : end, begin < end ? end : begin);
        }
        handmade_finish(model);
        for (int64_t end = 1; end <= length; end += length / 2) {
            const struct vv_slices bare = { .begin_ns = model->slices.begin_ns,
                                            .duration_ns = model->slices.duration_ns };
            int64_t sum = vv_own_time(&bare, 0, 12, HANDMADE_BEGIN_NS + end, stack, swept);
            assert_int_equal(sweep(model, end), sum);
            assert_memory_equal(own, swept, 12 * sizeof *own);
        }
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_slices_own_what_children_leave),
        cmocka_unit_test(an_overlap_belongs_to_the_one_that_began_last),
        cmocka_unit_test(an_early_slice_goes_on_when_a_late_one_ends),
        cmocka_unit_test(time_beyond_the_window_does_not_count),
        cmocka_unit_test(slices_without_length_own_nothing),
        cmocka_unit_test(self_times_are_those_of_a_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
