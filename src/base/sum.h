/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h — adds numbers that come from a file: sizes, and times whose sum model/build/build.c has
 * not checked. A sum that does not fit into int64 becomes its largest or smallest value. */
#ifndef VV_BASE_SUM_H
#define VV_BASE_SUM_H

#include <stdint.h>
#include <stdlib.h>

static inline int64_t vv_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* How much a text of a file says: 0 at least, so that it can be taken from a sum, too. */
static inline int64_t vv_amount(const char *text)
{
    int64_t amount = strtoll(text, NULL, 10);
    return amount > 0 ? amount : 0;
}

#endif
