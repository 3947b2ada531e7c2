/* SPDX-License-Identifier: Apache-2.0 */
/* names.c — levels by name: as it is, normalised, joined, and over calls of functions. */
#include <string.h>

#include "mlir/match/matching.h"

const char *vv_mlir_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* ---- names of locations ---- */

/* Names ending in ':' say what kind of operation it is, or hold a tag. */
static bool is_name(const struct vv_mlir_module *module, const struct vv_mlir_part *part)
{
    if (part->kind != VV_MLIR_NAME || part->caller != 0 || part->text == 0)
        return false;
    const char *text = vv_mlir_string(module, part->text);
    return text[module->strings.lengths[part->text] - 1] != ':';
}

/* The children of a fused location stand one deeper than it; each has a first name. */
static enum varve_code add_joined(struct vv_mlir_matching *matching, uint32_t op,
                                  const struct vv_mlir_place *place, struct varve_error *error)
{
    enum { JOINED_BYTES = 2048 };
    const struct vv_mlir_module *module = matching->module;
    char joined[JOINED_BYTES];
    size_t length = 0, names = 0;
    for (uint32_t i = 0; i < place->part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[place->first_part + i];
        const struct vv_mlir_part *former = i > 0 ? part - 1 : NULL;
        bool is_child = former == NULL || former->kind != VV_MLIR_NAME ||
                        part->depth <= former->depth;
        size_t bytes = module->strings.lengths[part->text];
        if (!is_name(module, part) || !is_child || length + bytes + 2 > sizeof joined)
            continue;
        if (names++ > 0)
            joined[length++] = ';';
        memcpy(joined + length, vv_mlir_string(module, part->text), bytes);
        length += bytes;
        VV_TRY(vv_mlir_list_add(&matching->children, part->text, op, error));
    }
    uint32_t id;
    if (names < 2)
        return VARVE_OK;
    VV_TRY(vv_intern_add(matching->texts, joined, length, &id, error));
    return vv_mlir_list_add(&matching->joined, id, op, error);
}

/* The length of a name without "@function" and "[parameters]". */
static size_t normal_length(const char *name, size_t length)
{
    const char *at = memchr(name, '@', length);
    if (at != NULL && at > name)
        length = (size_t)(at - name);
    if (length > 0 && name[length - 1] == ']') {
        const char *open = memchr(name, '[', length);
        if (open != NULL && open > name)
            length = (size_t)(open - name);
    }
    return length;
}

static enum varve_code add_normal(struct vv_mlir_matching *matching, uint32_t op, uint32_t name,
                                  struct varve_error *error)
{
    const char *text = vv_mlir_string(matching->module, name);
    size_t bytes = matching->module->strings.lengths[name], length = normal_length(text, bytes);
    uint32_t id;
    if (length == bytes)
        return VARVE_OK;
    VV_TRY(vv_intern_add(matching->texts, text, length, &id, error));
    return vv_mlir_list_add(&matching->normal, id, op, error);
}

static void name_places(struct vv_mlir_matching *matching, bool *is_fused)
{
    const struct vv_mlir_module *module = matching->module;
    for (uint32_t row = 0; row < module->place_count; row++) {
        const struct vv_mlir_place *place = &module->places[row];
        for (uint32_t i = 0; i < place->part_count; i++) {
            const struct vv_mlir_part *part = &module->parts[place->first_part + i];
            is_fused[row] |= part->kind == VV_MLIR_FUSED;
            if (matching->name_of_place[row] == 0 && is_name(module, part))
                matching->name_of_place[row] = part->text;
        }
    }
}

static struct vv_mlir_ops find_name(const struct vv_mlir_matching *matching, const char *text,
                                    size_t bytes)
{
    return vv_mlir_list_of(&matching->names,
                           vv_intern_find(&matching->module->strings, text, bytes));
}

static struct vv_mlir_ops find_text(const struct vv_mlir_matching *matching,
                                    const struct vv_mlir_list *list, const char *text,
                                    size_t bytes)
{
    return vv_mlir_list_of(list, vv_intern_find(matching->texts, text, bytes));
}

