/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.h — writes single JSON values to a stream (RFC 8259). The caller writes commas and
 * brackets.
 *
 * Failures stay in the stream: the caller checks ferror() once at the end. Thread-compatible. */
#ifndef VV_BASE_TEXT_JSON_WRITE_H
#define VV_BASE_TEXT_JSON_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a string with its quotes. Control characters, also U+007F to U+009F, become \u00XX. Each
 * byte that is not UTF-8 becomes U+FFFD. NULL is written as null. */
void vv_json_write_text(FILE *stream, const char *text);
/* The same for text[0..length), which may hold NUL. */
void vv_json_write_bytes(FILE *stream, const char *text, size_t length);
/* Writes a text that is JSON already, without blanks outside of its strings. Control characters
 * inside the strings are escaped. */
void vv_json_write_made(FILE *stream, const char *json);
void vv_json_write_int(FILE *stream, int64_t value);
void vv_json_write_uint(FILE *stream, uint64_t value);
/* Writes the shortest digits that read back as the same value; null for infinities and NaN. */
void vv_json_write_real(FILE *stream, double value);

#endif
