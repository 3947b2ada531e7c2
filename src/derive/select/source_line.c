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

/* Takes the frame unless one is known already, and it is no better: one of no library is. */
static void take(const char *frame, size_t length, bool is_library,
                 char text[VV_SOURCE_LINE_BYTES])
{
    if (!is_library || text[0] == '\0')
        snprintf(text, VV_SOURCE_LINE_BYTES, "%.*s",
                 (int)(length < VV_SOURCE_LINE_BYTES ? length : VV_SOURCE_LINE_BYTES - 1), frame);
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

/* Is this call of Python a library's? Python shortens names by the folder that it found them in,
 * so where the file is known, that tells, too. */
static bool is_library_call(const struct vv_model *model, uint32_t slice)
{
    uint32_t source = model->slices.source[slice];
    return vv_is_library_frame(vv_text_of(model, model->slices.name[slice])) ||
           (source != 0 && vv_is_library_frame(vv_text_of(model, model->sources.file[source])));
}

#define LEVELS_MAX 400u /* that are looked at: no stack of calls may make a table slow          */

/* Writes what the slice itself says of its place. Returns true if it is no library's. */
static bool take_own(const struct vv_model *model, uint32_t slice, char text[VV_SOURCE_LINE_BYTES])
{
    const struct vv_slices *slices = &model->slices;
    uint32_t op = slices->op[slice], source = slices->source[slice];
    char line[VV_SOURCE_LINE_BYTES];
    const char *frame = line;
    size_t length;
    bool is_library;
    if (slices->layer[slice] == VARVE_LAYER_PYTHON) { /* its line is the function's first */
        frame = vv_text_of(model, slices->name[slice]);
        length = strlen(frame);
        is_library = is_library_call(model, slice);
    } else if (source != 0) {
        snprintf(line, sizeof line, "%s:%" PRIu32, vv_text_of(model, model->sources.file[source]),
                 model->sources.line[source]);
        length = strlen(line);
        is_library = vv_is_library_frame(line);
    } else if (op != VV_NONE && model->ops.stack[op] != 0) {
        length = vv_own_frame(vv_text_of(model, model->ops.stack[op]), &frame);
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : 0), frame);
        is_library = vv_is_library_frame(line);
    } else {
        return false;
    }
    take(frame, length, is_library, text);
    return !is_library;
}

bool vv_source_line(const struct vv_model *model, uint32_t slice,
                    char out_text[VV_SOURCE_LINE_BYTES])
{
    const struct vv_slices *slices = &model->slices;
    bool is_call = slices->layer[slice] == VARVE_LAYER_PYTHON, is_last = false;
    uint32_t row = is_call ? slices->parent[slice] : slice;
    out_text[0] = '\0';
    if (is_call && !is_library_call(model, slice))
        return false;
    for (unsigned level = 0; row != VV_NONE && !is_last && level < LEVELS_MAX; level++) {
        is_last = take_own(model, row, out_text);
        row = slices->parent[row];
    }
    return out_text[0] != '\0';
}
