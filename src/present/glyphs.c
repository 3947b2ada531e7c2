/* SPDX-License-Identifier: Apache-2.0 */
#include "present/glyphs.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT "\xEF\xBF\xBD"

/* The bytes of the first column of `text`, and whether they may go to a terminal as they are: C0, DEL
 * and C1 (U+0080 … U+009F) may not. */
static size_t one_glyph(const char *text, size_t length, bool *out_harmless)
{
    size_t bytes = vv_utf8_sequence(text, length);
    unsigned char first = (unsigned char)text[0];
    bool is_control = bytes == 1 && (first < 0x20 || first == 0x7f);
    bool is_c1 = bytes == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
    *out_harmless = bytes > 0 && !is_control && !is_c1;
    return bytes > 0 ? bytes : 1;
}

size_t vv_glyphs_width(const char *text)
{
    size_t width = 0, length = strlen(text);
    bool harmless;
    for (size_t i = 0; i < length; width++)
        i += one_glyph(text + i, length - i, &harmless);
    return width;
}

size_t vv_glyphs_print(FILE *stream, const char *text, size_t width)
{
    size_t total = vv_glyphs_width(text), length = strlen(text), printed = 0, position = 0;
    size_t shown = total <= width ? total : width - (width > 0);
    for (; printed < shown; printed++) {
        bool harmless;
        size_t bytes = one_glyph(text + position, length - position, &harmless);
        if (harmless)
            fwrite(text + position, 1, bytes, stream);
        else
            fputs(REPLACEMENT, stream);
        position += bytes;
    }
    if (total > width && width > 0) {
        fputs("…", stream);
        printed++;
    }
    return printed;
}

void vv_glyphs_blanks(FILE *stream, size_t count)
{
    while (count-- > 0)
        putc(' ', stream);
}
