/* SPDX-License-Identifier: Apache-2.0 */
/* Who switches a process from outside says when: every record lies within what the page says of its
 * layers, wherever between two instructions of the switch it was made. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/system/clock.h"
#include "ctf/control_page.h"
#include "single_step.h"

static struct vv_control_page page;
static volatile uint64_t first_on, last_on; /* when the page was first, and last, seen to ask for
                                               records */
static volatile long steps;

static void look(int number)
{
    (void)number;
    steps++;
    if (__atomic_load_n(&page.layers, __ATOMIC_RELAXED) == 0)
        return;
    uint64_t now = vv_clock_ticks();
    if (first_on == 0)
        first_on = now;
    last_on = now;
}

static void switch_in_steps(uint32_t layers)
{
    steps = 0;
    first_on = last_on = 0;
    step_set(true);
    vv_control_page_switch(&page, -1, layers);
    step_set(false);
}

static int begin(void **state)
{
    (void)state;
    vv_clock_init();
    memset(&page, 0, sizeof page);
    page.clock_is_counter = vv_clock_is_counter;
    signal(SIGTRAP, look);
    return 0;
}

static int end(void **state)
{
    (void)state;
    signal(SIGTRAP, SIG_DFL);
    return 0;
}

static void a_start_is_before_and_a_stop_behind_all_that_is_recorded(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i += 2) {
        switch_in_steps(VARVE_LAYER_OP);
        if (!CAN_STEP || steps < 10)
            skip(); /* another machine, a sanitizer, valgrind */
        assert_true(first_on != 0);
        assert_true(page.switches[i].ticks <= first_on);
        assert_int_equal(page.switches[i].layers, VARVE_LAYER_OP);
        switch_in_steps(0);
        assert_true(last_on != 0);
        assert_true(page.switches[i + 1].ticks >= last_on);
        assert_int_equal(page.switches[i + 1].layers, 0);
    }
    assert_int_equal(page.asked, 20);
}

/* The process has found nothing yet: the page keeps the first 64, the file behind it those that
 * follow, and the last 4,096 of these. */
static void what_has_no_room_goes_behind_the_page(void **state)
{
    (void)state;
    struct vv_control_switch behind;
    FILE *file = tmpfile();
    assert_non_null(file);
    for (uint32_t i = 0; i < 70; i++) {
        uint32_t former = i == 0 ? 0 : i;
        assert_int_equal(vv_control_page_switch(&page, fileno(file), i + 1), former);
    }
    assert_int_equal(page.layers, 70);
    assert_int_equal(page.asked, 70);
    for (uint32_t i = 0; i < VV_CONTROL_SWITCHES; i++) {
        assert_int_equal(page.switches[i].layers, i + 1);
        assert_int_equal(page.switches[i].number, i + 1);
        assert_int_equal(page.switches[i].pid, getpid());
    }
    for (uint32_t i = VV_CONTROL_SWITCHES; i < 70; i++) {
        assert_int_equal(pread(fileno(file), &behind, sizeof behind,
                               (off_t)(4096 + i * sizeof behind)), sizeof behind);
        assert_int_equal(behind.layers, i + 1);
        assert_int_equal(behind.number, i + 1);
    }
    page.noted = 7; /* seven have been read: the places are free */
    vv_control_page_switch(&page, fileno(file), 71);
    assert_int_equal(page.switches[6].layers, 71);
    assert_int_equal(page.switches[7].layers, 8);
    page.asked = 4096 + 70;
    vv_control_page_switch(&page, fileno(file), 72);
    assert_int_equal(pread(fileno(file), &behind, sizeof behind,
                           (off_t)(4096 + 70 * sizeof behind)), sizeof behind);
    assert_int_equal(behind.number, 4096 + 71);
    fclose(file);
}

static void callbacks_are_called_for_where_they_listen(void **state)
{
    (void)state;
    page.steps = VV_STEPS_COUNTED;
    vv_control_page_switch(&page, -1, VARVE_LAYER_OP);
    assert_int_equal(page.steps, 0);
    page.listens = 1;
    vv_control_page_switch(&page, -1, VARVE_LAYER_OP); /* nothing changes */
    assert_int_equal(page.steps, 0);
    vv_control_page_switch(&page, -1, 0);
    assert_int_equal(page.steps, VV_STEPS_TOLD);
}

static void a_switch_to_what_is_there_already_is_none(void **state)
{
    (void)state;
    page.steps = VV_STEPS_COUNTED;
    vv_control_page_switch(&page, -1, VARVE_LAYER_OP);
    assert_int_equal(page.steps, 0); /* its schedule ends */
    assert_int_equal(page.epoch, 1);
    vv_control_page_switch(&page, -1, VARVE_LAYER_OP);
    vv_control_page_switch(&page, -1, VARVE_LAYER_ALL);
    assert_int_equal(page.epoch, 1); /* grows where recording begins, not where it goes on */
    assert_int_equal(page.asked, 2);
    vv_control_page_switch(&page, -1, 0);
    assert_int_equal(page.epoch, 1);
    vv_control_page_switch(&page, -1, 0);
    assert_int_equal(page.epoch, 1);
    for (uint32_t bit = 0; bit < 11; bit++) { /* whatever the layer */
        vv_control_page_switch(&page, -1, 1u << bit);
        assert_int_equal(page.epoch, 2 + bit);
        vv_control_page_switch(&page, -1, 0);
    }
}

/* Its ticks would be read by a clock that they are not of. */
static void of_another_clock_no_time_is_told(void **state)
{
    (void)state;
    page.clock_is_counter = !vv_clock_is_counter;
    vv_control_page_switch(&page, -1, VARVE_LAYER_OP);
    vv_control_page_switch(&page, -1, 0);
    assert_int_equal(page.asked, 2);
    assert_int_equal(page.switches[0].ticks, 0);
    assert_int_equal(page.switches[1].ticks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_start_is_before_and_a_stop_behind_all_that_is_recorded,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_has_no_room_goes_behind_the_page, begin, end),
        cmocka_unit_test_setup_teardown(callbacks_are_called_for_where_they_listen, begin, end),
        cmocka_unit_test_setup_teardown(a_switch_to_what_is_there_already_is_none, begin, end),
        cmocka_unit_test_setup_teardown(of_another_clock_no_time_is_told, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
