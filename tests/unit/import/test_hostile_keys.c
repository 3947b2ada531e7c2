/* SPDX-License-Identifier: Apache-2.0 */
/* test_hostile_keys.c — keys that somebody chose so that a hash table would take the square of
 * their number: those that fall in one place by the usual constant, and those whose differences a
 * product without a secret never undoes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/intern.h"
#include "import/rows/key_map.h"
#include "import/rows/row_map.h"

#define KEYS 65536u
#define CPU_S 5.0 /* by chance such tables take hundredths; the square is more than a minute */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

/* x * GOLDEN has equal halves for each of them. */
static uint64_t equal_halves(uint64_t i)
{
    return (i << 32 | i) * inverse(GOLDEN);
}

static void texts_whose_differences_cancel(void **state)
{
    (void)state;
    struct vv_intern intern;
    double begun = cpu_s();
    assert_int_equal(vv_intern_init(&intern, NULL), VARVE_OK);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint64_t words[32] = { 0 };
        uint32_t id;
        for (unsigned bit = 0; bit < 16; bit++)
            if (i >> bit & 1) {
                words[bit * 2] = UINT64_C(1) << 63;
                words[bit * 2 + 1] = UINT64_C(1) << 63 | UINT64_C(1) << 31;
            }
        assert_int_equal(vv_intern_add(&intern, (const char *)words, sizeof words, &id, NULL),
                         VARVE_OK);
        assert_int_equal(id, i + 1);
        if (i % 1024 == 0)
            assert_true(cpu_s() - begun < CPU_S);
    }
    vv_intern_deinit(&intern);
}

static void numbers_of_one_place(void **state)
{
    (void)state;
    struct vv_key_map keys = { 0 };
    struct vv_row_map rows = { 0 };
    double begun = cpu_s();
    for (uint32_t i = 1; i < KEYS; i++) {
        const struct vv_row_key key = { { (int64_t)equal_halves(i), 0, 0, 0 } };
        uint32_t *place;
        bool is_new;
        assert_int_equal(vv_key_map_put(&keys, equal_halves(i), i, NULL), VARVE_OK);
        assert_int_equal(vv_row_map_at(&rows, &key, &place, &is_new, NULL), VARVE_OK);
        assert_true(is_new);
        *place = i;
        if (i % 1024 == 0)
            assert_true(cpu_s() - begun < CPU_S);
    }
    for (uint32_t i = 1; i < KEYS; i++)
        assert_int_equal(vv_key_map_find(&keys, equal_halves(i)), i);
    vv_key_map_deinit(&keys);
    vv_row_map_deinit(&rows);
}

static void the_key_is_drawn(void **state)
{
    (void)state;
    assert_int_not_equal(vv_hash_key.start, 0);
    assert_int_not_equal(vv_hash_key.factor, 1);
    struct vv_hash_key other = { vv_hash_key.start + 1, vv_hash_key.factor + 2 };
    assert_int_not_equal(vv_hash_text(&vv_hash_key, "a", 1), vv_hash_text(&other, "a", 1));
}

/* A text and the same with zeros behind it, or cut by some. */
static void length_counts(void **state)
{
    (void)state;
    char zeros[64] = { 0 };
    for (size_t a = 0; a < sizeof zeros; a++)
        for (size_t b = 0; b < a; b++)
            assert_int_not_equal(vv_hash_text(&vv_hash_key, zeros, a),
                                 vv_hash_text(&vv_hash_key, zeros, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_whose_differences_cancel),
        cmocka_unit_test(numbers_of_one_place),
        cmocka_unit_test(the_key_is_drawn),
        cmocka_unit_test(length_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
