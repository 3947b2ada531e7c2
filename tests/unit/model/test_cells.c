/* SPDX-License-Identifier: Apache-2.0 */
/* test_cells.c — model/cells.c: what was written stays, and all else is blank, from the heap
 * through small mappings to large ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/cells.h"

static void assert_blank(const unsigned char *cells, size_t first, size_t limit,
                         unsigned char blank)
{
    if (first < limit) {
        assert_int_equal(cells[first], blank);
        assert_memory_equal(cells + first, cells + first + 1, limit - first - 1);
    }
}

/* Sizes on both sides of each way of keeping them. Of each, the last 100 bytes are written to. */
static const size_t sizes[] = { 100,     300,     60000,   262044,  262144,  262244,  1000000,
                                 2097052,
                                2097152, 2097252, 4194304, 9000001, 9000101, 9000201, 25000000 };
#define SIZES (sizeof sizes / sizeof sizes[0])

static void cells_stay_as_they_grow(void **state)
{
    (void)state;
    for (int blank = 0; blank < 256; blank += 255) {
        unsigned char *cells = NULL;
        for (size_t i = 0; i < SIZES; i++) {
            cells = vv_cells_grow(cells, sizes[i], (unsigned char)blank);
            assert_non_null(cells);
            assert_int_equal((uintptr_t)cells % 16, 0);
            size_t written = 0;
            for (size_t k = 0; k < i; k++) {
                assert_blank(cells, written, sizes[k] - 100, (unsigned char)blank);
                for (size_t at = sizes[k] - 100; at < sizes[k]; at++)
                    assert_int_equal(cells[at], (unsigned char)(at + k + 7));
                written = sizes[k];
            }
            assert_blank(cells, written, sizes[i], (unsigned char)blank);
            for (size_t at = sizes[i] - 100; at < sizes[i]; at++)
                cells[at] = (unsigned char)(at + i + 7);
        }
        vv_cells_free(cells);
    }
    vv_cells_free(NULL);
}

static void a_smaller_size_changes_nothing(void **state)
{
    (void)state;
    unsigned char *cells = vv_cells_grow(NULL, 1000, 0xFF);
    cells[999] = 1;
    assert_ptr_equal(vv_cells_grow(cells, 10, 0xFF), cells);
    assert_int_equal(cells[999], 1);
    assert_null(vv_cells_grow(cells, SIZE_MAX - 100, 0xFF));
    assert_int_equal(cells[999], 1);
    vv_cells_free(cells);
}

static void backing_shows_nowhere(void **state)
{
    (void)state;
    unsigned char *small = vv_cells_grow(NULL, 1000, 0), *large = vv_cells_grow(NULL, 10000000, 0);
    vv_cells_back(small, 0, VV_CELLS_PAGE_BYTES);
    large[VV_CELLS_PAGE_BYTES] = 9;
    vv_cells_back(large, 0, 100 * VV_CELLS_PAGE_BYTES);
    assert_blank(small, 0, 1000, 0);
    assert_blank(large, 0, VV_CELLS_PAGE_BYTES, 0);
    assert_int_equal(large[VV_CELLS_PAGE_BYTES], 9);
    assert_blank(large, VV_CELLS_PAGE_BYTES + 1, 10000000, 0);
    vv_cells_free(small);
    vv_cells_free(large);
}

/* Cells are blank behind what has been written to, whole pages of them are filled, and then
 * written. */
static void filling_shows_nowhere(void **state)
{
    (void)state;
    const size_t page = VV_CELLS_PAGE_BYTES, bytes = 5 * page;
    unsigned char *small = vv_cells_grow(NULL, 1000, 0xFF),
                  *large = vv_cells_grow(NULL, bytes, 0xFF);
    vv_cells_fill(small, 0, 1000);
    assert_blank(small, 0, 1000, 0xFF);
    large[page + 9] = 1;
    vv_cells_fill(large, page + 10, 3 * page + 1); /* pages 2 and 3 begin there                   */
    assert_blank(large, 0, page + 9, 0xFF);
    assert_int_equal(large[page + 9], 1);
    assert_blank(large, page + 10, bytes, 0xFF);
    large[2 * page] = 2;
    large = vv_cells_grow(large, 9 * page, 0xFF);
    assert_int_equal(large[page + 9], 1);
    assert_int_equal(large[2 * page], 2);
    assert_blank(large, 2 * page + 1, 9 * page, 0xFF);
    vv_cells_fill(large, 8 * page, 100 * page); /* no further than they go                        */
    assert_blank(large, 2 * page + 1, 9 * page, 0xFF);
    vv_cells_free(small);
    vv_cells_free(large);
}

static void links_are_dense_from_one_in_64_on(void **state)
{
    (void)state;
    uint32_t links[129];
    memset(links, 0xFF, sizeof links);
    links[3] = links[128] = 0;
    assert_true(vv_links_are_dense(links, 63));
    assert_false(vv_links_are_dense(links, 64));
    assert_false(vv_links_are_dense(links, 128));
    assert_false(vv_links_are_dense(links + 4, 60));
    assert_false(vv_links_are_dense(links, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_stay_as_they_grow),
        cmocka_unit_test(a_smaller_size_changes_nothing),
        cmocka_unit_test(backing_shows_nowhere),
        cmocka_unit_test(filling_shows_nowhere),
        cmocka_unit_test(links_are_dense_from_one_in_64_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
