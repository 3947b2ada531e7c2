/* SPDX-License-Identifier: Apache-2.0 */
/* glyphs.h — text of unknown origin on a screen: measures its width, and prints it so that it
 * cannot control the terminal. One code point counts as one column. Thread-safe. */
#ifndef VV_PRESENT_GLYPHS_H
#define VV_PRESENT_GLYPHS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

size_t vv_glyphs_width(const char *text);

/* Prints at most `width` columns of text; if the text is longer, the last column is "…". A control
 * character, or a byte that is not UTF-8, is shown as U+FFFD. Returns the number of columns
 * printed. */
size_t vv_glyphs_print(FILE *stream, const char *text, size_t width);

/* The same for a name: "…" stands in its middle, as names that begin alike often end
 * differently. */
size_t vv_glyphs_print_name(FILE *stream, const char *text, size_t width);

/* The same for a path: "…" stands before its last columns. */
size_t vv_glyphs_print_path(FILE *stream, const char *text, size_t width);

/* The same for a name in a tree, two blanks before it a level. `deepest` is the most blanks of any
 * row. Where they would take more than a third of the width, a level has one blank; where one is
 * too many, the number of the level stands before the deep names, "23 name". */
size_t vv_glyphs_print_level(FILE *stream, const char *text, size_t width, size_t deepest);

/* Prints all of text, beginning at column `indent`. Lines are broken at blanks before they pass
 * `width`, but not between a number and its unit; the next line begins at `indent` too. A word
 * wider than that is not broken. */
void vv_glyphs_wrap(FILE *stream, const char *text, size_t indent, size_t width);

void vv_glyphs_blanks(FILE *stream, size_t count);

#endif
