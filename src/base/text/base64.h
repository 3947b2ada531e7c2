/* SPDX-License-Identifier: Apache-2.0 */
/* base64.h — bytes as text of 64 letters (RFC 4648), and back. Thread-safe. */
#ifndef VV_BASE_TEXT_BASE64_H
#define VV_BASE_TEXT_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/must_use.h"

/* Letters that so many bytes need, with padding. */
static inline size_t vv_base64_letters(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

/* Writes vv_base64_letters(bytes) letters, and no NUL. Returns their number. */
size_t vv_base64_write(const void *data, size_t bytes, char *out_letters);

/* The bytes that a text of either alphabet, padded or not, holds. */
size_t vv_base64_bytes(const char *text, size_t letters);

/* Reads such a text into room for these bytes. False: this is no base64. */
VV_MUST_USE bool vv_base64_read(const char *text, size_t letters, unsigned char *out_data);

#endif
