/* SPDX-License-Identifier: Apache-2.0 */
/* json.h — reads JSON values and members at a place in a window, by its tokens. event.c consists
 * mainly of these functions, so they are inline; document.c and text.c use them too.
 *
 * Nothing is copied: values point into the window. The reader accepts more than RFC 8259: a comma
 * after the last member or element, repeated commas (which count once), numbers that begin with 0,
 * NaN and infinities, and control characters in strings. It stops at the end of the window (MORE:
 * the caller reads the whole event again in a longer window), or if the text is not JSON (BAD:
 * cursor->bad_at says where). Thread-compatible. */
#ifndef VV_IMPORT_CHROME_JSON_H
#define VV_IMPORT_CHROME_JSON_H

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text/counted.h"
#include "import/chrome/window.h"

#define VV_CHROME_INLINE static inline __attribute__((always_inline))
#define VV_CHROME_DEPTH_MAX 256u
#define VV_CHROME_TOO_DEEP "JSON nested deeper than 256 levels"

enum vv_chrome_status { VV_CHROME_DONE, VV_CHROME_MORE, VV_CHROME_BAD };

enum vv_chrome_kind {
    VV_CHROME_STRING, VV_CHROME_NUMBER, VV_CHROME_TRUE, VV_CHROME_FALSE, VV_CHROME_NULL,
    VV_CHROME_SPECIAL, /* NaN or an infinity                                                    */
    VV_CHROME_ARRAY, VV_CHROME_OBJECT
};

struct vv_chrome_value {
    const char *at;      /* for a string: after its quote                                       */
    uint32_t length;     /* for a string: between its quotes, as written                        */
    uint8_t kind;        /* enum vv_chrome_kind                                                 */
    uint8_t scale;       /* for a number: it is digits / 10^scale                               */
    bool is_negative;
    bool is_plain;       /* for a number: digits and scale have the whole value                 */
    uint64_t digits;
    const uint32_t *token; /* for an array or object: its bracket                               */
};

struct vv_chrome_cursor {
    const char *text;      /* text of the window                                                */
    const uint32_t *next;  /* the next token                                                    */
    const uint32_t *end;   /* after the last token                                              */
    const char *bad_at;
    const char *bad_why;
    bool has_no_memory;    /* the status is BAD for this reason                                 */
};

VV_CHROME_INLINE void vv_chrome_cursor_init(struct vv_chrome_cursor *cursor,
                                            const struct vv_chrome_window *window)
{
    *cursor = (struct vv_chrome_cursor){ window->text, window->tokens,
                                         window->tokens + window->token_count, NULL, NULL,
                                         false };
}

VV_CHROME_INLINE enum vv_chrome_status vv_chrome_bad(struct vv_chrome_cursor *cursor,
                                                     const char *at, const char *why)
{
    if (cursor->next >= cursor->end || at >= cursor->text + *cursor->end)
        return VV_CHROME_MORE;
    cursor->bad_at = at;
    cursor->bad_why = why;
    return VV_CHROME_BAD;
}

VV_CHROME_INLINE bool vv_chrome_is_blank(char byte)
{
    return (unsigned char)byte <= ' ';
}

/* ---- scalars ---- */

/* The value of eight digits, each less '0', the first in the lowest byte. Multiplications join
 * pairs, then fours, then all. */
VV_CHROME_INLINE uint64_t vv_chrome_eight_value(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000ff000000ffu) * 0x000f424000000064u +
            (digits >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
}

/* Reads eight bytes at a time, without a branch for each digit. `other` has the top bit of each
 * byte that is no digit; up to the first such byte this is exact. */
VV_CHROME_INLINE const char *vv_chrome_digits(const char *at, uint64_t *value)
{
    static const uint64_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
    uint64_t sum = *value;
    for (;;) {
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        uint64_t digits = le64toh(bytes) ^ 0x3030303030303030u;
        uint64_t other = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
        if (other != 0) {
            int count = __builtin_ctzll(other) / 8;
            *value = count == 0
                         ? sum
                         : sum * powers[count] + vv_chrome_eight_value(digits << (64 - 8 * count));
            return at + count;
        }
        sum = sum * 100000000 + vv_chrome_eight_value(digits);
        at += 8;
    }
}

