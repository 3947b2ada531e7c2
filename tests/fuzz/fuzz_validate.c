/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_validate.c — any bytes to the rules of varve validate: findings, whatever they are; and the
 * same ones when the text comes a few bytes at a time. */
#include <stdlib.h>
#include <string.h>

#include "validate/validate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct trickle {
    const uint8_t *data;
    size_t left, step;
};

static enum varve_code some_bytes(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                                  struct varve_error *error)
{
    struct trickle *trickle = context;
    size_t count = trickle->left < trickle->step ? trickle->left : trickle->step;
    (void)error;
    *out_bytes = count < bytes ? count : bytes;
    if (*out_bytes > 0)
        memcpy(buffer, trickle->data, *out_bytes);
    trickle->data += *out_bytes;
    trickle->left -= *out_bytes;
    return VARVE_OK;
}

static enum varve_code judge(const uint8_t *data, size_t size, size_t step, struct vv_sheet *sheet)
{
    const struct vv_validate_options options = { "a.json", NULL };
    struct trickle trickle = { data, size, step };
    bool is_refused;
    return vv_validate_chrome(some_bytes, &trickle, &options, sheet, &is_refused, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_sheet whole, pieces;
    enum varve_code code = judge(data, size, SIZE_MAX, &whole);
    if (code != judge(data, size, 5, &pieces))
        abort();
    if (code != VARVE_OK)
        return 0;
    if (whole.row_count != pieces.row_count)
        abort();
    for (size_t row = 0; row < whole.row_count; row++)
        if (strcmp(vv_sheet_cell(&whole, row, 0)->text, vv_sheet_cell(&pieces, row, 0)->text) !=
                0 ||
            vv_sheet_cell(&whole, row, 3)->integer != vv_sheet_cell(&pieces, row, 3)->integer)
            abort();
    vv_sheet_deinit(&whole);
    vv_sheet_deinit(&pieces);
    return 0;
}
