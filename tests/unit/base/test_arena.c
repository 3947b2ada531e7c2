/* SPDX-License-Identifier: Apache-2.0 */
/* test_arena.c — base/arena.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void memory_is_zero_aligned_and_stays(void **state)
{
    (void)state;
    struct vv_arena arena;
    vv_arena_init(&arena);
    unsigned char *kept[300];
    size_t total = 0;
    for (size_t i = 0; i < 300; i++) {
        size_t bytes = i * 37 % 5000;
        kept[i] = vv_arena_alloc(&arena, bytes);
        assert_non_null(kept[i]);
        assert_int_equal((uintptr_t)kept[i] % 16, 0);
        for (size_t at = 0; at < bytes; at++)
            assert_int_equal(kept[i][at], 0);
        memset(kept[i], (int)(i % 251) + 1, bytes);
        total += bytes;
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t at = 0; at < i * 37 % 5000; at++)
            assert_int_equal(kept[i][at], i % 251 + 1);
    assert_int_equal(arena.allocated_bytes, total);
    vv_arena_deinit(&arena);
}

static void text_is_copied_to_its_length(void **state)
{
    (void)state;
    struct vv_arena arena;
    vv_arena_init(&arena);
    char source[] = "conv2d and more";
    const char *copy = vv_arena_text(&arena, source, 6);
    memset(source, '?', sizeof source);
    assert_string_equal(copy, "conv2d");
    assert_string_equal(vv_arena_text(&arena, NULL, 0), "");
    vv_arena_deinit(&arena);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    struct vv_arena arena;
    vv_arena_init(&arena);
    assert_null(vv_arena_alloc(&arena, SIZE_MAX));
    assert_null(vv_arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(vv_arena_text(&arena, "x", SIZE_MAX));
    assert_int_equal(arena.allocated_bytes, 0);
    vv_arena_deinit(&arena);
}

static void deinit_may_come_twice_or_with_null(void **state)
{
    (void)state;
    struct vv_arena arena;
    vv_arena_init(&arena);
    assert_non_null(vv_arena_alloc(&arena, 1));
    vv_arena_deinit(&arena);
    assert_null(arena.blocks);
    vv_arena_deinit(&arena);
    vv_arena_deinit(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zero_aligned_and_stays),
        cmocka_unit_test(text_is_copied_to_its_length),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(deinit_may_come_twice_or_with_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
