/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels' names: each is found by its number, and where there is no memory for one, it has none
 * and the others stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../../support/failing_allocation.h"
#include "collect/rocm/symbols.h"

static void a_kernel_is_found_by_its_number(void **state)
{
    (void)state;
    assert_true(vv_rocm_symbol_add(1, "gemm.kd", 40));
    assert_true(vv_rocm_symbol_add(5000, "relu", 8));
    assert_string_equal(vv_rocm_symbol_of(1)->name, "gemm");
    assert_int_equal(vv_rocm_symbol_of(1)->registers, 40);
    assert_string_equal(vv_rocm_symbol_of(5000)->name, "relu");
    assert_null(vv_rocm_symbol_of(2));
    assert_null(vv_rocm_symbol_of(99999));
    assert_null(vv_rocm_symbol_of(UINT64_MAX));
    assert_true(vv_rocm_symbol_add(1, ".kd", 1));
    assert_string_equal(vv_rocm_symbol_of(1)->name, ".kd");
}

static void what_has_no_place_has_no_name(void **state)
{
    (void)state;
    assert_false(vv_rocm_symbol_add(UINT64_MAX, "far", 1));
    assert_false(vv_rocm_symbol_add(4096 * 1024, "far", 1));
    assert_true(vv_rocm_symbol_add(4096 * 1024 - 1, "last", 1));
    assert_false(vv_rocm_symbol_add(3, NULL, 1));
    assert_null(vv_rocm_symbol_of(3));
}

/* The first kernel of a block takes two allocations: the block and the name. */
static void each_allocation_fails_once(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 3; n++) {
        uint64_t kernel = (n + 20) * 1024;
        allocations_left = (long)n;
        bool is_there = vv_rocm_symbol_add(kernel, "gemm.kd", 1);
        allocations_left = -1;
        assert_int_equal(is_there, n == 2);
        assert_int_equal(vv_rocm_symbol_of(kernel) != NULL, n == 2);
        assert_true(vv_rocm_symbol_add(kernel, "again", 2));
        allocations_left = 0;
        assert_false(vv_rocm_symbol_add(kernel, "other", 3));
        allocations_left = -1;
        assert_string_equal(vv_rocm_symbol_of(kernel)->name, "again");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_found_by_its_number),
        cmocka_unit_test(what_has_no_place_has_no_name),
        cmocka_unit_test(each_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
