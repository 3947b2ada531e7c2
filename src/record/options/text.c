/* SPDX-License-Identifier: Apache-2.0 */
#include "record/options/text.h"

#include <string.h>

#include "base/utf8.h"

static uint64_t offset_of(const struct vv_option_scan *scan)
{
    return (uint64_t)(scan->at - scan->text);
}

static enum varve_code not_json(const struct vv_option_scan *scan, const char *what,
                                struct varve_error *error)
{
    return vv_fail_at(error, VARVE_INVALID, offset_of(scan), "the options are not JSON: %s",
                      *scan->at == '\0' ? "they end too early" : what);
}

static void skip_blanks(struct vv_option_scan *scan)
{
    scan->at += strspn(scan->at, " \t\r\n");
}

static enum varve_code take(struct vv_option_scan *scan, char byte, const char *what,
                            struct varve_error *error)
{
    skip_blanks(scan);
    if (*scan->at != byte)
        return not_json(scan, what, error);
    scan->at++;
    return VARVE_OK;
}

static enum varve_code read_hex4(struct vv_option_scan *scan, uint32_t *out_unit,
                                 struct varve_error *error)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        char lower = *scan->at >= 'A' && *scan->at <= 'F' ? (char)(*scan->at | 0x20) : *scan->at;
        const char *digit = lower != '\0' ? strchr(digits, lower) : NULL;
        if (digit == NULL)
            return not_json(scan, "four hexadecimal digits must follow \\u", error);
        unit = unit << 4 | (uint32_t)(digit - digits);
        scan->at++;
    }
    *out_unit = unit;
    return VARVE_OK;
}

/* Reads a code point after "\u". */
static enum varve_code read_code_point(struct vv_option_scan *scan, uint32_t *out_code_point,
                                       struct varve_error *error)
{
    uint32_t unit = 0, low = 0;
    VV_TRY(read_hex4(scan, &unit, error));
    if (unit >= 0xd800 && unit <= 0xdbff && strncmp(scan->at, "\\u", 2) == 0) {
        scan->at += 2;
        VV_TRY(read_hex4(scan, &low, error));
        if (low >= 0xdc00 && low <= 0xdfff)
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    if (unit == 0 || (unit >= 0xd800 && unit <= 0xdfff))
        return not_json(scan, "\\u names no character that may stand here", error);
    *out_code_point = unit;
    return VARVE_OK;
}

/* Reads one character of a string and resolves escapes: 1 to 4 bytes. */
static enum varve_code read_character(struct vv_option_scan *scan, char out_bytes[4],
                                      size_t *out_count, struct varve_error *error)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    *out_count = vv_utf8_sequence(scan->at, strnlen(scan->at, 4));
    if (*out_count == 0)
        return not_json(scan, "bytes in a string that are not UTF-8", error);
    memcpy(out_bytes, scan->at, *out_count);
    if (*scan->at != '\\') {
        scan->at += *out_count;
        return VARVE_OK;
    }
    scan->at++;
    const char *letter = *scan->at != '\0' ? strchr(letters, *scan->at) : NULL;
    if (letter != NULL) {
        out_bytes[0] = values[letter - letters];
        scan->at++;
        return VARVE_OK;
    }
    if (*scan->at != 'u')
        return not_json(scan, "unknown escape in a string", error);
    scan->at++;
    uint32_t code_point = 0;
    VV_TRY(read_code_point(scan, &code_point, error));
    *out_count = vv_utf8_encode(code_point, out_bytes);
    return VARVE_OK;
}

static enum varve_code read_string(struct vv_option_scan *scan, char *out_text, size_t capacity,
                                   struct varve_error *error)
{
    uint64_t begin = offset_of(scan);
    size_t length = 0;
    VV_TRY(take(scan, '"', "a text in quotes must stand here", error));
    while (*scan->at != '"') {
        char bytes[4];
        size_t count;
        if ((unsigned char)*scan->at < 0x20)
            return not_json(scan, "a control character in a string", error);
        VV_TRY(read_character(scan, bytes, &count, error));
        if (length + count >= capacity)
            return vv_fail_at(error, VARVE_LIMIT, begin,
                              "the options hold a text longer than %zu bytes, which begins",
                              capacity - 1);
        memcpy(out_text + length, bytes, count);
        length += count;
    }
    scan->at++;
    out_text[length] = '\0';
    return VARVE_OK;
}

static enum varve_code read_bare(struct vv_option_scan *scan, struct vv_option_member *member,
                                 struct varve_error *error)
{
    size_t length = strcspn(scan->at, " \t\r\n,}");
    bool is_number = length > 0 && strspn(scan->at, "0123456789") == length &&
                     (length == 1 || *scan->at != '0');
    if (length >= 24)
        return not_json(scan, "a value must stand here", error);
    memcpy(member->value, scan->at, length);
    member->value[length] = '\0';
    if (is_number)
        member->kind = VV_OPTION_NUMBER;
    else if (strcmp(member->value, "true") == 0)
        member->kind = VV_OPTION_TRUE;
    else if (strcmp(member->value, "false") == 0)
        member->kind = VV_OPTION_FALSE;
    else
        return not_json(scan, "a text in quotes, a whole number, true or false must stand here",
                        error);
    scan->at += length;
    return VARVE_OK;
}

static enum varve_code read_member(struct vv_option_scan *scan, struct vv_option_member *member,
                                   struct varve_error *error)
{
    member->key_offset = offset_of(scan);
    VV_TRY(read_string(scan, member->key, sizeof member->key, error));
    VV_TRY(take(scan, ':', "a colon must follow a key", error));
    skip_blanks(scan);
    member->value_offset = offset_of(scan);
    member->kind = VV_OPTION_STRING;
    return *scan->at == '"' ? read_string(scan, member->value, sizeof member->value, error)
                            : read_bare(scan, member, error);
}

enum varve_code vv_option_next(struct vv_option_scan *scan, struct vv_option_member *out_member,
                               bool *out_is_one, struct varve_error *error)
{
    *out_is_one = false;
    if (scan->ended)
        return VARVE_OK;
    if (!scan->begun)
        scan->at = scan->text;
    skip_blanks(scan);
    bool is_first = !scan->begun;
    if (is_first)
        VV_TRY(take(scan, '{', "an object in braces must stand here", error));
    scan->begun = true;
    skip_blanks(scan);
    if (*scan->at == '}') {
        scan->at++;
        skip_blanks(scan);
        if (*scan->at != '\0')
            return not_json(scan, "text after the closing brace", error);
        scan->ended = true;
        return VARVE_OK;
    }
    if (!is_first)
        VV_TRY(take(scan, ',', "a comma or the closing brace must stand here", error));
    skip_blanks(scan);
    VV_TRY(read_member(scan, out_member, error));
    *out_is_one = true;
    return VARVE_OK;
}
