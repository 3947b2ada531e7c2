/* SPDX-License-Identifier: Apache-2.0 */
/* classes.c — makes the table in which the decoding loop looks up every record. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "ctf/record_length.h"
#include "import/varve/process/process.h"
#include "varve/varve.h"

static const uint8_t builtins[] = {
#define VV_ROW(number, id, name, words, fields) VV_EVENT_##id,
    VV_EVENTS(VV_ROW)
#undef VV_ROW
};

/* The words of a record; 0: the record itself says it. */
static uint8_t words_of(uint32_t id)
{
    const uint64_t word = htole64(id);
    return vv_record_length(&word, 1) & 0xF;
}

/* The classes of one site follow each other, so the class before mostly has the same row. */
static enum varve_code find_source(struct vv_model *model, const struct vv_metadata_class *said,
                                   uint32_t *out_row, struct varve_error *error)
{
    *out_row = 0;
    if (said->file == NULL)
        return VARVE_OK;
    uint32_t file;
    VV_TRY(vv_model_text(model, said->file, &file, error));
    struct vv_sources *sources = &model->sources;
    if (sources->table.count > 1) {
        uint32_t last = (uint32_t)sources->table.count - 1;
        if (sources->file[last] == file && sources->line[last] == said->line) {
            *out_row = last;
            return VARVE_OK;
        }
    }
    VV_TRY(vv_model_add_source(model, out_row, error));
    sources->file[*out_row] = file;
    sources->line[*out_row] = said->line;
    return VARVE_OK;
}

/* The records that change no range: their actions need only what struct vv_record says. */
static bool is_note(uint8_t action)
{
    switch (action) {
    case VV_EVENT_OP: case VV_EVENT_OPERATOR: case VV_EVENT_CALL:
    case VV_EVENT_ARGS: case VV_EVENT_TEXTS: case VV_EVENT_COLLECTIVE:
    case VV_EVENT_IDENTITIES: case VV_EVENT_OUTPUTS:
    case VV_EVENT_ALLOC: case VV_EVENT_FREE: case VV_EVENT_COUNTS:
    case VV_ACTION_SITE + VV_KIND_MARK: case VV_ACTION_SITE + VV_KIND_COUNTER:
    case VV_ACTION_SITE + VV_KIND_ASYNC_BEGIN: case VV_ACTION_SITE + VV_KIND_ASYNC_END:
    case VV_ACTION_SITE + VV_KIND_FLOW_OUT: case VV_ACTION_SITE + VV_KIND_FLOW_IN:
        return true;
    default:
        return false;
    }
}

static enum varve_code make_class(struct vv_process_reader *process, uint32_t row,
                                  struct varve_error *error)
{
    const struct vv_metadata_class *said = &process->metadata->classes[row];
    struct vv_event_class class = { .row = row, .layer = said->layer };
    VV_TRY(vv_model_text(process->model, said->name, &class.name, error));
    VV_TRY(find_source(process->model, said, &class.source, error));
    if (said->kind != VV_CLASS_KIND_OTHER) {
        class.action = (uint8_t)(VV_ACTION_SITE + said->kind);
        class.words = words_of(said->id) & 0xF;
        class.is_note = is_note(class.action);
        class.plain_ends = said->kind == VV_KIND_NEXT;
        class.plain_begins = said->kind == VV_KIND_NEXT || said->kind == VV_KIND_BEGIN;
        if (said->layer == VARVE_LAYER_STEP) /* it may be a phase */
            class.plain_ends = class.plain_begins = 0;
    } else if (said->fields == NULL) {
        class.action = VV_ACTION_PASS;
        class.words = 1;
    } else {
        class.action = said->fields->bad_word == NULL ? VV_ACTION_PASS : VV_ACTION_UNSIZED;
    }
    process->classes[said->id] = class;
    return VARVE_OK;
}

enum varve_code vv_classes_make(struct vv_process_reader *process, struct varve_error *error)
{
    const struct vv_metadata *metadata = process->metadata;
    process->class_count = VV_EVENT_BUILTIN_COUNT;
    for (size_t i = 0; i < metadata->class_count; i++)
        if (metadata->classes[i].id >= process->class_count)
            process->class_count = metadata->classes[i].id + 1;
    process->classes = calloc(process->class_count, sizeof *process->classes);
    if (process->classes == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u event classes", process->class_count);
    for (uint32_t row = 0; row < metadata->class_count; row++)
        VV_TRY(make_class(process, row, error));
    /* The built-in classes are fixed for format version 1, whatever the text says (§2). Numbers
     * between them may be classes of a later version. */
    for (size_t i = 0; i < sizeof builtins; i++)
        process->classes[builtins[i]] =
            (struct vv_event_class){ .action = builtins[i],
                                     .words = words_of(builtins[i]) & 0xF,
                                     .plain_ends = builtins[i] == VV_EVENT_END,
                                     .is_note = is_note(builtins[i]) };
    return VARVE_OK;
}
