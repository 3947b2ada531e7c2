/* SPDX-License-Identifier: Apache-2.0 */
/* Which collective a launch started: what was told is found once, and the newest are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/process/launches.h"

static void tell(uint32_t correlation, int64_t number)
{
    const struct vv_launch_collective one = { .operation = "all_reduce", .number = number };
    vv_launch_tell(correlation, &one);
}

static void expect(uint32_t correlation, int64_t number)
{
    struct vv_launch_collective found;
    assert_true(vv_launch_told(correlation, &found));
    assert_string_equal(found.operation, "all_reduce");
    assert_int_equal(found.number, number);
}

static void expect_none(uint32_t correlation)
{
    struct vv_launch_collective found = { .number = 4711 };
    assert_false(vv_launch_told(correlation, &found));
    assert_int_equal(found.number, 4711);
}

static void nothing_is_told_before_it_is_wanted(void **state)
{
    (void)state;
    tell(1, 1);
    assert_false(vv_launches_are_wanted());
    expect_none(1);
    vv_launches_want();
    assert_true(vv_launches_are_wanted());
    expect(1, 1);
}

static void a_kernel_is_asked_for_once(void **state)
{
    (void)state;
    tell(5, 50);
    tell(5, 51);
    tell(6, 60);
    expect(5, 51);
    expect_none(5);
    expect(6, 60);
    tell(0, 1);
    expect_none(0);
}

/* 1,024 sets of four places, by the correlation's remainder. */
static void the_oldest_makes_room(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4096; i++)
        tell(10 + i, i);
    for (uint32_t i = 0; i < 4096; i++)
        expect(10 + i, i);
    for (uint32_t i = 0; i < 5; i++)
        tell(7 + 1024 * i, i);
    expect_none(7);
    for (uint32_t i = 1; i < 5; i++)
        expect(7 + 1024 * i, i);
}

static void only_kernels_of_nccl_count(void **state)
{
    (void)state;
    vv_launch_note("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 3);
    vv_launch_note("_Z4gemmPfS_S_i", 4);
    vv_launch_note(NULL, 5);
    assert_int_equal(vv_launch_take(), 3);
    assert_int_equal(vv_launch_take(), 0);
    vv_launch_note("_Z31ncclDevKernel_SendRecv24ncclDevKernelArgs", 6);
    assert_int_equal(vv_launch_take(), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_told_before_it_is_wanted),
        cmocka_unit_test(a_kernel_is_asked_for_once),
        cmocka_unit_test(the_oldest_makes_room),
        cmocka_unit_test(only_kernels_of_nccl_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
