/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define REAL_DIGITS_MAX 17

/* Bytes that stand for themselves in a string: they are written in one run. */
static size_t plain_run(const char *text, size_t length)
{
    size_t end = 0;
    while (end < length) {
        unsigned char byte = (unsigned char)text[end];
        if (byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f)
            break;
        size_t sequence = byte < 0x80 ? 1 : vv_utf8_sequence(text + end, length - end);
        if (sequence == 0)
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
        unsigned char byte = (unsigned char)text[position++];
        if (byte == '"' || byte == '\\')
            fprintf(stream, "\\%c", byte);
        else if (byte < 0x80)
            fprintf(stream, "\\u%04x", byte);
        else
            fputs("\xEF\xBF\xBD", stream);
    }
    putc('"', stream);
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
