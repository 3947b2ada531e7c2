/* SPDX-License-Identifier: Apache-2.0 */
/* Switches that wait to be told: in order, and of too many the last one with a count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctf/control_page.h"
#include "record/control/switch_queue.h"

static void put(uint32_t layers)
{
    vv_switch_queue_put(&(struct vv_told_switch){ .layers = layers });
}

static void what_is_put_first_is_taken_first(void **state)
{
    (void)state;
    struct vv_told_switch told;
    uint32_t put_count = 0, taken = 0;
    for (int round = 0; round < 3000; round++) { /* around its end, too */
        for (int i = 0; i < 1 + round % 4; i++)
            put(put_count++);
        while (vv_switch_queue_count() > (size_t)(round % 3)) {
            assert_true(vv_switch_queue_take(&told));
            assert_int_equal(told.layers, taken++);
            assert_int_equal(told.missed, 0);
        }
    }
    vv_switch_queue_clear();
    assert_false(vv_switch_queue_take(&told));
}

static void of_too_many_the_last_one_stays(void **state)
{
    (void)state;
    struct vv_told_switch told = { 0 };
    for (uint32_t i = 0; i < VV_CONTROL_KEPT + 5; i++)
        put(i);
    assert_int_equal(vv_switch_queue_count(), VV_CONTROL_KEPT);
    for (uint32_t i = 0; i < VV_CONTROL_KEPT - 1; i++) {
        assert_true(vv_switch_queue_take(&told));
        assert_int_equal(told.layers, i);
        assert_int_equal(told.missed, 0);
    }
    assert_true(vv_switch_queue_take(&told));
    assert_int_equal(told.layers, VV_CONTROL_KEPT + 4);
    assert_int_equal(told.missed, 5);
    assert_false(vv_switch_queue_take(&told));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_first_is_taken_first),
        cmocka_unit_test(of_too_many_the_last_one_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
