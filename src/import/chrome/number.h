/* SPDX-License-Identifier: Apache-2.0 */
/* number.h — reads the numbers of a trace from their decimal text, without going through doubles.
 * Thread-safe.
 *
 * Every function accepts a number, or a string that holds one, and returns false for anything
 * else. */
#ifndef VV_IMPORT_CHROME_NUMBER_H
#define VV_IMPORT_CHROME_NUMBER_H

#include "import/chrome/json.h"

/* Instants and durations are less than this from 0, so that the sum of two fits into int64_t: up to
 * the year 2116. */
#define VV_CHROME_TIME_NS_MAX (INT64_C(1) << 62)

/* Reads microseconds as nanoseconds. Further digits are rounded, halves away from zero. A number
 * with an exponent of 0 or above is accepted only if nothing is rounded, since its writer has lost
 * digits. False also if |ns| >= VV_CHROME_TIME_NS_MAX. */
VV_MUST_USE bool vv_chrome_time_ns(const struct vv_chrome_value *value, int64_t *out_ns);

/* Reads a whole number in range; in a string it may be hexadecimal, "0x1f". */
bool vv_chrome_integer(const struct vv_chrome_value *value, int64_t *out_number);
/* The same up to 2^64 - 1; a negative number wraps. For ids and addresses. */
bool vv_chrome_id(const struct vv_chrome_value *value, uint64_t *out_id);

/* Reads any number as the nearest double. */
bool vv_chrome_real(const struct vv_chrome_value *value, double *out_real);

/* Handles the common case inline. */
static inline bool vv_chrome_plain_time_ns(const struct vv_chrome_value *value, int64_t *out_ns)
{
    static const struct { uint64_t factor, limit; } scales[] = {
        { 1000, (uint64_t)VV_CHROME_TIME_NS_MAX / 1000 },
        { 100, (uint64_t)VV_CHROME_TIME_NS_MAX / 100 },
        { 10, (uint64_t)VV_CHROME_TIME_NS_MAX / 10 },
        { 1, (uint64_t)VV_CHROME_TIME_NS_MAX },
    };
    if (__builtin_expect(value->kind != VV_CHROME_NUMBER || !value->is_plain || value->scale > 3 ||
                             value->digits >= scales[value->scale & 3].limit, 0))
        return vv_chrome_time_ns(value, out_ns);
    int64_t ns = (int64_t)(value->digits * scales[value->scale].factor);
    *out_ns = value->is_negative ? -ns : ns;
    return true;
}

static inline bool vv_chrome_plain_integer(const struct vv_chrome_value *value, int64_t *out_number)
{
    if (__builtin_expect(value->kind != VV_CHROME_NUMBER || !value->is_plain || value->scale > 0 ||
                             value->digits > INT64_MAX, 0))
        return vv_chrome_integer(value, out_number);
    *out_number = value->is_negative ? -(int64_t)value->digits : (int64_t)value->digits;
    return true;
}

#endif
