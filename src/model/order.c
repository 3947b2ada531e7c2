/* SPDX-License-Identifier: Apache-2.0 */
#include "model/order.h"

#include <stdlib.h>
#include <string.h>

#define INSERTION_ROWS 12u

struct sorting {
    vv_row_before *before;
    const void *context;
    uint64_t *spare; /* room for half of the sorted rows                                        */
};

static void insert_rows(const struct sorting *sorting, uint64_t *rows, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t row = rows[i], at = i;
        for (; at > 0 && sorting->before(sorting->context, row, rows[at - 1]); at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* Recursion depth is log2(count). */
static void sort_rows(const struct sorting *sorting, uint64_t *rows, uint64_t count)
{
    if (count <= INSERTION_ROWS) {
        insert_rows(sorting, rows, count);
        return;
    }
    uint64_t middle = count / 2;
    sort_rows(sorting, rows, middle);
    sort_rows(sorting, rows + middle, count - middle);
    if (!sorting->before(sorting->context, rows[middle], rows[middle - 1]))
        return;
    memcpy(sorting->spare, rows, middle * sizeof *rows);
    uint64_t left = 0, right = middle, out = 0;
    while (left < middle && right < count)
        rows[out++] = sorting->before(sorting->context, rows[right], sorting->spare[left])
                          ? rows[right++]
                          : sorting->spare[left++];
    memcpy(rows + out, sorting->spare + left, (middle - left) * sizeof *rows);
}

enum varve_code vv_order_rows(uint64_t count, vv_row_before *before, const void *context,
                              uint64_t **out_order, struct varve_error *error)
{
    uint64_t sorted = 1;
    while (sorted < count && !before(context, sorted, sorted - 1))
        sorted++;
    if (sorted >= count) {
        *out_order = NULL;
        return VARVE_OK;
    }
    uint64_t *rows = malloc((count + count / 2) * sizeof *rows);
    if (rows == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %llu rows", (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++)
        rows[i] = i;
    struct sorting sorting = { before, context, rows + count };
    sort_rows(&sorting, rows, count);
    *out_order = rows;
    return VARVE_OK;
}
