/* SPDX-License-Identifier: Apache-2.0 */
#include "base/radix.h"

#include <stdlib.h>
#include <string.h>

#include "base/large_pages.h"

/* More bits mean fewer passes, but more counters than the first-level cache holds. */
#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

static void pass(const struct vv_keyed_row *from, struct vv_keyed_row *to, size_t count, int shift)
{
    size_t places[DIGITS] = { 0 }, sum = 0;
    for (size_t i = 0; i < count; i++)
        places[from[i].key >> shift & (DIGITS - 1)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        size_t own = places[digit];
        places[digit] = sum;
        sum += own;
    }
    for (size_t i = 0; i < count; i++)
        to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

enum varve_code vv_radix_sort(struct vv_keyed_row *rows, size_t count, struct varve_error *error)
{
    uint64_t differ = 0, falls = 0;
    for (size_t i = 1; i < count; i++) {
        differ |= rows[i].key ^ rows[0].key;
        falls |= rows[i].key < rows[i - 1].key;
    }
    if (falls == 0)
        return VARVE_OK;
    struct vv_keyed_row *spare = vv_large_pages_alloc(count * sizeof *spare), *from = rows,
                        *to = spare;
    if (spare == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %zu rows", count);
    for (int shift = 0; shift < 64 && differ >> shift != 0; shift += DIGIT_BITS) {
        shift += __builtin_ctzll(differ >> shift); /* skip bits that are equal in all keys */
        pass(from, to, count, shift);
        struct vv_keyed_row *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != rows)
        memcpy(rows, from, count * sizeof *rows);
    free(spare);
    return VARVE_OK;
}
