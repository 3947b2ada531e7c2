/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h — turns text of unknown origin into valid UTF-8. Thread-safe. */
#ifndef VV_BASE_UTF8_H
#define VV_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the well-formed sequence at the begin of text (RFC 3629: shortest form, no
 * surrogates, at most U+10FFFF); 0 if there is none, or if length is 0. */
size_t vv_utf8_sequence(const char *text, size_t length);

/* The length of the longest valid prefix. */
size_t vv_utf8_valid(const char *text, size_t length);

/* Is the text valid UTF-8 without NUL? Only then can it be kept as a NUL-terminated text. */
bool vv_utf8_is_text(const char *text, size_t length);

/* Copies text. Each NUL, and each byte that belongs to no well-formed sequence, becomes U+FFFD (3
 * bytes). `out` has room for 3 * length bytes. Returns the number of bytes written. */
size_t vv_utf8_repair(const char *text, size_t length, char *out);

/* The code point of a sequence of `bytes` bytes that vv_utf8_sequence has found. */
uint32_t vv_utf8_decode(const char *sequence, size_t bytes);

/* Writes code_point (not a surrogate, at most 0x10FFFF) into out[0..4); returns its length. */
size_t vv_utf8_encode(uint32_t code_point, char *out);

#endif
