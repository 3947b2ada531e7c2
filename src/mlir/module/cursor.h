/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.h — the characters of MLIR text: what belongs to a name, where a string ends. */
#ifndef VV_MLIR_MODULE_CURSOR_H
#define VV_MLIR_MODULE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool vv_mlir_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool vv_mlir_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Of names, and of what stands behind % ^ @ # !. */
static inline bool vv_mlir_is_name(char c)
{
    return vv_mlir_is_letter(c) || vv_mlir_is_digit(c) || c == '$' || c == '.' || c == '-';
}

static inline bool vv_mlir_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The first byte from `at` on that does not belong to a name. "->" ends a name. */
static inline uint64_t vv_mlir_name_end(const char *text, uint64_t at, uint64_t end)
{
    while (at < end && vv_mlir_is_name(text[at]) &&
           !(text[at] == '-' && at + 1 < end && text[at + 1] == '>'))
        at++;
    return at;
}

/* text[at] is '"'. The byte behind the closing one; `end` if it is missing. Strings may be many
 * megabytes of weights. */
static inline uint64_t vv_mlir_string_end(const char *text, uint64_t at, uint64_t end)
{
    for (at++; at < end; at++) {
        const char *quote = memchr(text + at, '"', end - at);
        if (quote == NULL)
            return end;
        uint64_t stop = (uint64_t)(quote - text);
        uint64_t slashes = stop;
        while (slashes > at && text[slashes - 1] == '\\')
            slashes--;
        if ((stop - slashes) % 2 == 0)
            return stop + 1;
        at = stop;
    }
    return end;
}

/* text[at] is '"', and vv_mlir_string_end gave `behind`. Does the string end there? */
static inline bool vv_mlir_string_ends(const char *text, uint64_t at, uint64_t behind)
{
    uint64_t slashes = behind - 1;
    if (behind < at + 2 || text[behind - 1] != '"')
        return false;
    while (slashes > at + 1 && text[slashes - 1] == '\\')
        slashes--;
    return (behind - 1 - slashes) % 2 == 0;
}

/* Past blanks and "//" comments. */
static inline uint64_t vv_mlir_skip_blanks(const char *text, uint64_t at, uint64_t end)
{
    while (at < end) {
        if (vv_mlir_is_blank(text[at])) {
            at++;
        } else if (text[at] == '/' && at + 1 < end && text[at + 1] == '/') {
            const char *line = memchr(text + at, '\n', end - at);
            at = line == NULL ? end : (uint64_t)(line - text);
        } else {
            break;
        }
    }
    return at;
}

#endif
