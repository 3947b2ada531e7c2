/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/number.h"

#include <stdlib.h>

#define EXPONENT_MAX 400 /* with a larger exponent, a number is neither a time nor an integer   */

/* A decimal number in parts: its sign, its digits without the point, and the place of the point. */
struct decimal {
    bool is_negative;
    bool is_scaled_up; /* an exponent >= 0: it may stand for lost digits */
    const char *digits; /* the first digit that is not 0                                        */
    size_t count;       /* number of digits, without the point                                  */
    long point;         /* digits before the point; may be outside of 0 … count                 */
    const char *dot;    /* the point in the text; NULL = none                                   */
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool read_exponent(const char *at, const char *end, long *out_exponent)
{
    long sign = 1, exponent = 0;
    if (at < end && (*at == '-' || *at == '+'))
        sign = *at++ == '-' ? -1 : 1;
    if (at == end)
        return false;
    for (; at < end && is_digit(*at); at++)
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*at - '0') : EXPONENT_MAX;
    *out_exponent = sign * exponent;
    return at == end;
}

static bool take_apart(const char *text, size_t length, struct decimal *out)
{
    const char *at = text, *end = text + length, *first;
    long exponent = 0;
    *out = (struct decimal){ 0 };
    while (end > at && end[-1] == ' ')
        end--;
    if (at < end && (*at == '-' || *at == '+'))
        out->is_negative = *at++ == '-';
    for (first = at; at < end && is_digit(*at); at++)
        continue;
    size_t whole = (size_t)(at - first), fraction = 0;
    if (at < end && *at == '.') {
        out->dot = at++;
        for (; at < end && is_digit(*at); at++)
            fraction++;
    }
    if (whole + fraction == 0)
        return false;
    if (at < end && (*at | 0x20) == 'e') {
        if (!read_exponent(at + 1, end, &exponent))
            return false;
        out->is_scaled_up = exponent >= 0;
    } else if (at != end) {
        return false;
    }
    out->digits = first;
    out->count = whole + fraction;
    out->point = (long)whole + exponent;
    return true;
}

static char digit_at(const struct decimal *decimal, size_t place)
{
    const char *at = decimal->digits + place;
    return decimal->dot != NULL && at >= decimal->dot ? at[1] : at[0];
}

/* The number times 10^shift as an integer. *out_rest is the first digit that is left out, and
 * *out_is_exact says whether all digits left out are 0. False: too large. */
static bool scaled(const struct decimal *decimal, long shift, uint64_t *out_value, char *out_rest,
                   bool *out_is_exact)
{
    uint64_t value = 0;
    long places = decimal->point + shift;
    *out_rest = '0';
    *out_is_exact = true;
    for (size_t i = 0; i < decimal->count; i++) {
        char digit = digit_at(decimal, i);
        if ((long)i < places) {
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, (uint64_t)(digit - '0'), &value))
                return false;
            continue;
        }
        if ((long)i == places)
            *out_rest = digit;
        *out_is_exact = *out_is_exact && digit == '0';
    }
    for (long i = (long)decimal->count; i < places && value != 0; i++)
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    *out_value = value;
    return true;
}

bool vv_chrome_time_ns(const struct vv_chrome_value *value, int64_t *out_ns)
{
    struct decimal decimal;
    uint64_t ns;
    char rest;
    bool is_exact;
    if (value->kind > VV_CHROME_NUMBER || !take_apart(value->at, value->length, &decimal) ||
        !scaled(&decimal, 3, &ns, &rest, &is_exact) || (decimal.is_scaled_up && !is_exact))
        return false;
    ns += rest >= '5';
    if (ns >= (uint64_t)VV_CHROME_TIME_NS_MAX)
        return false;
    *out_ns = decimal.is_negative ? -(int64_t)ns : (int64_t)ns;
    return true;
}

static bool read_hexadecimal(const char *text, size_t length, uint64_t *out_value)
{
    uint64_t value = 0;
    if (length < 3 || length > 18 || text[0] != '0' || (text[1] | 0x20) != 'x')
        return false;
    for (size_t i = 2; i < length; i++) {
        char byte = (char)(text[i] | 0x20);
        if (!is_digit(text[i]) && (byte < 'a' || byte > 'f'))
            return false;
        value = value << 4 | (uint64_t)(is_digit(text[i]) ? text[i] - '0' : byte - 'a' + 10);
    }
    *out_value = value;
    return true;
}

/* Reads the absolute value of a whole number, and its sign. */
static bool read_whole(const struct vv_chrome_value *value, uint64_t *out_size,
                       bool *out_is_negative)
{
    struct decimal decimal;
    char rest;
    bool is_exact;
    *out_is_negative = false;
    if (value->kind > VV_CHROME_NUMBER)
        return false;
    if (value->kind == VV_CHROME_STRING && read_hexadecimal(value->at, value->length, out_size))
        return true;
    if (!take_apart(value->at, value->length, &decimal) ||
        !scaled(&decimal, 0, out_size, &rest, &is_exact) || !is_exact)
        return false;
    *out_is_negative = decimal.is_negative;
    return true;
}

bool vv_chrome_integer(const struct vv_chrome_value *value, int64_t *out_number)
{
    uint64_t size;
    bool is_negative;
    if (!read_whole(value, &size, &is_negative) || size > (uint64_t)INT64_MAX + is_negative)
        return false;
    *out_number = is_negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

bool vv_chrome_id(const struct vv_chrome_value *value, uint64_t *out_id)
{
    uint64_t size;
    bool is_negative;
    if (value->kind == VV_CHROME_NUMBER && value->is_plain && value->scale == 0 &&
        !value->is_negative) {
        *out_id = value->digits;
        return true;
    }
    if (!read_whole(value, &size, &is_negative))
        return false;
    *out_id = is_negative ? 0 - size : size;
    return true;
}

/* One division, which rounds once: the nearest double if both numbers are exact doubles. */
static bool divide(const struct vv_chrome_value *value, double *out_real)
{
    static const double powers[] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9, 1e10,
                                     1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19 };
    if (value->kind != VV_CHROME_NUMBER || !value->is_plain ||
        value->scale >= sizeof powers / sizeof powers[0] || value->digits > UINT64_C(1) << 53)
        return false;
    double size = (double)value->digits / powers[value->scale];
    *out_real = value->is_negative ? -size : size;
    return true;
}

bool vv_chrome_real(const struct vv_chrome_value *value, double *out_real)
{
    struct decimal decimal;
    if (value->kind == VV_CHROME_SPECIAL) {
        memcpy(out_real, &value->digits, sizeof *out_real);
        return true;
    }
    if (divide(value, out_real))
        return true;
    if (value->kind > VV_CHROME_NUMBER || !take_apart(value->at, value->length, &decimal))
        return false;
    *out_real = strtod(value->at, NULL); /* a quote, comma, bracket or blank ends it             */
    return true;
}
