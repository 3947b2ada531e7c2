/* SPDX-License-Identifier: Apache-2.0 */
/* json_pieces.h — JSON, and what is nearly JSON, out of any bytes: each byte is a piece of text, or
 * opens or closes what is open, so a few of them make texts that random bytes would not make in
 * years. */
#ifndef VARVE_TESTS_JSON_PIECES_H
#define VARVE_TESTS_JSON_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSON_PIECE_BYTES_MAX 16u

static const char *const json_pieces[] = {
    "{", "}", "[", "]", "\"", "\\", "\\\"", "\\\\", ",", ":", " ", "\n", "\"a\"", "\"\\\\\"",
    "\"\\\"\"", "\"[{\"",
    "\"k\":", "1", "-0.5e3", "true", "null", "NaN", "\\u0000", "\"\\ud83d\\ude00\"", "\"\\u12\"",
    "\x01", "\xc3", "\xed\xa0\x80",
    "{\"a\":[", "]}", "[[[[[[[[", "]]]]]]]]", "a", "'", "//", "\"\",\"\"", "[]", "{}",
    "\"          \"", "              ",
};

/* `out` needs room for JSON_PIECE_BYTES_MAX times `size`. Gives how much was written. An odd byte
 * opens or closes as the text so far wants it. */
static inline size_t json_text_of_pieces(const uint8_t *data, size_t size, char *out)
{
    char open[64], *begin = out;
    size_t depth = 0, pieces = sizeof json_pieces / sizeof *json_pieces;
    for (size_t i = 0; i < size; i++) {
        if (data[i] < 2 * pieces) {
            const char *piece = json_pieces[data[i] / 2];
            memcpy(out, piece, strlen(piece));
            out += strlen(piece);
        } else if (data[i] % 2 == 0 && depth < sizeof open) {
            open[depth++] = data[i] % 4 == 0 ? ']' : '}';
            *out++ = data[i] % 4 == 0 ? '[' : '{';
        } else if (depth > 0) {
            *out++ = open[--depth];
        }
    }
    while (depth > 0 && size % 3 != 0)
        *out++ = open[--depth];
    return (size_t)(out - begin);
}

#endif
