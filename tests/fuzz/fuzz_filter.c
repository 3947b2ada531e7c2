/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_filter.c — any text as a filter: what is refused says why; of the rest !(text) lets through
 * exactly what the text does not, and (text) || (text) the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/sentence.h"
#include "derive/select/filter.h"
#include "varve/varve.h"

#define SLICES 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t text_of(struct vv_model *model, const char *text)
{
    uint32_t id = 0;
    if (vv_model_text(model, text, &id, NULL) != VARVE_OK)
        abort();
    return id;
}

static struct vv_model *make_model(void)
{
    static const char *const names[] = { "conv2d", "relu", "aten::add_", "" };
    struct vv_model *model;
    uint32_t process, track, slice, op;
    if (vv_model_create(&model, NULL) != VARVE_OK ||
        vv_model_add_process(model, &process, NULL) != VARVE_OK ||
        vv_model_add_track(model, &track, NULL) != VARVE_OK)
        abort();
    model->tracks.process[track] = process;
    model->tracks.name[track] = text_of(model, "train");
    for (int i = 0; i < SLICES; i++) {
        if (vv_model_add_slice(model, &slice, NULL) != VARVE_OK ||
            vv_model_add_op(model, &op, NULL) != VARVE_OK)
            abort();
        model->slices.track[slice] = track;
        model->slices.name[slice] = text_of(model, names[i % 4]);
        model->slices.begin_ns[slice] = 1000 * i;
        model->slices.duration_ns[slice] = INT64_C(1) << (i % 12);
        model->slices.layer[slice] = (uint16_t)(1u << (i % 11));
        model->slices.op[slice] = op;
        model->ops.shapes[op] = text_of(model, i % 3 == 0 ? "[2,3] f32" : "");
    }
    if (vv_model_finish(model, NULL) != VARVE_OK)
        abort();
    return model;
}

/* False: refused. */
static bool apply(const struct vv_model *model, const char *text, bool *out_admitted)
{
    struct vv_scratch scratch = { 0 };
    static const int64_t ranks[] = { 0 };
    struct vv_filter filter;
    struct varve_error error = { .code = VARVE_OK };
    bool *admitted;
    enum varve_code code = vv_filter_compile(text, &filter, &error);
    if (code != VARVE_OK) {
        sentence_must(&error, code, strlen(text));
        if (code != VARVE_INVALID || strncmp(error.message, "column ", 7) != 0)
            abort();
        return false;
    }
    if (vv_filter_apply(&filter, model, ranks, &scratch, &admitted, &error) != VARVE_OK)
        abort();
    memcpy(out_admitted, admitted, SLICES * sizeof *admitted);
    vv_scratch_deinit(&scratch);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct vv_model *model;
    bool plain[SLICES], other[SLICES];
    if (model == NULL)
        model = make_model();
    char *text = malloc(3 * size + 32), *longer = malloc(3 * size + 32);
    if (text == NULL || longer == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (apply(model, text, plain)) {
        sprintf(longer, "!(%s)", text);
        if (apply(model, longer, other))
            for (int i = 0; i < SLICES; i++)
                if (other[i] == plain[i])
                    abort();
        sprintf(longer, "(%s) || (%s)", text, text);
        if (apply(model, longer, other) && memcmp(plain, other, sizeof plain) != 0)
            abort();
    }
    free(text);
    free(longer);
    return 0;
}
