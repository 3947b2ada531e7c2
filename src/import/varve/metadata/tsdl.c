/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/metadata/tsdl.h"

#include <string.h>

#include "base/text/counted.h"
#include "base/utf8.h"

struct vv_tsdl_reader vv_tsdl_part(const char *text, size_t begin, size_t end)
{
    return (struct vv_tsdl_reader){ .text = text, .length = end, .position = begin };
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == '.';
}

/* The position after the text `close`, or SIZE_MAX. */
static size_t after(const struct vv_tsdl_reader *reader, size_t from, const char *close)
{
    const char *found = from > reader->length ? NULL
                                              : memmem(reader->text + from, reader->length - from,
                                                       close, strlen(close));
    return found == NULL ? SIZE_MAX : (size_t)(found - reader->text) + strlen(close);
}

/* Skips blanks and comments; false if a comment has no end. */
static bool skip_blanks(struct vv_tsdl_reader *reader)
{
    while (reader->position < reader->length) {
        const char *at = reader->text + reader->position;
        size_t left = reader->length - reader->position;
        if (*at == ' ' || (*at >= '\t' && *at <= '\r') || *at == '\0') {
            reader->position++;
        } else if (left >= 2 && at[0] == '/' && (at[1] == '*' || at[1] == '/')) {
            size_t end = after(reader, reader->position + 2, at[1] == '*' ? "*/" : "\n");
            if (end == SIZE_MAX)
                return false;
            reader->position = end;
        } else {
            break;
        }
    }
    return true;
}

static enum vv_tsdl_token read_string(struct vv_tsdl_reader *reader)
{
    for (reader->position++; reader->position < reader->length; reader->position++) {
        char c = reader->text[reader->position];
        if (c == '\\')
            reader->position++;
        else if (c == '"') {
            reader->end = ++reader->position;
            return VV_TSDL_STRING;
        }
    }
    reader->position = reader->length;
    return VV_TSDL_TORN;
}

static unsigned digit_value(char c)
{
    return is_digit(c) ? (unsigned)(c - '0')
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a' + 10)
                                                     : 99;
}

static enum vv_tsdl_token read_number(struct vv_tsdl_reader *reader)
{
    const char *text = reader->text;
    size_t at = reader->begin, limit = reader->position;
    reader->negative = text[at] == '-';
    if (reader->negative)
        at++;
    unsigned base = 10;
    if (limit - at > 2 && text[at] == '0' && (text[at + 1] | 0x20) == 'x') {
        base = 16;
        at += 2;
    } else if (limit - at > 1 && text[at] == '0') {
        base = 8;
        at++;
    }
    uint64_t value = 0;
    for (; at < limit && digit_value(text[at]) < base; at++) {
        if (value > (UINT64_MAX - digit_value(text[at])) / base)
            value = UINT64_MAX;
        else
            value = value * base + digit_value(text[at]);
    }
    reader->number = value;
    return VV_TSDL_NUMBER;
}

static enum vv_tsdl_token classify(struct vv_tsdl_reader *reader)
{
    if (!skip_blanks(reader))
        return VV_TSDL_TORN;
    reader->begin = reader->end = reader->position;
    if (reader->position == reader->length)
        return VV_TSDL_END;
    char first = reader->text[reader->position];
    if (first == '"')
        return read_string(reader);
    bool minus = first == '-' && reader->position + 1 < reader->length &&
                 is_digit(reader->text[reader->position + 1]);
    if (!minus && !is_word(first)) {
        reader->sign = first;
        reader->end = ++reader->position;
        return VV_TSDL_SIGN;
    }
    do
        reader->position++;
    while (reader->position < reader->length && is_word(reader->text[reader->position]));
    reader->end = reader->position;
    return minus || is_digit(first) ? read_number(reader) : VV_TSDL_WORD;
}

enum vv_tsdl_token vv_tsdl_next(struct vv_tsdl_reader *reader)
{
    reader->token = classify(reader);
    return reader->token;
}

bool vv_tsdl_accept(struct vv_tsdl_reader *reader, char sign)
{
    struct vv_tsdl_reader ahead = *reader;
    if (vv_tsdl_next(&ahead) != VV_TSDL_SIGN || ahead.sign != sign)
        return false;
    *reader = ahead;
    return true;
}

bool vv_tsdl_is(const struct vv_tsdl_reader *reader, const char *word)
{
    return reader->token == VV_TSDL_WORD &&
           vv_text_is(reader->text + reader->begin, reader->end - reader->begin, word);
}

bool vv_tsdl_statement(struct vv_tsdl_reader *reader, struct vv_tsdl_reader *out_part,
                       bool *out_torn)
{
    struct vv_tsdl_reader ahead = *reader;
    size_t depth = 0, begin = SIZE_MAX;
    *out_torn = false;
    for (;;) {
        enum vv_tsdl_token token = vv_tsdl_next(&ahead);
        if (token == VV_TSDL_END || token == VV_TSDL_TORN) {
            *out_torn = token == VV_TSDL_TORN || begin != SIZE_MAX;
            return false;
        }
        if (begin == SIZE_MAX)
            begin = ahead.begin;
        if (token != VV_TSDL_SIGN)
            continue;
        if (ahead.sign == ';' && depth == 0) {
            *out_part = vv_tsdl_part(reader->text, begin, ahead.begin);
            reader->position = ahead.position;
            return true;
        }
        if (ahead.sign == '{')
            depth++;
        else if (ahead.sign == '}' && depth > 0)
            depth--;
    }
}

/* Reads one escape, whose backslash is at *at; false if `limit` cuts it off. */
static unsigned char read_escape(const char *text, size_t *at, size_t limit)
{
    static const char letters[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    char first = text[*at];
    unsigned value = 0;
    if (first >= '0' && first <= '7') {
        for (int i = 0; i < 3 && *at < limit && text[*at] >= '0' && text[*at] <= '7'; i++)
            value = value * 8 + (unsigned)(text[(*at)++] - '0');
        return (unsigned char)value;
    }
    (*at)++;
    if (first == 'x') {
        for (int i = 0; i < 2 && *at < limit && digit_value(text[*at]) < 16; i++)
            value = value * 16 + digit_value(text[(*at)++]);
        return (unsigned char)value;
    }
    const char *letter = first == '\0' ? NULL : strchr(letters, first);
    return (unsigned char)(letter == NULL ? first : values[letter - letters]);
}

const char *vv_tsdl_text(const struct vv_tsdl_reader *reader, struct vv_arena *arena)
{
    size_t at = reader->begin + 1, limit = reader->end - 1, length = 0;
    char *plain = vv_arena_alloc(arena, limit - at + 1);
    if (plain == NULL)
        return NULL;
    while (at < limit) {
        char c = reader->text[at++];
        if (c == '\\' && at < limit)
            c = (char)read_escape(reader->text, &at, limit);
        plain[length++] = c;
    }
    if (vv_utf8_is_text(plain, length))
        return plain;
    char *repaired = vv_arena_alloc(arena, length * 3 + 1);
    if (repaired != NULL)
        vv_utf8_repair(plain, length, repaired);
    return repaired;
}
