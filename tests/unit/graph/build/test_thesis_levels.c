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

#define MOST 60

struct level { uint32_t members[MOST]; uint32_t count; };

static bool are_parallel(const struct vv_interval *a, const struct vv_interval *b)
{
    return a->begin_ns <= b->end_ns && b->begin_ns <= a->end_ns;
}

static bool is_parallel_to_all(const struct vv_interval *items, const struct level *level,
                               uint32_t item)
{
    for (uint32_t i = 0; i < level->count; i++)
        if (!are_parallel(&items[level->members[i]], &items[item]))
            return false;
    return true;
}

static void put(const struct vv_interval *items, struct level *levels, uint32_t *count,
                uint32_t item)
{
    uint32_t at = 0;
    for (; at < *count; at++) {
        if (is_parallel_to_all(items, &levels[at], item)) {
            levels[at].members[levels[at].count++] = item;
            return;
        }
        if (items[item].begin_ns < items[levels[at].members[0]].begin_ns)
            break;
    }
    memmove(&levels[at + 1], &levels[at], (*count - at) * sizeof *levels);
    levels[at] = (struct level){ .members = { item }, .count = 1 };
    ++*count;
}

static void compare(const struct vv_interval *items, uint32_t count)
{
    static struct level levels[MOST + 1];
    uint32_t level_count = 0, level[MOST], parent[MOST];
    for (uint32_t i = 0; i < count; i++)
        put(items, levels, &level_count, i);
    assert_int_equal(vv_thesis_levels(items, count, level, parent, NULL), VARVE_OK);
    for (uint32_t k = 0; k < level_count; k++)
        for (uint32_t i = 0; i < levels[k].count; i++) {
            uint32_t item = levels[k].members[i];
            const struct level *before = k > 0 ? &levels[k - 1] : NULL;
            assert_int_equal(level[item], k);
            assert_int_equal(parent[item],
                             before == NULL ? UINT32_MAX
                                            : before->members[i < before->count
                                                                  ? i : before->count - 1]);
        }
}

static void any_intervals(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        struct vv_interval items[MOST];
        uint32_t count = (uint32_t)rand() % (MOST + 1);
        int span = 1 + rand() % 40, longest = 1 + rand() % 40;
        for (uint32_t i = 0; i < count; i++) { /* many that touch, are equal, or have no duration */
            items[i].begin_ns = rand() % span - 5;
            items[i].end_ns = items[i].begin_ns + (rand() % 3 == 0 ? 0 : rand() % longest);
        }
        compare(items, count);
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
                                        cmocka_unit_test(extremes), cmocka_unit_test(a_million) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
