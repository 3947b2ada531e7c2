/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/source_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/find.h"
#include "varve/varve.h"

bool vv_is_library_frame(const char *frame)
{
    static const char *const parts[] = { "<built-in", "/site-packages/", "/dist-packages/",
                                         "/lib/python3", "<frozen", "importlib" };
    if (strncmp(frame, "torch/", 6) == 0 || strncmp(frame, "nn.Module", 9) == 0)
        return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(frame, parts[i]) != NULL)
            return true;
    return false;
}

/* Takes the frame unless a better one is known already. Returns true if no better one can come. */
static bool take(const char *frame, size_t length, char text[VV_SOURCE_LINE_BYTES])
{
    char found[VV_SOURCE_LINE_BYTES];
    snprintf(found, sizeof found, "%.*s", (int)(length < sizeof found ? length : sizeof found - 1),
             frame);
    bool is_last = !vv_is_library_frame(found);
    if (is_last || text[0] == '\0')
        snprintf(text, VV_SOURCE_LINE_BYTES, "%s", found);
    return is_last;
}

size_t vv_own_frame(const char *frames, const char **out_frame)
{
    char frame[VV_SOURCE_LINE_BYTES];
    *out_frame = frames;
    for (const char *at = frames; *at != '\0';) {
        size_t length = strcspn(at, ";");
        snprintf(frame, sizeof frame, "%.*s",
                 (int)(length < sizeof frame ? length : sizeof frame - 1), at);
        if (length > 0 && !vv_is_library_frame(frame)) {
            *out_frame = at;
            return length;
        }
        at += length + (at[length] == ';');
    }
    return strcspn(frames, ";");
}

bool vv_source_line(const struct vv_model *model, uint32_t slice,
                    char out_text[VV_SOURCE_LINE_BYTES])
{
    const struct vv_slices *slices = &model->slices;
    char line[VV_SOURCE_LINE_BYTES];
    bool is_last = false;
    out_text[0] = '\0';
    if (slices->layer[slice] == VARVE_LAYER_PYTHON &&
        !vv_is_library_frame(vv_text_of(model, slices->name[slice])))
        return false;
    for (uint32_t row = slice; row != VV_NONE && !is_last; row = slices->parent[row]) {
        uint32_t op = slices->op[row], source = slices->source[row];
        if (source != 0) {
            snprintf(line, sizeof line, "%s:%" PRIu32,
                     vv_text_of(model, model->sources.file[source]), model->sources.line[source]);
            is_last = take(line, strlen(line), out_text);
        } else if (op != VV_NONE && model->ops.stack[op] != 0) {
            const char *frame;
            size_t length = vv_own_frame(vv_text_of(model, model->ops.stack[op]), &frame);
            is_last = take(frame, length, out_text);
        } else if (slices->layer[row] == VARVE_LAYER_PYTHON && row != slice) {
            const char *frame = vv_text_of(model, slices->name[row]);
            is_last = take(frame, strlen(frame), out_text);
        }
    }
    return out_text[0] != '\0';
}
