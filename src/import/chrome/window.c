/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/json_scan.h"

/* Large enough that its end rarely cuts an event, and small enough for a second-level cache. */
#define FIRST_CAPACITY_BYTES (UINT32_C(128) << 10)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static enum varve_code reserve(struct vv_chrome_window *window, uint32_t capacity_bytes,
                               struct varve_error *error)
{
    char *text = realloc(window->text, (size_t)capacity_bytes + VV_CHROME_PADDING_BYTES);
    if (text != NULL)
        window->text = text;
    /* The text is scanned again, so the old tokens need not be copied. */
    free(window->tokens);
    free(window->escapes);
    window->tokens =
        malloc((VV_JSON_SCAN_TOKENS((size_t)capacity_bytes) + 2) * sizeof *window->tokens);
    window->escapes = malloc(VV_JSON_SCAN_ESCAPE_WORDS(capacity_bytes) * sizeof *window->escapes);
    if (text == NULL || window->tokens == NULL || window->escapes == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read %u bytes of JSON", capacity_bytes);
    window->capacity_bytes = capacity_bytes;
    return VARVE_OK;
}

enum varve_code vv_chrome_window_init(struct vv_chrome_window *window, struct vv_source *source,
                                      uint64_t offset, bool by_offset, struct varve_error *error)
{
    *window = (struct vv_chrome_window){
        .source = source, .by_offset = by_offset, .offset = offset, .read_at = offset
    };
    VV_TRY(reserve(window, FIRST_CAPACITY_BYTES, error));
    return vv_chrome_window_advance(window, 0, error);
}

void vv_chrome_window_deinit(struct vv_chrome_window *window)
{
    free(window->text);
    free(window->tokens);
    free(window->escapes);
    *window = (struct vv_chrome_window){ 0 };
}

static enum varve_code read_some(struct vv_chrome_window *window, size_t *out_bytes,
                                 struct varve_error *error)
{
    size_t room = window->capacity_bytes - window->bytes;
    char *to = window->text + window->bytes;
    if (window->by_offset)
        return vv_source_read_at(window->source, window->read_at, to, room, out_bytes, error);
    return vv_source_read(window->source, to, room, out_bytes, error);
}

/* A compressed file that ends too early is treated as if the input ended there. */
static enum varve_code fill(struct vv_chrome_window *window, struct varve_error *error)
{
    while (window->bytes < window->capacity_bytes && !window->is_last) {
        size_t got = 0;
        enum varve_code code = read_some(window, &got, error);
        if (code == VARVE_TRUNCATED)
            window->is_cut = true;
        else if (code != VARVE_OK)
            return code;
        window->bytes += (uint32_t)got;
        window->read_at += got;
        window->is_last = got == 0;
    }
    return VARVE_OK;
}

static void scan(struct vv_chrome_window *window)
{
    memset(window->text + window->bytes, 0, VV_CHROME_PADDING_BYTES);
    if (window->offset == 0 && window->bytes >= 3 && memcmp(window->text, BYTE_ORDER_MARK, 3) == 0)
        memset(window->text, ' ', 3);
    window->token_count = (uint32_t)vv_json_scan(window->text, window->bytes, window->tokens,
                                                 window->escapes, &window->end);
    window->tokens[window->token_count] = window->end;
    window->tokens[window->token_count + 1] = window->end;
}

enum varve_code vv_chrome_window_advance(struct vv_chrome_window *window, uint32_t keep,
                                         struct varve_error *error)
{
    uint32_t rest = window->bytes - keep;
    memmove(window->text, window->text + keep, rest);
    window->offset += keep;
    window->bytes = rest;
    if (rest > window->capacity_bytes / 2) {
        if (window->capacity_bytes >= VV_CHROME_WINDOW_BYTES_MAX)
            return vv_fail_at(error, VARVE_LIMIT, window->offset,
                              "'%s': an event or value of more than %u bytes",
                              vv_source_path(window->source), VV_CHROME_WINDOW_BYTES_MAX / 2);
        VV_TRY(reserve(window, window->capacity_bytes * 2, error));
    }
    VV_TRY(fill(window, error));
    scan(window);
    return VARVE_OK;
}
