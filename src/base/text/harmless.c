/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/harmless.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

#define TOLD_BYTES_MAX 512u

/* Does a terminal obey this character? True for C0, DEL, C1, for characters that reverse text or
 * end a line, and for invisible ones. */
static bool is_obeyed(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c ||
           character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

size_t vv_harmless_first(const char *text, size_t length, bool *out_harmless)
{
    size_t bytes = vv_utf8_sequence(text, length);
    *out_harmless = bytes > 0 && !is_obeyed(vv_utf8_decode(text, bytes));
    return bytes > 0 ? bytes : 1;
}

size_t vv_harmless_copy(const char *text, size_t length, char *out)
{
    size_t written = 0;
    for (size_t at = 0, bytes; at < length; at += bytes) {
        bool is_harmless;
        bytes = vv_harmless_first(text + at, length - at, &is_harmless);
        const char *from = is_harmless ? text + at : VV_REPLACEMENT;
        size_t count = is_harmless ? bytes : sizeof VV_REPLACEMENT - 1;
        memcpy(out + written, from, count);
        written += count;
    }
    return written;
}

void vv_harmless_tell(const char *text)
{
    static const char head[] = "varve: ";
    char line[sizeof head + 3 * TOLD_BYTES_MAX];
    size_t length = strnlen(text, TOLD_BYTES_MAX);
    memcpy(line, head, sizeof head - 1);
    size_t end = sizeof head - 1 + vv_harmless_copy(text, length, line + sizeof head - 1);
    line[end++] = '\n';
    (void)!write(STDERR_FILENO, line, end);
}