/* Which names of the module are those of records, as they are or without "@function". */
static enum varve_code mark_recorded(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_profile *profile = matching->profile;
    const struct vv_mlir_module *module = matching->module;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &matching->is_recorded, module->strings.count,
                            error));
    for (size_t i = 0; i < profile->record_count; i++) {
        uint32_t name = vv_mlir_called(&profile->records[i]);
        const char *text = vv_mlir_record_text(matching, name);
        size_t bytes = profile->strings.lengths[name];
        uint32_t id = vv_intern_find(&module->strings, text, bytes);
        if (name == 0)
            continue;
        if (id != UINT32_MAX)
            matching->is_recorded[id] = true;
        struct vv_mlir_ops ops = find_text(matching, &matching->normal, text, bytes);
        for (size_t k = 0; k < ops.count; k++)
            matching->is_recorded[matching->name_of_place[module->ops[ops.items[k]].place]] = true;
    }
    return VARVE_OK;
}

enum varve_code vv_mlir_index_names(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    bool *is_fused;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &matching->name_of_place, module->place_count,
                            error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &is_fused, module->place_count, error));
    name_places(matching, is_fused);
    for (uint32_t op = 0; op < module->op_count; op++) {
        uint32_t place = module->ops[op].place;
        if (place == VV_MLIR_NONE || matching->name_of_place[place] == 0)
            continue;
        VV_TRY(vv_mlir_list_add(&matching->names, matching->name_of_place[place], op, error));
        VV_TRY(add_normal(matching, op, matching->name_of_place[place], error));
        if (is_fused[place])
            VV_TRY(add_joined(matching, op, &module->places[place], error));
    }
    VV_TRY(vv_mlir_list_finish(&matching->names, error));
    VV_TRY(vv_mlir_list_finish(&matching->children, error));
    VV_TRY(vv_mlir_list_finish(&matching->joined, error));
    VV_TRY(vv_mlir_list_finish(&matching->normal, error));
    return mark_recorded(matching, error);
}

struct vv_mlir_ops vv_mlir_ops_named(const struct vv_mlir_matching *matching, const char *text,
                                     size_t bytes)
{
    struct vv_mlir_ops ops = find_name(matching, text, bytes);
    return ops.count > 0 ? ops : find_text(matching, &matching->normal, text, bytes);
}

static const char *called(const struct vv_mlir_matching *matching, uint32_t record,
                          size_t *out_bytes)
{
    uint32_t name = vv_mlir_called(&matching->profile->records[record]);
    *out_bytes = matching->profile->strings.lengths[name];
    return vv_mlir_record_text(matching, name);
}

enum varve_code vv_mlir_find_name(struct vv_mlir_matching *matching, uint32_t record,
                                  struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    size_t bytes;
    const char *text = called(matching, record, &bytes);
    (void)error;
    if (bytes > 0)
        *out_ops = find_name(matching, text, bytes);
    return VARVE_OK;
}

enum varve_code vv_mlir_find_normal(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    size_t bytes;
    const char *text = called(matching, record, &bytes);
    size_t length = normal_length(text, bytes);
    (void)error;
    if (length == 0)
        return VARVE_OK;
    if (length < bytes)
        *out_ops = find_name(matching, text, length);
    if (out_ops->count == 0)
        *out_ops = find_text(matching, &matching->normal, text, length);
    return VARVE_OK;
}

/* The first of the names in "a;b" that is found, as it is or over calls. */
static struct vv_mlir_ops first_of_joined(const struct vv_mlir_matching *matching,
                                          const char *text, size_t bytes)
{
    struct vv_mlir_ops ops = { NULL, 0 };
    const char *end = text + bytes;
    while (ops.count == 0 && text < end) {
        const char *semicolon = memchr(text, ';', (size_t)(end - text));
        size_t length = (size_t)((semicolon != NULL ? semicolon : end) - text);
        if (length > 0)
            ops = find_name(matching, text, length);
        if (ops.count == 0 && length > 0)
            ops = find_text(matching, &matching->called, text, length);
        text += length + 1;
    }
    return ops;
}

enum varve_code vv_mlir_find_joined(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    size_t bytes;
    const char *text = called(matching, record, &bytes);
    (void)error;
    if (bytes == 0)
        return VARVE_OK;
    *out_ops = find_text(matching, &matching->joined, text, bytes);
    if (out_ops->count == 0)
        *out_ops = vv_mlir_list_of(&matching->children,
                                   vv_intern_find(&matching->module->strings, text, bytes));
    if (out_ops->count == 0 && memchr(text, ';', bytes) != NULL)
        *out_ops = first_of_joined(matching, text, bytes);
    return VARVE_OK;
}

enum varve_code vv_mlir_find_called(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    size_t bytes;
    const char *text = called(matching, record, &bytes);
    (void)error;
    if (bytes > 0)
        *out_ops = find_text(matching, &matching->called, text, bytes);
    return VARVE_OK;
}
