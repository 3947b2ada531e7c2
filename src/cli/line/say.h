/* SPDX-License-Identifier: Apache-2.0 */
/* say.h — what the command prints on standard error; nothing is printed there in another way. Not
 * thread-safe.
 *
 * Every message contains words that somebody else chose: paths, names of processes, texts of a
 * trace. So a line is first made as a whole, every harmful character in it is replaced
 * (base/text/harmless.h), also a new line, and then it is written at once. Therefore formats must
 * not contain "\n" or an escape sequence. */
#ifndef VV_CLI_LINE_SAY_H
#define VV_CLI_LINE_SAY_H

#include <stdbool.h>
#include <stdio.h>

/* Prints "varve: …". */
void vv_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a further line for the line before: two blanks, then the text. */
void vv_say_more(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "varve: BEFORE MARKED AFTER" at once, with the middle in red if is_red. */
void vv_say_marked(const char *before, const char *marked, const char *after, bool is_red);

/* Begins a line of several pieces: what is written to the stream, until vv_say_end. NULL if there
 * is no memory. Only one at a time. */
FILE *vv_say_begin(const char *head);
void vv_say_end(FILE *line);

/* Shows progress: replaces the last line of progress. NULL removes it. */
void vv_say_passing(const char *text);

#endif
