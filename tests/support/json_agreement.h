/* SPDX-License-Identifier: Apache-2.0 */
/* json_agreement.h — everything that reads JSON here, on the same bytes: all must see the same
 * strings and brackets.
 *
 * Four readers: one byte by byte written here from the definition in base/text/json_scan.h, the
 * kernels of base/text/json_scan.c, the strict reader base/text/json.c, and vv_chrome_compact,
 * which copies what the kernels have found the end of. */
#ifndef VARVE_TESTS_JSON_AGREEMENT_H
#define VARVE_TESTS_JSON_AGREEMENT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json.h"
#include "base/text/json_scan.h"
#include "import/chrome/text.h"

#define AGREE(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "json_agreement.h:%d: %s\n", __LINE__, #condition); \
            abort();                                                            \
        }                                                                       \
    } while (0)

struct json_tokens {
    uint32_t *at, end;
    size_t count;
};

static inline void *json_room(size_t bytes)
{
    void *room = malloc(bytes);
    AGREE(room != NULL);
    return room;
}

/* The definition in base/text/json_scan.h, one byte after the other. */
static inline struct json_tokens json_tokens_by_bytes(const char *text, uint32_t bytes)
{
    struct json_tokens tokens = { json_room((bytes + 1) * sizeof(uint32_t)), bytes, 0 };
    bool in_string = false, in_scalar = false, is_escaped = false;
    for (uint32_t i = 0; i < bytes; i++) {
        char byte = text[i];
        bool is_quote = byte == '"' && !is_escaped,
             is_bracket = byte != 0 && strchr("[]{}", byte) != NULL;
        bool is_blank = (unsigned char)byte <= ' ' || byte == ',' || byte == ':';
        if (byte == '\\' && !in_string) {
            tokens.end = i;
            break;
        }
        is_escaped = in_string && byte == '\\' && !is_escaped;
        bool is_scalar = !in_string && !is_quote && !is_bracket && !is_blank;
        if (is_quote || (is_bracket && !in_string) || (is_scalar && !in_scalar))
            tokens.at[tokens.count++] = i;
        in_string = in_string != is_quote;
        in_scalar = is_scalar;
    }
    return tokens;
}

static inline void json_kernels_agree(const char *text, uint32_t bytes,
                                      const struct json_tokens *want)
{
    uint32_t *got = json_room(VV_JSON_SCAN_TOKENS((size_t)bytes) * sizeof *got), end;
    uint64_t *escapes = json_room(VV_JSON_SCAN_ESCAPE_WORDS(bytes) * sizeof *escapes);
    for (size_t kernel = 0; kernel < vv_json_scan_kernel_count; kernel++) {
        if (!vv_json_scan_kernels[kernel].is_here())
            continue;
        AGREE(vv_json_scan_kernels[kernel].scan(text, bytes, got, escapes, &end) == want->count);
        AGREE(end == want->end && memcmp(got, want->at, want->count * sizeof *got) == 0);
        for (uint32_t block = 0; block * 64 < end; block++) {
            uint32_t in_block = bytes - block * 64 < 64 ? bytes - block * 64 : 64;
            bool has = memchr(text + block * 64, '\\', in_block) != NULL;
            AGREE((escapes[block / 64] >> block % 64 & 1) == has);
        }
    }
    free(got);
    free(escapes);
}

static inline bool json_is_text(const struct vv_json *json)
{
    return json->token == VV_JSON_NAME || json->token == VV_JSON_STRING;
}

/* What the strict reader takes has exactly the tokens that the scan found: those that it reports,
 * and the quote that closes each string. Gives whether it takes the text. */
static inline bool json_strict_agrees(const char *text, uint32_t bytes,
                                      const struct json_tokens *want)
{
    struct vv_json json;
    uint32_t *seen = json_room(((size_t)bytes + 1) * sizeof *seen);
    size_t count = 0;
    vv_json_init_text(&json, text, bytes);
    enum varve_code code;
    while ((code = vv_json_next(&json, NULL)) == VARVE_OK && json.token != VV_JSON_END)
        seen[count++] = (uint32_t)json.offset;
    vv_json_deinit(&json);
    if (code == VARVE_OK) {
        size_t at = 0;
        AGREE(want->end == bytes);
        for (size_t i = 0; i < count; i++) {
            AGREE(at < want->count && want->at[at] == seen[i]);
            at += text[seen[i]] == '"' ? 2 : 1;
        }
        AGREE(at == want->count);
    }
    free(seen);
    return code == VARVE_OK;
}

/* Both texts are sound and say the same. */
static inline void json_texts_agree(const char *left, size_t left_bytes, const char *right,
                                    size_t right_bytes)
{
    struct vv_json one, other;
    vv_json_init_text(&one, left, left_bytes);
    vv_json_init_text(&other, right, right_bytes);
    do {
        AGREE(vv_json_next(&one, NULL) == VARVE_OK && vv_json_next(&other, NULL) == VARVE_OK);
        AGREE(one.token == other.token);
        AGREE(!json_is_text(&one) ||
              (one.length == other.length && memcmp(one.text, other.text, one.length) == 0));
    } while (one.token != VV_JSON_END);
    vv_json_deinit(&one);
    vv_json_deinit(&other);
}

/* Quotes and brackets of what was copied, in their order, are those of what was read. */
static inline void json_copy_agrees(const char *text, const struct json_tokens *want,
                                    const char *copy, uint32_t bytes)
{
    struct json_tokens got = json_tokens_by_bytes(copy, bytes);
    size_t at = 0;
    AGREE(got.end == bytes);
    for (size_t i = 0; i < want->count; i++) {
        if (strchr("\"[]{}", text[want->at[i]]) == NULL)
            continue;
        while (at < got.count && strchr("\"[]{}", copy[got.at[at]]) == NULL)
            at++;
        AGREE(at < got.count && copy[got.at[at++]] == text[want->at[i]]);
    }
    free(got.at);
}

static inline void json_readers_agree(const char *text, uint32_t bytes)
{
    struct json_tokens want = json_tokens_by_bytes(text, bytes);
    json_kernels_agree(text, bytes, &want);
    bool is_strict = json_strict_agrees(text, bytes, &want);
    char *copy = json_room(bytes + 1u), *end = vv_chrome_compact(text, bytes, copy);
    bool is_nested = want.count > 0 && strchr("[{", text[want.at[0]]) != NULL;
    AGREE(!(is_strict && is_nested) || end != NULL);
    if (end != NULL && want.end == bytes)
        json_copy_agrees(text, &want, copy, (uint32_t)(end - copy));
    if (is_strict && is_nested)
        json_texts_agree(text, bytes, copy, (size_t)(end - copy));
    free(copy);
    free(want.at);
}

#endif
