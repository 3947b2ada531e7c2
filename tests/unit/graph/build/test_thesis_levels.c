/* SPDX-License-Identifier: Apache-2.0 */
/* Levels by the rule of mlirgraph, against that rule as its own program has it: levels are lists,
 * and an interval is compared with every member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/build/thesis_levels.h"

#define MOST 3000

/* The members of a level are a list: the first one, and then the next of each. */
struct level { uint32_t first, last, count; };

static uint32_t next[MOST];

static bool are_parallel(const struct vv_interval *a, const struct vv_interval *b)
{
    return a->begin_ns <= b->end_ns && b->begin_ns <= a->end_ns;
}

static bool is_parallel_to_all(const struct vv_interval *items, const struct level *level,
                               uint32_t item)
{
    for (uint32_t i = level->first; i != UINT32_MAX; i = next[i])
        if (!are_parallel(&items[i], &items[item]))
            return false;
    return true;
}

static void put(const struct vv_interval *items, struct level *levels, uint32_t *count,
                uint32_t item)
{
    uint32_t at = 0;
    next[item] = UINT32_MAX;
    for (; at < *count; at++) {
        if (is_parallel_to_all(items, &levels[at], item)) {
            next[levels[at].last] = item;
            levels[at].last = item;
            levels[at].count++;
            return;
        }
        if (items[item].begin_ns < items[levels[at].first].begin_ns)
            break;
    }
    memmove(&levels[at + 1], &levels[at], (*count - at) * sizeof *levels);
    levels[at] = (struct level){ item, item, 1 };
    ++*count;
}

static void compare(const struct vv_interval *items, uint32_t count)
{
    static struct level levels[MOST + 1];
    static uint32_t level[MOST], parent[MOST];
    uint32_t level_count = 0;
    for (uint32_t i = 0; i < count; i++)
        put(items, levels, &level_count, i);
    assert_int_equal(vv_thesis_levels(items, count, level, parent, NULL), VARVE_OK);
    for (uint32_t k = 0; k < level_count; k++) {
        uint32_t above = k > 0 ? levels[k - 1].first : UINT32_MAX;
        for (uint32_t item = levels[k].first; item != UINT32_MAX; item = next[item]) {
            assert_int_equal(level[item], k);
            assert_int_equal(parent[item], above);
            if (above != UINT32_MAX && next[above] != UINT32_MAX)
                above = next[above];
        }
    }
}

static void any_intervals(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        struct vv_interval items[60];
        uint32_t count = (uint32_t)rand() % 61;
        int span = 1 + rand() % 40, longest = 1 + rand() % 40;
        for (uint32_t i = 0; i < count; i++) { /* many that touch, are equal, or have no duration */
            items[i].begin_ns = rand() % span - 5;
            items[i].end_ns = items[i].begin_ns + (rand() % 3 == 0 ? 0 : rand() % longest);
        }
        compare(items, count);
    }
}

/* So many levels that a part of them is sorted: long ones whose members have only a late instant in
 * common, each with one before it that has passed, and then such that meet none, one or many. */
static void many_levels(void **state)
{
    (void)state;
    srand(4);
    for (int round = 0; round < 40; round++) {
        static struct vv_interval items[MOST];
        uint32_t pairs = 100 + (uint32_t)rand() % 800;
        int64_t late = 100000;
        for (uint32_t k = 0; k < pairs; k++) {
            items[3 * k] = (struct vv_interval){ 2 * k, late - 10 * k - 5 };
            items[3 * k + 1] = (struct vv_interval){ late - 10 * k - 5, late - 10 * k - 5 };
            items[3 * k + 2] = (struct vv_interval){ 2 * k + 1, 2 * k + 1 };
        }
        for (uint32_t i = 3 * pairs; i < MOST; i++) {
            items[i].begin_ns = rand() % 4 == 0 ? rand() % late : 2 * pairs + rand() % 1000;
            items[i].end_ns = items[i].begin_ns + (rand() % 8 == 0 ? rand() % late : rand() % 3);
        }
        compare(items, MOST);
    }
}

static void extremes(void **state)
{
    (void)state;
    const struct vv_interval items[] = { { INT64_MIN, INT64_MIN }, { 0, INT64_MAX - 1 },
                                         { INT64_MIN, INT64_MAX - 1 }, { 0, 0 },
                                         { INT64_MAX - 1, INT64_MAX - 1 } };
    for (uint32_t count = 0; count <= 5; count++)
        compare(items, count);
}

/* A million intervals that nest on many lines one after the other. */
static void a_million(void **state)
{
    (void)state;
    enum { COUNT = 1000000, LINES = 10 };
    struct vv_interval *items = malloc(COUNT * sizeof *items);
    uint32_t *level = malloc(COUNT * sizeof *level), *parent = malloc(COUNT * sizeof *parent);
    assert_true(items != NULL && level != NULL && parent != NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        int64_t at = i % (COUNT / LINES);
        int64_t begin = at / 4 * 100 + at % 4 * 10 + i / (COUNT / LINES);
        items[i] = (struct vv_interval){ begin, begin + (at % 4 == 0 ? 90 : 20) };
    }
    assert_int_equal(vv_thesis_levels(items, COUNT, level, parent, NULL), VARVE_OK);
    free(items);
    free(level);
    free(parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_intervals),
                                        cmocka_unit_test(many_levels),
                                        cmocka_unit_test(extremes), cmocka_unit_test(a_million) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
