/* SPDX-License-Identifier: Apache-2.0 */
#include "import/graph/dot_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

void vv_dot_init(struct vv_dot_words *words, const char *text, size_t length)
{
    *words = (struct vv_dot_words){ .begin = text, .bytes = length };
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        words->at = 3;
}

void vv_dot_deinit(struct vv_dot_words *words)
{
    free(words->text);
    words->text = NULL;
}

static enum varve_code put(struct vv_dot_words *words, char byte, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&words->text, &words->capacity, words->length + 2, 1, error));
    words->text[words->length++] = byte != '\0' ? byte : '\xff'; /* repaired later */
    words->text[words->length] = '\0';
    return VARVE_OK;
}

static char byte_at(const struct vv_dot_words *words, size_t at)
{
    return at < words->bytes ? words->begin[at] : '\0';
}

static enum varve_code ends_early(const struct vv_dot_words *words, struct varve_error *error)
{
    return vv_fail_at(error, VARVE_TRUNCATED, words->bytes, "the DOT text ends too early");
}

/* Blanks, comments, and lines of a preprocessor. */
static enum varve_code skip_blanks(struct vv_dot_words *words, struct varve_error *error)
{
    while (words->at < words->bytes) {
        char byte = words->begin[words->at], next = byte_at(words, words->at + 1);
        bool is_line = (byte == '/' && next == '/') ||
                       (byte == '#' && (words->at == 0 || words->begin[words->at - 1] == '\n'));
        const char *end;
        if (is_line) {
            end = memchr(words->begin + words->at, '\n', words->bytes - words->at);
            words->at = end != NULL ? (size_t)(end - words->begin) + 1 : words->bytes;
        } else if (byte == '/' && next == '*') {
            end = memmem(words->begin + words->at + 2, words->bytes - words->at - 2, "*/", 2);
            if (end == NULL)
                return ends_early(words, error);
            words->at = (size_t)(end - words->begin) + 2;
        } else if (isspace((unsigned char)byte)) {
            words->at++;
        } else {
            break;
        }
    }
    return VARVE_OK;
}

/* "\n", "\l" and "\r" end a line; a backslash before a newline joins two lines; "\\" and "\"" are
 * the second character. Other pairs stay as they are: "\N" is Graphviz' own. */
static enum varve_code read_quoted(struct vv_dot_words *words, struct varve_error *error)
{
    for (words->at++; words->at < words->bytes; words->at++) {
        char byte = words->begin[words->at], next = byte_at(words, words->at + 1);
        if (byte == '"') {
            words->at++;
            return VARVE_OK;
        }
        if (byte != '\\') {
            VV_TRY(put(words, byte, error));
            continue;
        }
        if (words->at + 1 == words->bytes)
            break;
        words->at++;
        if (next == 'n' || next == 'l' || next == 'r') {
            VV_TRY(put(words, '\n', error));
        } else if (next != '\n') {
            if (next != '\\' && next != '"')
                VV_TRY(put(words, '\\', error));
            VV_TRY(put(words, next, error));
        }
    }
    return ends_early(words, error);
}

/* "a" + "b" */
static enum varve_code read_quoted_all(struct vv_dot_words *words, struct varve_error *error)
{
    for (;;) {
        VV_TRY(read_quoted(words, error));
        size_t after = words->at;
        VV_TRY(skip_blanks(words, error));
        if (byte_at(words, words->at) != '+') {
            words->at = after;
            return VARVE_OK;
        }
        words->at++;
        VV_TRY(skip_blanks(words, error));
        if (words->at == words->bytes)
            return ends_early(words, error);
        if (byte_at(words, words->at) != '"')
            return vv_fail_at(error, VARVE_CORRUPT, words->at, "expected a quoted text after '+'");
    }
}

static enum varve_code read_html(struct vv_dot_words *words, struct varve_error *error)
{
    uint64_t depth = 0;
    for (; words->at < words->bytes; words->at++) {
        char byte = words->begin[words->at];
        depth += byte == '<';
        depth -= byte == '>';
        VV_TRY(put(words, byte, error));
        if (depth == 0) {
            words->at++;
            return VARVE_OK;
        }
    }
    return ends_early(words, error);
}

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || (unsigned char)byte > 127;
}

/* A name or a number. */
static enum varve_code read_word(struct vv_dot_words *words, struct varve_error *error)
{
    char first = words->begin[words->at];
    bool is_number = isdigit((unsigned char)first) || first == '-' || first == '.';
    size_t begin = words->at;
    if (first == '-')
        VV_TRY(put(words, words->begin[words->at++], error));
    while (words->at < words->bytes &&
           (is_word_byte(words->begin[words->at]) ||
            (is_number && words->begin[words->at] == '.')))
        VV_TRY(put(words, words->begin[words->at++], error));
    if (words->at == begin || (first == '-' && words->at == begin + 1))
        return words->at == words->bytes
                   ? ends_early(words, error)
                   : vv_fail_at(error, VARVE_CORRUPT, begin, "DOT has no such sign");
    return VARVE_OK;
}

enum varve_code vv_dot_next(struct vv_dot_words *words, struct varve_error *error)
{
    VV_TRY(skip_blanks(words, error));
    words->offset = words->at;
    words->length = 0;
    words->is_quoted = false;
    if (words->at == words->bytes) {
        words->token = VV_DOT_END;
        return VARVE_OK;
    }
    char byte = words->begin[words->at], next = byte_at(words, words->at + 1);
    if (strchr("{}[];,=:", byte) != NULL && byte != '\0') {
        words->token = VV_DOT_SIGN;
        words->sign = byte;
        words->at++;
        return VARVE_OK;
    }
    if (byte == '-' && (next == '>' || next == '-')) {
        words->token = VV_DOT_EDGE;
        words->at += 2;
        return VARVE_OK;
    }
    words->token = VV_DOT_ID;
    VV_TRY(vv_array_reserve(&words->text, &words->capacity, 1, 1, error));
    words->text[0] = '\0';
    words->is_quoted = byte == '"' || byte == '<';
    if (byte == '"')
        return read_quoted_all(words, error);
    return byte == '<' ? read_html(words, error) : read_word(words, error);
}

bool vv_dot_is(const struct vv_dot_words *words, const char *keyword)
{
    return words->token == VV_DOT_ID && !words->is_quoted && strcasecmp(words->text, keyword) == 0;
}
