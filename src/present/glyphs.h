/* SPDX-License-Identifier: Apache-2.0 */
/* glyphs.h — text of unknown origin on a screen: its width, and printing it without letting it steer
 * the terminal. One code point counts as one column. Thread-safe. */
#ifndef VV_PRESENT_GLYPHS_H
#define VV_PRESENT_GLYPHS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

size_t vv_glyphs_width(const char *text);

/* Prints at most `width` columns of text, the last one "…" if more would follow. A control character
 * or a byte that is not UTF-8 is shown as U+FFFD. Returns the columns printed. */
size_t vv_glyphs_print(FILE *stream, const char *text, size_t width);

/* Prints all of text from column `indent` on, breaking lines at blanks where they would pass `width`; further
 * lines begin at `indent` too. A word that is wider is left to the terminal. */
void vv_glyphs_wrap(FILE *stream, const char *text, size_t indent, size_t width);

void vv_glyphs_blanks(FILE *stream, size_t count);

#endif
