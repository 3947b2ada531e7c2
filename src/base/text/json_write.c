/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/harmless.h"
#include "base/utf8.h"

#define REAL_DIGITS_MAX 17

/* The number of bytes at the begin of the text that need no escape: they are written at once. */
static size_t plain_run(const char *text, size_t length)
{
    size_t end = 0;
    while (end < length) {
        unsigned char byte = (unsigned char)text[end];
        if (byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f)
            break;
        bool is_harmless = true;
        size_t sequence =
            byte < 0x80 ? 1 : vv_harmless_first(text + end, length - end, &is_harmless);
        if (!is_harmless)
            break;
        end += sequence;
    }
    return end;
}

void vv_json_write_bytes(FILE *stream, const char *text, size_t length)
{
    putc('"', stream);
    size_t position = 0;
    while (position < length) {
        size_t run = plain_run(text + position, length - position);
        fwrite(text + position, 1, run, stream);
        position += run;
        if (position == length)
            break;
        unsigned char byte = (unsigned char)text[position];
        size_t sequence = vv_utf8_sequence(text + position, length - position);
        if (byte == '"' || byte == '\\')
            fprintf(stream, "\\%c", byte);
        /* A JSON reader gets the same text, and a terminal finds nothing to obey. */
        else if (sequence > 0)
            fprintf(stream, "\\u%04x", vv_utf8_decode(text + position, sequence));
        else
            fputs(VV_REPLACEMENT, stream);
        position += sequence > 0 ? sequence : 1;
    }
    putc('"', stream);
}

void vv_json_write_made(FILE *stream, const char *json)
{
    for (size_t length = strlen(json), at = 0, bytes; at < length; at += bytes) {
        bool is_harmless;
        bytes = vv_harmless_first(json + at, length - at, &is_harmless);
        if (is_harmless)
            fwrite(json + at, 1, bytes, stream);
        else if (vv_utf8_sequence(json + at, length - at) > 0)
            fprintf(stream, "\\u%04x", vv_utf8_decode(json + at, bytes));
        else
            fputs(VV_REPLACEMENT, stream);
    }
}

void vv_json_write_text(FILE *stream, const char *text)
{
    if (text == NULL)
        fputs("null", stream);
    else
        vv_json_write_bytes(stream, text, strlen(text));
}

void vv_json_write_int(FILE *stream, int64_t value)
{
    fprintf(stream, "%" PRId64, value);
}

void vv_json_write_uint(FILE *stream, uint64_t value)
{
    fprintf(stream, "%" PRIu64, value);
}

void vv_json_write_real(FILE *stream, double value)
{
    if (!isfinite(value)) {
        fputs("null", stream);
        return;
    }
    char digits[32];
    for (int precision = 1; precision <= REAL_DIGITS_MAX; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    fputs(digits, stream);
}
