/* SPDX-License-Identifier: Apache-2.0 */
/* frames.c — stack frames. An event names its innermost frame by an id ("sf"). A table at the top
 * level has each frame's name and parent. The argument becomes "stack": the names, innermost first,
 * joined by ';'. */
#include <stdlib.h>

#include "import/chrome/reader.h"

#define DEPTH_MAX 1024u /* also ends the walk if a frame is its own parent                      */

struct stack_text {
    char *bytes;
    size_t count, capacity;
};

static enum varve_code append(struct stack_text *text, const char *name, struct varve_error *error)
{
    size_t length = strlen(name);
    VV_TRY(vv_array_reserve(&text->bytes, &text->capacity, text->count + length + 1, 1, error));
    if (text->count > 0)
        text->bytes[text->count++] = ';';
    memcpy(text->bytes + text->count, name, length);
    text->count += length;
    return VARVE_OK;
}

/* frame_of[string] is the row + 1 of the frame with this id. */
static enum varve_code write_stack(const struct vv_chrome_reader *reader, const uint32_t *frame_of,
                                   uint32_t id, struct stack_text *text, struct varve_error *error)
{
    text->count = 0;
    for (uint32_t depth = 0; id != 0 && frame_of[id] != 0 && depth < DEPTH_MAX; depth++) {
        const struct vv_chrome_frame *frame = &reader->frames.items[frame_of[id] - 1];
        VV_TRY(append(text, vv_intern_text(&reader->model->strings, frame->name), error));
        id = frame->parent;
    }
    return VARVE_OK;
}

static enum varve_code resolve(struct vv_chrome_reader *reader, const uint32_t *frame_of,
                               uint32_t *stack_of, struct stack_text *text,
                               struct varve_error *error)
{
    struct vv_args *args = &reader->model->args;
    uint32_t key;
    VV_TRY(vv_model_text(reader->model, "stack", &key, error));
    for (size_t i = 0; i < reader->frame_args.count; i++) {
        uint32_t row = reader->frame_args.items[i], id = (uint32_t)args->value[row];
        if (frame_of[id] == 0)
            continue;
        if (stack_of[id] == 0) {
            VV_TRY(write_stack(reader, frame_of, id, text, error));
            VV_TRY(vv_model_add_text(reader->model, text->bytes, text->count, &stack_of[id],
                                 error));
        }
        args->key[row] = key;
        args->value[row] = stack_of[id];
    }
    return VARVE_OK;
}

enum varve_code vv_chrome_resolve_frames(struct vv_chrome_reader *reader, struct varve_error *error)
{
    if (reader->frame_args.count == 0 || reader->frames.count == 0)
        return VARVE_OK;
    struct stack_text text = { 0 };
    size_t strings = reader->model->strings.count;
    uint32_t *frame_of = calloc(strings, sizeof *frame_of);
    uint32_t *stack_of = calloc(strings, sizeof *stack_of);
    enum varve_code code;
    if (frame_of == NULL || stack_of == NULL) {
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu stack frames",
                       reader->frames.count);
    } else {
        for (size_t i = 0; i < reader->frames.count; i++)
            frame_of[reader->frames.items[i].id] = (uint32_t)i + 1;
        code = resolve(reader, frame_of, stack_of, &text, error);
    }
    free(frame_of);
    free(stack_of);
    free(text.bytes);
    return code;
}
