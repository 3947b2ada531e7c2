/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.h — a word as one would type it: commands that varve proposes can be copied. Thread-safe. */
#ifndef VV_CLI_LINE_SHELL_WORD_H
#define VV_CLI_LINE_SHELL_WORD_H

#include <stdio.h>

/* Quoted for a shell where need be; nothing in it is obeyed by a terminal. */
void vv_shell_word_put(FILE *stream, const char *word);

#endif
