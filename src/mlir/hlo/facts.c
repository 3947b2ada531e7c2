/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c — finds the programs among a model's facts: "NAME(ID): Hlo Proto", in base64. */
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "mlir/hlo/hlo.h"

static enum varve_code add_fact(struct vv_hlo *hlo, const struct vv_model *model, uint64_t fact,
                                struct varve_error *error)
{
    uint32_t text_id = (uint32_t)model->facts.value[fact];
    const char *text = vv_intern_text(&model->strings, text_id);
    size_t letters = strlen(text), bytes = vv_base64_bytes(text, letters);
    unsigned char *data = malloc(bytes + 1);
    if (data == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a program of %zu bytes", bytes);
    enum varve_code code = VARVE_CORRUPT;
    if (vv_base64_read(text, letters, data)) {
        const char *title = vv_intern_text(&model->strings, model->facts.key[fact]);
        code = vv_hlo_add(hlo, (struct vv_bytes){ data, bytes }, title, error);
    }
    free(data);
    if (code != VARVE_CORRUPT)
        return code;
    hlo->damaged++;
    return VARVE_OK;
}

enum varve_code vv_hlo_read(const struct vv_model *model, struct vv_hlo *out_hlo,
                            struct varve_error *error)
{
    static const char suffix[] = ": Hlo Proto";
    VV_TRY(vv_hlo_init(out_hlo, error));
    for (uint64_t row = 0; row < model->facts.table.count; row++) {
        const char *key = vv_intern_text(&model->strings, model->facts.key[row]);
        size_t length = strlen(key);
        if (model->facts.kind[row] != VV_ARG_TEXT || length < sizeof suffix ||
            strcmp(key + length - (sizeof suffix - 1), suffix) != 0)
            continue;
        enum varve_code code = add_fact(out_hlo, model, row, error);
        if (code != VARVE_OK) {
            vv_hlo_deinit(out_hlo);
            return code;
        }
    }
    return VARVE_OK;
}
