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

/* Writes all with one call, because other processes write to the same terminal. Without memory a
 * long text is cut. */
static void put(const char *head, const char *text, const char *tail)
{
    static char reserve[3 * LINE_BYTES];
    size_t head_length = strlen(head), length = strlen(text), tail_length = strlen(tail);
    char *made = malloc(head_length + 3 * length + tail_length), *line = made;
    if (made == NULL) {
        size_t most = (sizeof reserve - head_length - tail_length) / 3;
        line = reserve;
        length = length < most ? length : most;
    }
    memcpy(line, head, head_length);
    size_t end = head_length + vv_harmless_copy(text, length, line + head_length);
    memcpy(line + end, tail, tail_length);
    fwrite(line, 1, end + tail_length, stderr);
    free(made);
}

void vv_say(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put("varve: ", text, "\n");
}

void vv_say_more(const char *format, ...)
{
    char text[LINE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put("  ", text, "\n");
}

void vv_say_marked(const char *before, const char *marked, const char *after, bool is_red)
{
    put("varve: ", before, is_red ? RED : "");
    put("", marked, is_red ? PLAIN : "");
    put("", after, "\n");
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
        put(pieces_head, pieces, "\n");
    free(pieces);
    pieces = NULL;
}

/* ---- progress ---- */

void vv_say_passing(const char *text)
{
    put(VV_TERMINAL_ERASE, text != NULL ? text : "", "");
    fflush(stderr);
}
