/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h — what tests/programs/every_record.c says of the records that it makes: a line each. */
#ifndef VV_TESTS_JOURNAL_H
#define VV_TESTS_JOURNAL_H

#include <stdarg.h>
#include <stdio.h>

struct journal {
    const char *thread;
    FILE *stream;
    char *text;
    size_t text_bytes;
    long pairs;
};

static void write_hex(FILE *stream, const char *text)
{
    for (; *text; text++)
        fprintf(stream, "%02x", (unsigned char)*text);
}

__attribute__((format(printf, 3, 4)))
static void note(struct journal *journal, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(journal->stream, "%s ", journal->thread);
    write_hex(journal->stream, name);
    fputc(' ', journal->stream);
    vfprintf(journal->stream, format, arguments);
    fputc('\n', journal->stream);
    va_end(arguments);
}

#endif
