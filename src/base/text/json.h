/* SPDX-License-Identifier: Apache-2.0 */
/* json.h — a strict, streaming pull reader of JSON (RFC 8259). Thread-compatible.
 *
 *     vv_json_init_text(&json, text, length);
 *     VV_TRY(vv_json_next(&json, error));           json.token is the token; then read its value
 *
 * One value is read; after it the token is VV_JSON_END. The reader accepts two things that the RFC
 * does not: raw control characters inside strings, and invalid UTF-8 bytes; both are kept
 * (base/utf8.h repairs the latter). NUL, raw or escaped, and escaped surrogates without a partner
 * become U+FFFD. Every error has a byte offset. VARVE_TRUNCATED: the text ends too early.
 * VARVE_CORRUPT: it is not JSON. VARVE_LIMIT: more than VV_JSON_DEPTH_MAX levels, or more than
 * VV_JSON_TEXT_BYTES_MAX in one string or number. */
#ifndef VV_BASE_TEXT_JSON_H
#define VV_BASE_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VV_JSON_DEPTH_MAX 256u
#define VV_JSON_TEXT_BYTES_MAX (UINT32_C(64) << 20)

enum vv_json_token {
    VV_JSON_NONE,    /* nothing read yet                                                        */
    VV_JSON_OBJECT, VV_JSON_OBJECT_END, VV_JSON_ARRAY, VV_JSON_ARRAY_END,
    VV_JSON_NAME,    /* name of a member, in text; its value comes next                         */
    VV_JSON_STRING,  /* text                                                                    */
    VV_JSON_INTEGER, /* in integer, real and text: no fraction, no exponent, in range */
    VV_JSON_REAL,    /* in real and text: any other number                                      */
    VV_JSON_TRUE, VV_JSON_FALSE, VV_JSON_NULL,
    VV_JSON_END
};

/* Fills up to `bytes` of buffer; *out_bytes = 0 at the end of the input. */
typedef enum varve_code vv_json_source(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                                       struct varve_error *error);

struct vv_json {
    enum vv_json_token token;
    const char *text; /* NUL-terminated; borrowed until the next call                           */
    size_t length;    /* length of text, which holds no NUL                                     */
    int64_t integer;
    double real;
    uint64_t offset;  /* where the token began                                                  */
    uint32_t depth;   /* number of open objects and arrays                                      */

    /* private */
    vv_json_source *source;
    void *context;
    const char *cursor, *limit;
    uint64_t window_offset; /* offset of `limit` in the input                                   */
    char *window, *scratch;
    size_t scratch_bytes, scratch_capacity;
    bool after_name, after_value, input_ended;
    unsigned char is_object[VV_JSON_DEPTH_MAX / 8];
};

/* Reads text[0..length), which is borrowed until deinit. */
void vv_json_init_text(struct vv_json *json, const char *text, size_t length);
/* Reads the bytes that `source` gives, one window at a time. */
enum varve_code vv_json_init_source(struct vv_json *json, vv_json_source *source, void *context,
                                    struct varve_error *error);
void vv_json_deinit(struct vv_json *json); /* NULL-safe, idempotent */

enum varve_code vv_json_next(struct vv_json *json, struct varve_error *error);
/* Skips the rest of the value whose first token was just read; a name is skipped with its value. */
enum varve_code vv_json_skip(struct vv_json *json, struct varve_error *error);
bool vv_json_is(const struct vv_json *json, const char *text); /* json->text equals it exactly */

#endif
