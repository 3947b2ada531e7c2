/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/base64.h"

#include <stdint.h>

size_t vv_base64_write(const void *data, size_t bytes, char *out_letters)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = data;
    char *at = out_letters;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        uint32_t three = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                         (left > 2 ? from[i + 2] : 0);
        *at++ = digits[three >> 18];
        *at++ = digits[three >> 12 & 63];
        *at++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[three & 63] : '=';
    }
    return (size_t)(at - out_letters);
}

static int digit_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52;
    return letter == '+' || letter == '-' ? 62 : letter == '/' || letter == '_' ? 63 : -1;
}

static size_t without_padding(const char *text, size_t letters)
{
    while (letters > 0 && text[letters - 1] == '=')
        letters--;
    return letters;
}

size_t vv_base64_bytes(const char *text, size_t letters)
{
    return without_padding(text, letters) * 3 / 4;
}

bool vv_base64_read(const char *text, size_t letters, unsigned char *out_data)
{
    letters = without_padding(text, letters);
    if (letters % 4 == 1)
        return false;
    uint32_t bits = 0;
    for (size_t i = 0; i < letters; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 != 0)
            *out_data++ = (unsigned char)(bits >> (6 - i % 4 * 2));
    }
    return true;
}
