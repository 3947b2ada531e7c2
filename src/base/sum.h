/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h — sums of what a file says: sizes, and times where model/build.c does not vouch for their sum. What no int64
 * holds stays at its end. */
#ifndef VV_BASE_SUM_H
#define VV_BASE_SUM_H

#include <stdint.h>

static inline int64_t vv_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

#endif
