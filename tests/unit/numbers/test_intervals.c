/* SPDX-License-Identifier: Apache-2.0 */
/* The union of intervals: the same from any order, and from any number of ordered runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "numbers/intervals.h"

enum { INSTANTS = 16384, INTERVALS = 3000 };

/* The instants that lie in an interval, marked one by one. */
static size_t mark(const struct vv_intervals *set, uint8_t *marks)
{
    size_t marked = 0;
    for (size_t i = 0; i < set->count; i++)
        for (int64_t at = set->items[i].begin_ns; at < set->items[i].end_ns; at++) {
            marked += marks[at] == 0;
            marks[at] = 1;
        }
    return marked;
}

static void expect_union(size_t run_length, uint64_t drawn)
{
    static uint8_t before[INSTANTS], after[INSTANTS];
    struct vv_scratch scratch = { 0 };
    struct vv_intervals set = { .scratch = &scratch };
    int64_t begin_ns = 0;
    for (size_t i = 0; i < INTERVALS; i++) {
        drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t drawn_ns = (int64_t)(drawn >> 40) % (INSTANTS - 100);
        int64_t step_ns = (int64_t)(drawn >> 33) % (INSTANTS / (int64_t)run_length + 1);
        begin_ns = i % run_length == 0 ? drawn_ns / (int64_t)run_length : begin_ns + step_ns;
        begin_ns = begin_ns < INSTANTS - 100 ? begin_ns : INSTANTS - 100;
        assert_int_equal(vv_intervals_append(&set, begin_ns, begin_ns + 1 + (int64_t)(drawn >> 60),
                                             NULL), VARVE_OK);
    }
    memset(before, 0, sizeof before);
    memset(after, 0, sizeof after);
    size_t marked = mark(&set, before);
    vv_intervals_unite(&set);
    assert_int_equal(mark(&set, after), marked);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(vv_intervals_length(&set), marked);
    for (size_t i = 1; i < set.count; i++)
        assert_true(set.items[i].begin_ns > set.items[i - 1].end_ns);
    vv_scratch_deinit(&scratch);
}

static void the_union_covers_what_its_parts_cover(void **state)
{
    (void)state;
    static const size_t run_lengths[] = { 1, 2, 3, 7, 64, 500, 999, 1500, 2999, 3000 };
    for (size_t i = 0; i < sizeof run_lengths / sizeof *run_lengths; i++)
        for (uint64_t seed = 1; seed <= 20; seed++)
            expect_union(run_lengths[i], seed);
}

static void an_empty_set_stays_empty(void **state)
{
    (void)state;
    struct vv_intervals set = { .scratch = NULL };
    vv_intervals_unite(&set);
    assert_int_equal(set.count, 0);
}

/* Sets whose intervals lie close together in one and far apart in the other. */
static void draw_set(struct vv_intervals *set, int64_t gap_ns, int64_t length_ns, uint64_t *drawn)
{
    for (int64_t at_ns = 0; at_ns + length_ns < INSTANTS;) {
        *drawn = *drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
        at_ns += 1 + (int64_t)(*drawn >> 33) % gap_ns;
        int64_t end_ns = at_ns + 1 + (int64_t)(*drawn >> 45) % length_ns;
        assert_int_equal(vv_intervals_append(set, at_ns, end_ns, NULL), VARVE_OK);
        at_ns = end_ns;
    }
}

static void what_is_inside_and_outside_is_what_marks_say(void **state)
{
    (void)state;
    static const int64_t steps_ns[] = { 1, 2, 10, 200, 3000 };
    static uint8_t marks[4][2 * INSTANTS];
    uint64_t drawn = 1;
    for (size_t i = 0; i < 25; i++) {
        struct vv_scratch scratch = { 0 };
        struct vv_intervals sets[4];
        for (int s = 0; s < 4; s++)
            sets[s] = (struct vv_intervals){ .scratch = &scratch };
        draw_set(&sets[0], steps_ns[i % 5], steps_ns[i / 5], &drawn);
        draw_set(&sets[1], steps_ns[i / 5], steps_ns[i % 5], &drawn);
        assert_int_equal(vv_intervals_divide(&sets[0], &sets[1], &sets[2], &sets[3], NULL),
                         VARVE_OK);
        memset(marks, 0, sizeof marks);
        for (int s = 0; s < 4; s++)
            assert_int_equal(mark(&sets[s], marks[s]), vv_intervals_length(&sets[s]));
        for (size_t at = 0; at < 2 * INSTANTS; at++) {
            assert_int_equal(marks[2][at], marks[0][at] & marks[1][at]);
            assert_int_equal(marks[3][at], marks[0][at] & !marks[1][at]);
        }
        assert_int_equal(vv_intervals_length_common(&sets[0], &sets[1]),
                         vv_intervals_length(&sets[2]));
        vv_scratch_deinit(&scratch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_union_covers_what_its_parts_cover),
        cmocka_unit_test(what_is_inside_and_outside_is_what_marks_say),
        cmocka_unit_test(an_empty_set_stays_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
