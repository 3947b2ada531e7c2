/* SPDX-License-Identifier: Apache-2.0 */
/* places.c — levels by source line and by module path. */
#include <stdio.h>
#include <string.h>

#include "mlir/match/matching.h"

/* ---- lines ---- */

/* Files are compared by what follows their last '/': the profile may have been made elsewhere. */
static enum varve_code line_text(const char *file, uint32_t line, struct vv_intern *texts,
                                 uint32_t *out_id, struct varve_error *error)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%s:%u", vv_mlir_base_name(file), line);
    if (length >= (int)sizeof text)
        length = (int)sizeof text - 1;
    return vv_intern_add(texts, text, (size_t)length, out_id, error);
}

/* The innermost source line of a location; NULL: it has none. */
static const struct vv_mlir_part *line_of(const struct vv_mlir_module *module, uint32_t place)
{
    const struct vv_mlir_place *parts = &module->places[place];
    for (uint32_t i = 0; i < parts->part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[parts->first_part + i];
        if (part->kind == VV_MLIR_FILE && part->line != 0)
            return part;
    }
    return NULL;
}

/* Where an operation has no line of its own, it stands in a line of the module's text: readers take
 * that one if a module was printed without locations. */
static enum varve_code index_text_lines(struct vv_mlir_matching *matching,
                                        struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    const char *at = module->text;
    uint32_t line = 1, id;
    for (uint32_t op = 0; op < module->op_count; op++) {
        const char *begin = module->text + module->ops[op].text.begin, *end;
        while ((end = memchr(at, '\n', (size_t)(begin - at))) != NULL) {
            at = end + 1;
            line++;
        }
        VV_TRY(line_text(module->path, line, matching->texts, &id, error));
        VV_TRY(vv_mlir_list_add(&matching->lines, id, op, error));
    }
    return VARVE_OK;
}

/* Does any record name the module's own file? */
static bool names_module(const struct vv_mlir_matching *matching)
{
    const struct vv_mlir_profile *profile = matching->profile;
    const char *module = vv_mlir_base_name(matching->module->path);
    for (size_t i = 0; i < profile->record_count; i++)
        if (profile->records[i].file != 0 &&
            strcmp(vv_mlir_base_name(vv_mlir_record_text(matching, profile->records[i].file)),
                   module) == 0)
            return true;
    return false;
}

static enum varve_code index_lines(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    uint32_t *text_of_place;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &text_of_place, module->place_count, error));
    for (uint32_t place = 0; place < module->place_count; place++) {
        const struct vv_mlir_part *part = line_of(module, place);
        if (part != NULL)
            VV_TRY(line_text(vv_mlir_string(module, part->text), part->line, matching->texts,
                             &text_of_place[place], error));
    }
    for (uint32_t op = 0; op < module->op_count; op++) {
        uint32_t place = module->ops[op].place;
        if (place != VV_MLIR_NONE && text_of_place[place] != 0)
            VV_TRY(vv_mlir_list_add(&matching->lines, text_of_place[place], op, error));
    }
    if (matching->lines.count == 0 && names_module(matching))
        VV_TRY(index_text_lines(matching, error));
    return vv_mlir_list_finish(&matching->lines, error);
}

/* Of the operations of a line those that begin at the record's column, if any does. */
static enum varve_code choose_column(struct vv_mlir_matching *matching, uint32_t column,
                                     struct vv_mlir_ops *ops, struct varve_error *error)
{
    size_t count = 0;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              ops->count, error));
    for (size_t i = 0; i < ops->count; i++) {
        uint32_t place = matching->module->ops[ops->items[i]].place;
        const struct vv_mlir_part *part =
            place != VV_MLIR_NONE ? line_of(matching->module, place) : NULL;
        if (part != NULL && part->column == column)
            matching->buffer[count++] = ops->items[i];
    }
    if (count > 0)
        *ops = (struct vv_mlir_ops){ matching->buffer, count };
    return VARVE_OK;
}

enum varve_code vv_mlir_find_line(struct vv_mlir_matching *matching, uint32_t record,
                                  struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    const struct vv_mlir_record *row = &matching->profile->records[record];
    uint32_t id;
    if (row->file == 0 || row->line == 0)
        return VARVE_OK;
    VV_TRY(line_text(vv_mlir_record_text(matching, row->file), row->line, matching->texts, &id,
                     error));
    *out_ops = vv_mlir_list_of(&matching->lines, id);
    return out_ops->count > 1 && row->column != 0
               ? choose_column(matching, row->column, out_ops, error)
               : VARVE_OK;
}

/* ---- paths ---- */

/* "blocks.3.qkv/mm_4" stands in the module "blocks.3.qkv". */
enum varve_code vv_mlir_index_places(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    for (uint32_t op = 0; op < module->op_count; op++) {
        uint32_t place = module->ops[op].place, id;
        uint32_t name = place != VV_MLIR_NONE ? matching->name_of_place[place] : 0;
        const char *text = vv_mlir_string(module, name), *slash = strrchr(text, '/');
        if (slash == NULL || slash == text)
            continue;
        VV_TRY(vv_intern_add(matching->texts, text, (size_t)(slash - text), &id, error));
        VV_TRY(vv_mlir_list_add(&matching->paths, id, op, error));
    }
    VV_TRY(vv_mlir_list_finish(&matching->paths, error));
    return index_lines(matching, error);
}

enum varve_code vv_mlir_find_path(struct vv_mlir_matching *matching, uint32_t record,
                                  struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    uint32_t path = matching->profile->records[record].path;
    (void)error;
    if (path == 0)
        return VARVE_OK;
    const char *text = vv_mlir_record_text(matching, path);
    size_t bytes = matching->profile->strings.lengths[path];
    *out_ops = vv_mlir_list_of(&matching->names,
                               vv_intern_find(&matching->module->strings, text, bytes));
    if (out_ops->count == 0)
        *out_ops = vv_mlir_list_of(&matching->paths, vv_intern_find(matching->texts, text, bytes));
    return VARVE_OK;
}