/* Reads nan, inf or Infinity, as printf and Python write them; the sign has been read. */
static inline const char *vv_chrome_special(const char *at, struct vv_chrome_value *value)
{
    static const struct { const char *word; double value; } words[] = {
        { "NaN", NAN }, { "nan", NAN }, { "Infinity", INFINITY }, { "inf", INFINITY }
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        /* reading beyond the end of a window is allowed */
        if (memcmp(at, words[i].word, length) == 0) {
            double number = value->is_negative ? -words[i].value : words[i].value;
            value->kind = VV_CHROME_SPECIAL;
            memcpy(&value->digits, &number, sizeof number);
            return at + length;
        }
    }
    return NULL;
}

/* NULL: there is no number here, or none that JSON allows. */
VV_CHROME_INLINE const char *vv_chrome_number(const char *at, struct vv_chrome_value *value)
{
    const char *begin = at, *first;
    value->digits = 0;
    value->is_negative = *at == '-';
    at += value->is_negative;
    first = at;
    at = vv_chrome_digits(at, &value->digits);
    if (__builtin_expect(at == first, 0))
        return NULL;
    size_t count = (size_t)(at - first), scale = 0;
    if (*at == '.') {
        const char *fraction = at + 1;
        at = vv_chrome_digits(fraction, &value->digits);
        scale = (size_t)(at - fraction);
        count += scale;
        if (scale == 0)
            return NULL;
    }
    value->is_plain = count <= 19;
    if (__builtin_expect((*at | 0x20) == 'e', 0)) {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        uint64_t ignored = 0;
        at = vv_chrome_digits(exponent, &ignored);
        value->is_plain = false;
        if (at == exponent)
            return NULL;
    }
    value->kind = VV_CHROME_NUMBER;
    value->scale = (uint8_t)scale;
    value->at = begin;
    value->length = (uint32_t)(at - begin);
    return at;
}

static inline const char *vv_chrome_word(const char *at, struct vv_chrome_value *value)
{
    static const struct { char word[6]; uint8_t length, kind; } words[] = {
        { "true", 4, VV_CHROME_TRUE }, { "false", 5, VV_CHROME_FALSE },
        { "null", 4, VV_CHROME_NULL }
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (memcmp(at, words[i].word, words[i].length) == 0) {
            value->kind = words[i].kind;
            value->at = at;
            value->length = words[i].length;
            return at + words[i].length;
        }
    }
    return NULL;
}

/* ---- values ---- */

/* Skips an array or object by counting brackets. Whoever reads its content checks their kinds. */
VV_CHROME_INLINE enum vv_chrome_status vv_chrome_nested(struct vv_chrome_cursor *cursor,
                                                        struct vv_chrome_value *value)
{
    const char *text = cursor->text;
    const uint32_t *next = cursor->next;
    uint32_t depth = 0;
    value->token = next;
    value->is_negative = false;
    value->at = text + *next;
    value->kind = *value->at == '{' ? VV_CHROME_OBJECT : VV_CHROME_ARRAY;
    do {
        char byte = text[*next];
        if ((byte | 0x20) == '{') {
            if (++depth > VV_CHROME_DEPTH_MAX)
                return vv_chrome_bad(cursor, text + *next, VV_CHROME_TOO_DEEP);
        } else if ((byte | 0x20) == '}') {
            depth--;
        } else if (__builtin_expect(next >= cursor->end, 0)) {
            return VV_CHROME_MORE;
        }
        next++;
    } while (depth > 0);
    value->length = (uint32_t)(text + next[-1] + 1 - value->at);
    cursor->next = next;
    return VV_CHROME_DONE;
}

/* Reads the string whose opening quote is the next token. */
VV_CHROME_INLINE enum vv_chrome_status vv_chrome_string(struct vv_chrome_cursor *cursor,
                                                        struct vv_chrome_value *value)
{
    const uint32_t *next = cursor->next;
    value->kind = VV_CHROME_STRING;
    value->is_negative = false;
    value->at = cursor->text + next[0] + 1;
    value->length = next[1] - next[0] - 1;
    if (__builtin_expect(cursor->text[next[1]] != '"', 0))
        return VV_CHROME_MORE;
    cursor->next = next + 2;
    return VV_CHROME_DONE;
}

