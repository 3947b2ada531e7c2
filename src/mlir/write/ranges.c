/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/write/ranges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/module/cursor.h"

/* Where the text stands: in no place, in a string, behind one, or in a place's line, column,
 * " to ", last line, last column. */
enum where { OUTSIDE, STRING, QUOTED, LINE, COLUMN, TO, TO_LINE, TO_COLUMN };

/* What may be a range is held back until it is one, or is none. */
struct ranges {
    FILE *out;
    enum where where;
    bool is_escaped;
    char held[64];
    size_t held_bytes, token_bytes; /* of token_bytes are in " to " */
};

static const char to[] = " to ";

static void release(struct ranges *ranges)
{
    fwrite(ranges->held, 1, ranges->held_bytes, ranges->out);
    ranges->held_bytes = 0;
}

/* Outside of strings and places. */
static void pass(struct ranges *ranges, char c)
{
    release(ranges);
    ranges->where = c == '"' ? STRING : OUTSIDE;
    ranges->is_escaped = false;
    putc(c, ranges->out);
}

static void hold(struct ranges *ranges, char c)
{
    if (ranges->held_bytes < sizeof ranges->held)
        ranges->held[ranges->held_bytes++] = c;
    else
        pass(ranges, c); /* no place has so many digits */
}

static void put_in_string(struct ranges *ranges, char c)
{
    putc(c, ranges->out);
    if (c == '"' && !ranges->is_escaped)
        ranges->where = QUOTED;
    ranges->is_escaped = c == '\\' && !ranges->is_escaped;
}

/* Is the place before it complete, so that " to " may follow? */
static void put_behind_column(struct ranges *ranges, char c)
{
    if (vv_mlir_is_digit(c)) {
        putc(c, ranges->out);
    } else if (c == ' ') {
        ranges->where = TO;
        ranges->token_bytes = 1;
        hold(ranges, c);
    } else {
        pass(ranges, c);
    }
}

static void put(struct ranges *ranges, char c)
{
    switch (ranges->where) {
    case OUTSIDE: pass(ranges, c); break;
    case STRING: put_in_string(ranges, c); break;
    case QUOTED: case LINE:
        if (c == ':' || (ranges->where == LINE && vv_mlir_is_digit(c))) {
            ranges->where = c != ':' ? LINE : ranges->where == QUOTED ? LINE : COLUMN;
            putc(c, ranges->out);
        } else {
            pass(ranges, c);
        }
        break;
    case COLUMN: put_behind_column(ranges, c); break;
    case TO:
        if (ranges->token_bytes == sizeof to - 1) {
            ranges->where = TO_LINE;
            put(ranges, c);
        } else if (c == to[ranges->token_bytes]) {
            ranges->token_bytes++;
            hold(ranges, c);
        } else {
            pass(ranges, c);
        }
        break;
    case TO_LINE:
        if (c == ':')
            ranges->where = TO_COLUMN;
        if (c == ':' || vv_mlir_is_digit(c))
            hold(ranges, c);
        else
            pass(ranges, c);
        break;
    case TO_COLUMN:
        if (vv_mlir_is_digit(c)) {
            hold(ranges, c);
        } else {
            ranges->held_bytes = 0; /* a range: it is left out */
            pass(ranges, c);
        }
        break;
    }
}

/* Weights are strings of many megabytes, and most text is in no place. */
static size_t plain_bytes(struct ranges *ranges, const char *text, size_t bytes)
{
    const char *end = NULL;
    if (ranges->where == OUTSIDE && ranges->held_bytes == 0)
        end = memchr(text, '"', bytes);
    else if (ranges->where == STRING && !ranges->is_escaped)
        for (size_t i = 0; i < bytes; i++)
            if (text[i] == '"' || text[i] == '\\') {
                end = text + i;
                break;
            }
    if ((ranges->where != OUTSIDE || ranges->held_bytes > 0) &&
        (ranges->where != STRING || ranges->is_escaped))
        return 0;
    return end != NULL ? (size_t)(end - text) : bytes;
}

static ssize_t write_text(void *cookie, const char *text, size_t bytes)
{
    struct ranges *ranges = cookie;
    for (size_t i = 0; i < bytes;) {
        size_t plain = plain_bytes(ranges, text + i, bytes - i);
        fwrite(text + i, 1, plain, ranges->out);
        i += plain;
        if (i < bytes)
            put(ranges, text[i++]);
    }
    return ferror(ranges->out) ? 0 : (ssize_t)bytes;
}

static int close_text(void *cookie)
{
    struct ranges *ranges = cookie;
    if (ranges->where != TO_COLUMN)
        release(ranges);
    int failure = ferror(ranges->out) ? EOF : 0;
    free(ranges);
    return failure;
}

FILE *vv_mlir_without_ranges(FILE *out)
{
    struct ranges *ranges = calloc(1, sizeof *ranges);
    if (ranges == NULL)
        return NULL;
    ranges->out = out;
    FILE *stream = fopencookie(ranges, "w", (cookie_io_functions_t){ .write = write_text,
                                                                     .close = close_text });
    if (stream == NULL)
        free(ranges);
    return stream;
}
