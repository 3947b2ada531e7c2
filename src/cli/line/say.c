/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/harmless.h"
#include "cli/line/terminal.h"

#define LINE_BYTES 8192

#define RED "\033[31m"
#define PLAIN "\033[0m"

static void put(const char *text, size_t length)
{
    char *line = malloc(3 * length + 1);
    if (line == NULL)
        return;
    fwrite(line, 1, vv_harmless_copy(text, length, line), stderr);
    free(line);
}

/* Writes the whole line with one call, because other processes write to the same terminal. */
static void put_line(const char *head, const char *text)
{
    size_t head_length = strlen(head), length = strlen(text);
    char *line = malloc(head_length + 3 * length + 2);
    if (line == NULL)
        return;
    memcpy(line, head, head_length);
    size_t end = head_length + vv_harmless_copy(text, length, line + head_length);
    line[end++] = '\n';
    fwrite(line, 1, end, stderr);
    free(line);
}

void vv_say(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put_line("varve: ", text);
}

void vv_say_more(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put_line("  ", text);
}

void vv_say_marked(const char *before, const char *marked, const char *after, bool is_red)
{
    fputs("varve: ", stderr);
    put(before, strlen(before));
    fputs(is_red ? RED : "", stderr);
    put(marked, strlen(marked));
    fputs(is_red ? PLAIN : "", stderr);
    put_line("", after);
}

/* ---- lines of several pieces ---- */

static char *pieces;
static size_t pieces_length;
static const char *pieces_head;

FILE *vv_say_begin(const char *head)
{
    pieces_head = head;
    return open_memstream(&pieces, &pieces_length);
}

void vv_say_end(FILE *line)
{
    if (fclose(line) == 0)
        put_line(pieces_head, pieces);
    free(pieces);
    pieces = NULL;
}

/* ---- progress ---- */

void vv_say_passing(const char *text)
{
    fputs(VV_TERMINAL_ERASE, stderr);
    if (text != NULL)
        put(text, strlen(text));
    fflush(stderr);
}
