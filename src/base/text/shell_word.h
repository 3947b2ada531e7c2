/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.h — writes a word as a user would type it, so that the commands that varve proposes
 * can be copied. Thread-safe. */
#ifndef VV_BASE_TEXT_SHELL_WORD_H
#define VV_BASE_TEXT_SHELL_WORD_H

#include <stdio.h>

/* Quotes the word for a shell if needed; a terminal obeys nothing in it. */
void vv_shell_word_put(FILE *stream, const char *word);

#endif
