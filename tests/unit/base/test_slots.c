/* SPDX-License-Identifier: Apache-2.0 */
/* base/slots: what was put in is found, at any number, however the hashes fall; what was not is
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/slots.h"

enum { ROWS = 5000 };

struct numbers { uint64_t items[ROWS], hash_mask; };

static bool is_number(const void *table, uint32_t row, const void *key)
{
    return ((const struct numbers *)table)->items[row] == *(const uint64_t *)key;
}

static uint64_t hash_of(const void *table, uint32_t row)
{
    const struct numbers *numbers = table;
    return numbers->items[row] & numbers->hash_mask;
}

static uint32_t find(const struct vv_slots *slots, const struct numbers *numbers, uint64_t number)
{
    return vv_slots_find(slots, number & numbers->hash_mask, is_number, numbers, &number);
}

static void what_was_put_in_is_found(void **state)
{
    (void)state;
    static const uint64_t masks[] = { UINT64_MAX, 0xff0, 7 };
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        static struct numbers numbers;
        struct vv_slots slots = { 0 };
        uint32_t rows = masks[m] == UINT64_MAX ? ROWS : ROWS / 10;
        numbers.hash_mask = masks[m];
        assert_int_equal(find(&slots, &numbers, 1), VV_SLOTS_NONE);
        for (uint32_t row = 0; row < rows; row++) {
            uint64_t number = (uint64_t)row * row + 3;
            numbers.items[row] = number;
            if (vv_slots_are_full(&slots, row))
                assert_int_equal(vv_slots_grow(&slots, row, hash_of, &numbers, "numbers", NULL),
                                 VARVE_OK);
            uint32_t *slot =
                vv_slots_at(&slots, number & numbers.hash_mask, is_number, &numbers, &number);
            assert_int_equal(*slot, 0);
            *slot = row + 1;
            assert_true(slots.count >= 2 * (row + 1));
        }
        for (uint32_t row = 0; row < rows; row++) {
            assert_int_equal(find(&slots, &numbers, numbers.items[row]), row);
            assert_int_equal(find(&slots, &numbers, numbers.items[row] + 2), VV_SLOTS_NONE);
        }
        vv_slots_deinit(&slots);
        assert_int_equal(find(&slots, &numbers, numbers.items[0]), VV_SLOTS_NONE);
    }
}

static void beyond_what_numbers_hold_it_says_so(void **state)
{
    (void)state;
    struct vv_slots slots = { .count = UINT32_C(1) << 31 };
    struct varve_error error;
    assert_int_equal(vv_slots_grow(&slots, 7, hash_of, NULL, "kinds of flows", &error),
                     VARVE_LIMIT);
    assert_string_equal(error.message, "more than 7 kinds of flows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_is_found),
        cmocka_unit_test(beyond_what_numbers_hold_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
