/* SPDX-License-Identifier: Apache-2.0 */
#include "present/glyphs.h"

#include <stdbool.h>
#include <string.h>

#include "base/text/harmless.h"

static size_t width_of(const char *text, size_t length)
{
    size_t width = 0;
    bool harmless;
    for (size_t i = 0; i < length; width++)
        i += vv_harmless_first(text + i, length - i, &harmless);
    return width;
}

size_t vv_glyphs_width(const char *text)
{
    return width_of(text, strlen(text));
}

static void print(FILE *stream, const char *text, size_t length, size_t width)
{
    for (size_t position = 0; width > 0; width--) {
        bool harmless;
        size_t bytes = vv_harmless_first(text + position, length - position, &harmless);
        if (harmless)
            fwrite(text + position, 1, bytes, stream);
        else
            fputs(VV_REPLACEMENT, stream);
        position += bytes;
    }
}

size_t vv_glyphs_print(FILE *stream, const char *text, size_t width)
{
    size_t total = vv_glyphs_width(text);
    if (total <= width || width == 0) {
        print(stream, text, strlen(text), total <= width ? total : 0);
        return total <= width ? total : 0;
    }
    print(stream, text, strlen(text), width - 1);
    fputs("…", stream);
    return width;
}

/* `tail` columns are behind the "…". */
static size_t print_ends(FILE *stream, const char *text, size_t width, size_t tail)
{
    size_t total = vv_glyphs_width(text), bytes = strlen(text), skipped = 0;
    bool harmless;
    if (total <= width || width < 3)
        return vv_glyphs_print(stream, text, width);
    size_t head = width - 1 - tail;
    for (size_t glyph = 0; glyph < total - tail; glyph++)
        skipped += vv_harmless_first(text + skipped, bytes - skipped, &harmless);
    print(stream, text, bytes, head);
    fputs("…", stream);
    print(stream, text + skipped, bytes - skipped, tail);
    return width;
}

size_t vv_glyphs_print_name(FILE *stream, const char *text, size_t width)
{
    return print_ends(stream, text, width, width > 0 ? (width - 1) / 2 : 0);
}

size_t vv_glyphs_print_path(FILE *stream, const char *text, size_t width)
{
    return print_ends(stream, text, width, width > 0 ? width - 1 : 0);
}

size_t vv_glyphs_print_level(FILE *stream, const char *text, size_t width, size_t deepest)
{
    size_t blanks = strspn(text, " "), level = blanks / 2, limit = width / 3;
    char number[24] = "";
    if (deepest > limit)
        blanks = level;
    if (blanks > limit) {
        size_t length = (size_t)snprintf(number, sizeof number, "%zu ", level);
        blanks = limit > length ? limit - length : 0;
    }
    vv_glyphs_blanks(stream, blanks);
    fputs(number, stream);
    blanks += strlen(number);
    return blanks + vv_glyphs_print_name(stream, text + strspn(text, " "),
                                         width > blanks ? width - blanks : 0);
}

/* Is it a unit, alone or before a sign of the sentence? */
static bool is_unit(const char *word)
{
    static const char *const units[] = { "ns", "µs", "ms", "s", "B", "kB", "MB", "GB", "TB", "%" };
    size_t length = strcspn(word, " .,;:()");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == length && memcmp(word, units[i], length) == 0)
            return true;
    return false;
}

/* The bytes of the first word; a number and its unit are one. */
static size_t word_length(const char *text)
{
    size_t length = strcspn(text, " ");
    bool ends_in_digit = length > 0 && text[length - 1] >= '0' && text[length - 1] <= '9';
    if (ends_in_digit && text[length] == ' ' && is_unit(text + length + 1))
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

void vv_glyphs_wrap(FILE *stream, const char *text, size_t indent, size_t width)
{
    size_t at = indent;
    for (bool is_first = true;; is_first = false) {
        size_t length = word_length(text), wide = width_of(text, length);
        if (!is_first && at + 1 + wide > width) {
            putc('\n', stream);
            vv_glyphs_blanks(stream, indent);
            at = indent;
        } else if (!is_first) {
            putc(' ', stream);
            at++;
        }
        print(stream, text, length, wide);
        at += wide;
        if (text[length] == '\0')
            return;
        text += length + 1;
    }
}

void vv_glyphs_blanks(FILE *stream, size_t count)
{
    while (count-- > 0)
        putc(' ', stream);
}
