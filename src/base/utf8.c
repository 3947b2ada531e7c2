/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <string.h>

static bool is_between(unsigned char byte, unsigned char first, unsigned char last)
{
    return byte >= first && byte <= last;
}

/* RFC 3629 §4: the first byte limits the range of the second only. */
static bool second_fits(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return is_between(second, 0xa0, 0xbf);
    case 0xed:
        return is_between(second, 0x80, 0x9f);
    case 0xf0:
        return is_between(second, 0x90, 0xbf);
    case 0xf4:
        return is_between(second, 0x80, 0x8f);
    default:
        return is_between(second, 0x80, 0xbf);
    }
}

size_t vv_utf8_sequence(const char *text, size_t length)
{
    if (length == 0)
        return 0;
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80)
        return 1;
    size_t wanted = is_between(bytes[0], 0xc2, 0xdf)   ? 2
                    : is_between(bytes[0], 0xe0, 0xef) ? 3
                    : is_between(bytes[0], 0xf0, 0xf4) ? 4
                                                       : 0;
    if (wanted == 0 || wanted > length || !second_fits(bytes[0], bytes[1]))
        return 0;
    for (size_t i = 2; i < wanted; i++)
        if (!is_between(bytes[i], 0x80, 0xbf))
            return 0;
    return wanted;
}

size_t vv_utf8_valid(const char *text, size_t length)
{
    size_t position = 0;
    while (position < length) {
        size_t sequence = vv_utf8_sequence(text + position, length - position);
        if (sequence == 0)
            break;
        position += sequence;
    }
    return position;
}

/* Is every byte ASCII and not NUL? Tests eight bytes at a time: subtracting 1 from each byte sets
 * the top bit of a NUL. The borrow may also set the top bit of the byte above a NUL; that is
 * harmless, since the answer is false anyway. */
static bool is_ascii_text(const char *text, size_t length)
{
    uint64_t odd = 0, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, sizeof word);
        odd |= word | (word - 0x0101010101010101u);
    }
    for (; length > 0; length--, text++)
        odd |= (unsigned char)*text | (uint64_t)(*text == '\0') << 7;
    return (odd & 0x8080808080808080u) == 0;
}

bool vv_utf8_is_text(const char *text, size_t length)
{
    return is_ascii_text(text, length) ||
           (vv_utf8_valid(text, length) == length && memchr(text, '\0', length) == NULL);
}

size_t vv_utf8_repair(const char *text, size_t length, char *out)
{
    size_t position = 0, written = 0;
    while (position < length) {
        const char *nul = memchr(text + position, '\0', length - position);
        size_t reach = nul != NULL ? (size_t)(nul - text) - position : length - position;
        size_t valid = vv_utf8_valid(text + position, reach);
        memcpy(out + written, text + position, valid);
        written += valid;
        position += valid;
        if (position < length) {
            memcpy(out + written, "\xef\xbf\xbd", 3);
            written += 3;
            position++;
        }
    }
    return written;
}

uint32_t vv_utf8_decode(const char *sequence, size_t bytes)
{
    static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t code_point = (unsigned char)sequence[0] & first_bits[bytes];
    for (size_t i = 1; i < bytes; i++)
        code_point = code_point << 6 | ((unsigned char)sequence[i] & 0x3f);
    return code_point;
}

size_t vv_utf8_encode(uint32_t code_point, char *out)
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}
