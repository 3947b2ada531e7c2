/* SPDX-License-Identifier: Apache-2.0 */
/* say.h — what the command says on standard error: the only way to it. Not thread-safe.
 *
 * Every sentence has words in it that somebody else chose: paths, names of processes, texts of a trace. So a line is made
 * whole, what is not harmless in it is replaced (base/text/harmless.h), also a new line, and it is written at once.
 * Formats therefore hold no "\n" and no escape sequence. */
#ifndef VV_CLI_LINE_SAY_H
#define VV_CLI_LINE_SAY_H

#include <stdbool.h>
#include <stdio.h>

/* "varve: …" */
void vv_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What belongs to the line before: two blanks, then the text. */
void vv_say_more(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "varve: BEFORE MARKED AFTER" in one piece; the middle in red if so. */
void vv_say_marked(const char *before, const char *marked, const char *after, bool is_red);

/* A line of several pieces: what is written to the stream until vv_say_end. NULL without memory. One at a time. */
FILE *vv_say_begin(const char *head);
void vv_say_end(FILE *line);

/* Progress: a line in the place of the last one, without an end; NULL: none any more. */
void vv_say_passing(const char *text);

#endif
