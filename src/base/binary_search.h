/* SPDX-License-Identifier: Apache-2.0 */
/* binary_search.h — binary search in anything sorted. */
#ifndef VV_BASE_BINARY_SEARCH_H
#define VV_BASE_BINARY_SEARCH_H

#include <stddef.h>

/* The first i of [first, last) for which `condition`, an expression of i, does not hold; `last` if
 * it holds for all. The condition must hold up to some index and for none after it. first <=
 * last. */
#define VV_FIRST_NOT(i, first, last, condition)               \
    __extension__({                                           \
        size_t vv_low = (first), vv_high = (last);            \
        while (vv_low < vv_high) {                            \
            const size_t i = vv_low + (vv_high - vv_low) / 2; \
            if (condition)                                    \
                vv_low = i + 1;                               \
            else                                              \
                vv_high = i;                                  \
        }                                                     \
        vv_low;                                               \
    })

#endif
