/* SPDX-License-Identifier: Apache-2.0 */
/* Which forward operator a backward one belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "handmade.h"
#include "meaning/autograd_links.h"

/* Finds the links; items[i].forward and .backward must be these slices. */
static void expect_links(struct vv_model *model, const uint32_t (*wanted)[3], size_t count)
{
    struct vv_autograd_links links = { 0 };
    handmade_finish(model);
    assert_int_equal(vv_autograd_links(model, &links, NULL), VARVE_OK);
    assert_int_equal(links.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(links.items[i].forward, wanted[i][0]);
        assert_int_equal(links.items[i].backward, wanted[i][1]);
        assert_int_equal(links.items[i].ordinal, wanted[i][2]);
    }
    vv_model_destroy(model);
}

/* Two threads number their operators alike. Who only counted which thread has the number last would
 * take the second one. */
static void the_forward_thread_is_the_one_that_is_named(void **state)
{
    (void)state;
    static const uint32_t wanted[][3] = { { 0, 2, 1 }, { 1, 3, 1 } };
    struct vv_model *model = handmade_model();
    uint32_t one = handmade_track(model, "one", 11), two = handmade_track(model, "two", 12);
    uint32_t engine = handmade_track(model, "engine", 13);
    handmade_arguments(model, handmade_op(model, one, "mul", 0, 10), 0, 7, 0);
    handmade_arguments(model, handmade_op(model, two, "mul", 20, 30), 0, 7, 0);
    handmade_arguments(model, handmade_op(model, engine, "MulBackward", 40, 50), 0, 7, 11);
    handmade_arguments(model, handmade_op(model, engine, "MulBackward", 60, 70), 0, 7, 12);
    expect_links(model, wanted, 2);
}

/* In order of their ends, also where a trace's time begins below zero. */
static void links_come_in_the_order_of_ends(void **state)
{
    (void)state;
    static const uint32_t wanted[][3] = { { 0, 3, 1 }, { 0, 2, 2 }, { 0, 1, 3 } };
    static const int64_t begins_ns[] = { -90, -50, -40, -30 }, durations_ns[] = { 10, 100, 39, 5 };
    struct vv_model *model = handmade_model();
    uint32_t train = handmade_track(model, "train", 11), engines[3];
    for (int i = 0; i < 3; i++)
        engines[i] = handmade_track(model, "engine", 20 + i);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t slice = handmade_op(model, i == 0 ? train : engines[i - 1], "op", 0, 1);
        handmade_arguments(model, slice, 0, 7, i == 0 ? 0 : 11);
        model->slices.begin_ns[slice] = begins_ns[i];
        model->slices.duration_ns[slice] = durations_ns[i];
    }
    model->run.begin_ns = -100;
    model->run.end_ns = 100;
    expect_links(model, wanted, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_forward_thread_is_the_one_that_is_named),
        cmocka_unit_test(links_come_in_the_order_of_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
