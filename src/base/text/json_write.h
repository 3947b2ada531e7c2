/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.h — single JSON values to a stream (RFC 8259). Commas and brackets are the caller's.
 *
 * Failures stay in the stream: the caller looks at ferror() once at the end. Thread-compatible. */
#ifndef VV_BASE_TEXT_JSON_WRITE_H
#define VV_BASE_TEXT_JSON_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A string with its quotes. Control characters, also U+007F to U+009F, become \u00XX; each byte that is not UTF-8 becomes
 * U+FFFD. NULL is written as null. */
void vv_json_write_text(FILE *stream, const char *text);
/* The same for text[0..length), which may hold NUL. */
void vv_json_write_bytes(FILE *stream, const char *text, size_t length);
/* A text that is JSON already, without blanks outside of its strings: control characters within those are escaped. */
void vv_json_write_made(FILE *stream, const char *json);
void vv_json_write_int(FILE *stream, int64_t value);
void vv_json_write_uint(FILE *stream, uint64_t value);
/* The shortest digits that read back as the same value; null for infinities and NaN. */
void vv_json_write_real(FILE *stream, double value);

#endif
