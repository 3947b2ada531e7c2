/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_json.c — any text: all readers of JSON see the same strings and brackets in it
 * (support/json_agreement.h), and as an argument of an event it is read or refused, by one thread
 * and by three alike. The first byte says whether the others are the text or pieces of one. */
#include "../support/chrome_bytes.h"
#include "../support/json_agreement.h"
#include "../support/json_pieces.h"

#define BEFORE                                                                                     \
    "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,"       \
    "\"ts\":1,\"dur\":2,\"args\":{\"z\":"
#define BEHIND "}}]}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_strict(const char *text, size_t bytes)
{
    struct vv_json json;
    vv_json_init_text(&json, text, bytes);
    bool is = vv_json_next(&json, NULL) == VARVE_OK && vv_json_skip(&json, NULL) == VARVE_OK &&
              vv_json_next(&json, NULL) == VARVE_OK && json.token == VV_JSON_END;
    vv_json_deinit(&json);
    return is;
}

static void read_as_argument(const char *text, size_t bytes)
{
    size_t whole = sizeof BEFORE - 1 + bytes + sizeof BEHIND - 1;
    char *trace = json_room(whole);
    struct vv_model *one = NULL, *three = NULL;
    struct varve_error error = { 0 }, other = { 0 };
    memcpy(trace, BEFORE, sizeof BEFORE - 1);
    memcpy(trace + sizeof BEFORE - 1, text, bytes);
    memcpy(trace + sizeof BEFORE - 1 + bytes, BEHIND, sizeof BEHIND - 1);
    enum varve_code code = chrome_bytes(trace, whole, 1, &one, &error);
    if (chrome_is_for_threads(text, bytes)) {
        AGREE(chrome_bytes(trace, whole, 3, &three, &other) == code);
        AGREE(code == VARVE_OK || strcmp(error.message, other.message) == 0);
    }
    AGREE(code == VARVE_OK || code == VARVE_LIMIT || !is_strict(text, bytes));
    AGREE(code != VARVE_CORRUPT || error.offset <= whole);
    vv_model_destroy(one);
    vv_model_destroy(three);
    free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 65536)
        return 0;
    char *text = json_room(size * JSON_PIECE_BYTES_MAX + 64);
    size_t bytes = size - 1;
    if (data[0] % 2 == 0)
        memcpy(text, data + 1, bytes);
    else
        bytes = json_text_of_pieces(data + 1, size - 1, text);
    text = realloc(text, bytes > 0 ? bytes : 1); /* exactly its size, for a sanitizer            */
    AGREE(text != NULL);
    json_readers_agree(text, (uint32_t)bytes);
    read_as_argument(text, bytes);
    free(text);
    return 0;
}
