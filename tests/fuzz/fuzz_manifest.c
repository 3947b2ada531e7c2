/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_manifest.c — any bytes as JSON: in memory and a few bytes at a time the reader must give the
 * same tokens and the same error at the same place. */
#include <stdlib.h>
#include <string.h>

#include "../support/sentence.h"
#include "base/text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct trickle {
    const char *data;
    size_t left;
};

static enum varve_code few_bytes(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                                 struct varve_error *error)
{
    (void)error;
    struct trickle *trickle = context;
    size_t count = trickle->left < 3 ? trickle->left : 3;
    *out_bytes = count < bytes ? count : bytes;
    memcpy(buffer, trickle->data, *out_bytes);
    trickle->data += *out_bytes;
    trickle->left -= *out_bytes;
    return VARVE_OK;
}

static bool has_text(const struct vv_json *json)
{
    return json->token >= VV_JSON_NAME && json->token <= VV_JSON_REAL;
}

static void compare(const struct vv_json *whole, const struct vv_json *pieces)
{
    if (whole->token != pieces->token || whole->offset != pieces->offset ||
        whole->depth != pieces->depth)
        abort();
    if (has_text(whole) && (whole->length != pieces->length ||
                            memcmp(whole->text, pieces->text, whole->length) != 0))
        abort();
    if (whole->token == VV_JSON_INTEGER && whole->integer != pieces->integer)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_json whole, pieces;
    struct varve_error error = { .code = VARVE_OK }, other = { .code = VARVE_OK };
    struct trickle trickle = { size > 0 ? (const char *)data : "", size };
    vv_json_init_text(&whole, trickle.data, size);
    if (vv_json_init_source(&pieces, few_bytes, &trickle, NULL) != VARVE_OK)
        return 0;
    while (whole.token != VV_JSON_END) {
        enum varve_code code = vv_json_next(&whole, &error);
        if (code != vv_json_next(&pieces, &other))
            abort();
        if (code != VARVE_OK) {
            sentence_must(&error, code, size);
            if (error.offset != other.offset || strcmp(error.message, other.message) != 0)
                abort();
            break;
        }
        compare(&whole, &pieces);
    }
    vv_json_deinit(&whole);
    vv_json_deinit(&pieces);
    return 0;
}