static inline const char *vv_chrome_other_scalar(const char *at, struct vv_chrome_value *value)
{
    value->is_negative = *at == '-';
    const char *end = vv_chrome_word(at, value);
    if (end != NULL)
        value->is_negative = false;
    return end != NULL ? end : vv_chrome_special(at + value->is_negative, value);
}

/* Reads the value at the next token; *out_end is the place after it. */
VV_CHROME_INLINE enum vv_chrome_status vv_chrome_value(struct vv_chrome_cursor *cursor,
                                                       struct vv_chrome_value *value,
                                                       const char **out_end)
{
    const char *at = cursor->text + *cursor->next, *end;
    enum vv_chrome_status status;
    if (*at == '"') {
        status = vv_chrome_string(cursor, value);
        *out_end = value->at + value->length + 1;
        return status;
    }
    if ((*at | 0x20) == '{') {
        status = vv_chrome_nested(cursor, value);
        *out_end = value->at + value->length;
        return status;
    }
    end = vv_chrome_number(at, value);
    if (__builtin_expect(end == NULL, 0))
        end = vv_chrome_other_scalar(at, value);
    if (__builtin_expect(end == NULL, 0)) /* the window's last token may be incomplete            */
        return cursor->next + 1 >= cursor->end
                   ? VV_CHROME_MORE
                   : vv_chrome_bad(cursor, at, "a value must stand here");
    *out_end = end;
    cursor->next++;
    return VV_CHROME_DONE;
}

/* After a value comes a comma, or the end of the object or array. Everything except blanks, commas
 * and colons is a token. So if the next token is that end, there is nothing else in between. */
VV_CHROME_INLINE enum vv_chrome_status vv_chrome_after_value(struct vv_chrome_cursor *cursor,
                                                             const char *end, char close)
{
    if (*end == ',' ||
        (cursor->text[*cursor->next] == close && (*end == close || vv_chrome_is_blank(*end))))
        return VV_CHROME_DONE;
    while (vv_chrome_is_blank(*end) && end < cursor->text + *cursor->end)
        end++;
    if (*end == ',')
        return VV_CHROME_DONE;
    return vv_chrome_bad(cursor, end, close == '}' ? "a comma or } must follow a member's value"
                                                   : "a comma or ] must follow an element");
}

/* If the next token ends the object or array, skips it and returns true. */
VV_CHROME_INLINE bool vv_chrome_closes(struct vv_chrome_cursor *cursor, char close)
{
    if (cursor->text[*cursor->next] != close)
        return false;
    cursor->next++;
    return true;
}

/* Reads the name of the next member and the colon after it. */
VV_CHROME_INLINE enum vv_chrome_status vv_chrome_key(struct vv_chrome_cursor *cursor,
                                                     struct vv_chrome_value *key)
{
    const char *at = cursor->text + *cursor->next;
    if (__builtin_expect(*at != '"', 0))
        return vv_chrome_bad(cursor, at, "a member's name must stand here");
    enum vv_chrome_status status = vv_chrome_string(cursor, key);
    if (__builtin_expect(status != VV_CHROME_DONE, 0))
        return status;
    const char *colon = key->at + key->length + 1;
    while (__builtin_expect(*colon != ':', 0)) {
        if (!vv_chrome_is_blank(*colon) || colon >= cursor->text + *cursor->end)
            return vv_chrome_bad(cursor, colon, "a colon must follow a member's name");
        colon++;
    }
    return VV_CHROME_DONE;
}

/* Reads one member of an object, and the comma after it. */
VV_CHROME_INLINE enum vv_chrome_status vv_chrome_member(struct vv_chrome_cursor *cursor,
                                                        struct vv_chrome_value *key,
                                                        struct vv_chrome_value *value)
{
    const char *end = NULL;
    enum vv_chrome_status status = vv_chrome_key(cursor, key);
    if (status == VV_CHROME_DONE)
        status = vv_chrome_value(cursor, value, &end);
    if (status == VV_CHROME_DONE)
        status = vv_chrome_after_value(cursor, end, '}');
    return status;
}

#endif
