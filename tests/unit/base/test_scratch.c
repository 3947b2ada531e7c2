/* SPDX-License-Identifier: Apache-2.0 */
/* test_scratch.c — base/scratch.c. That everything goes back shows in the sanitizer build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/scratch.h"

static void arrays_are_apart_aligned_and_stay(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    unsigned char *kept[300];
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(VV_SCRATCH_ARRAY(&scratch, &kept[i], i * 37 % 5000, NULL), VARVE_OK);
        assert_int_equal((uintptr_t)kept[i] % 16, 0);
        memset(kept[i], (int)(i % 251), i * 37 % 5000);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t at = 0; at < i * 37 % 5000; at++)
            assert_int_equal(kept[i][at], i % 251);
    vv_scratch_deinit(&scratch);
    assert_null(scratch.blocks);
    vv_scratch_deinit(&scratch);
}

static void zeros_are_zero(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    int64_t *values;
    assert_int_equal(VV_SCRATCH_ZEROS(&scratch, &values, 1000, NULL), VARVE_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(values[i], 0);
    vv_scratch_deinit(&scratch);
}

/* The one that grows has older and newer neighbours, and is once the newest. */
static void an_array_grows_among_others(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    uint32_t *items = NULL, *other;
    size_t capacity = 0;
    assert_int_equal(VV_SCRATCH_ARRAY(&scratch, &other, 5, NULL), VARVE_OK);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(VV_SCRATCH_RESERVE(&scratch, &items, &capacity, i + 1u, NULL), VARVE_OK);
        assert_true(capacity > i);
        items[i] = i;
        if (i % 10000 == 5)
            assert_int_equal(VV_SCRATCH_ARRAY(&scratch, &other, 5, NULL), VARVE_OK);
    }
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(items[i], i);
    size_t before = capacity;
    assert_int_equal(VV_SCRATCH_RESERVE(&scratch, &items, &capacity, 7, NULL), VARVE_OK);
    assert_int_equal(capacity, before);
    vv_scratch_deinit(&scratch);
}

static void what_is_released_leaves_the_rest(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    int *arrays[5];
    static const size_t order[] = { 4, 0, 2, 1, 3 }; /* the newest, the oldest, one between … */
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(VV_SCRATCH_ARRAY(&scratch, &arrays[i], 1, NULL), VARVE_OK);
        *arrays[i] = (int)i;
    }
    vv_scratch_release(&scratch, NULL);
    for (size_t i = 0; i < 5; i++) {
        vv_scratch_release(&scratch, arrays[order[i]]);
        for (size_t left = i + 1; left < 5; left++)
            assert_int_equal(*arrays[order[left]], order[left]);
    }
    assert_null(scratch.blocks);
}

static int ended[3], ended_count;

static void end(void *object)
{
    ended[ended_count++] = *(int *)object;
}

static void objects_are_ended_once_the_newest_first(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    int *objects[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vv_scratch_object(&scratch, &objects[i], sizeof(int), end, NULL),
                         VARVE_OK);
        assert_int_equal(*objects[i], 0);
        *objects[i] = i;
    }
    vv_scratch_release(&scratch, objects[1]);
    assert_int_equal(ended_count, 1);
    vv_scratch_deinit(&scratch);
    assert_int_equal(ended_count, 3);
    assert_int_equal(ended[0], 1);
    assert_int_equal(ended[1], 2);
    assert_int_equal(ended[2], 0);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    struct vv_scratch scratch = { 0 };
    struct varve_error error;
    int64_t *items = NULL;
    size_t capacity = 0;
    assert_int_equal(VV_SCRATCH_ARRAY(&scratch, &items, SIZE_MAX / 8, &error), VARVE_NO_MEMORY);
    assert_string_equal(error.message, "no memory for 2305843009213693951 items of 8 bytes");
    assert_int_equal(VV_SCRATCH_ZEROS(&scratch, &items, SIZE_MAX, NULL), VARVE_NO_MEMORY);
    assert_int_equal(VV_SCRATCH_RESERVE(&scratch, &items, &capacity, SIZE_MAX, NULL),
                     VARVE_NO_MEMORY);
    assert_null(items);
    assert_int_equal(capacity, 0);
    assert_null(scratch.blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_apart_aligned_and_stay),
        cmocka_unit_test(zeros_are_zero),
        cmocka_unit_test(an_array_grows_among_others),
        cmocka_unit_test(what_is_released_leaves_the_rest),
        cmocka_unit_test(objects_are_ended_once_the_newest_first),
        cmocka_unit_test(absurd_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
