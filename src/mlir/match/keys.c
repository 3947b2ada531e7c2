/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c — levels that say which operation it is: tags, and attributes that hold a name. */
#include <string.h>

#include "base/binary_search.h"
#include "mlir/match/matching.h"
#include "mlir/module/cursor.h"

/* Attributes that producers give names of profiles. */
static const char *const key_attributes[] = { "varve.id", "onnx_node_name" };

/* ---- tags ---- */

/* "varve#7:" -> 7. */
static bool read_tag(const char *text, uint32_t limit, uint32_t *out_tag)
{
    static const char prefix[] = "varve#";
    uint64_t tag = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *at = text + sizeof prefix - 1;
    if (!vv_mlir_is_digit(*at))
        return false;
    for (; vv_mlir_is_digit(*at) && tag < limit; at++)
        tag = tag * 10 + (uint64_t)(*at - '0');
    *out_tag = (uint32_t)tag;
    return tag < limit && strcmp(at, ":") == 0;
}

/* Tags are numbers of operations, of this module or of one it was made from; so none is very much
 * larger than the number of operations. */
static enum varve_code index_tags(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    uint32_t limit = module->op_count < UINT32_MAX / 32 ? 16 * module->op_count + 65536
                                                        : UINT32_MAX / 2;
    for (uint32_t op = 0; op < module->op_count; op++) {
        uint32_t place = module->ops[op].place, tag;
        if (place == VV_MLIR_NONE)
            continue;
        const struct vv_mlir_place *parts = &module->places[place];
        for (uint32_t i = 0; i < parts->part_count; i++) {
            const struct vv_mlir_part *part = &module->parts[parts->first_part + i];
            if (part->kind == VV_MLIR_NAME && part->caller == 0 &&
                read_tag(vv_mlir_string(module, part->text), limit, &tag))
                VV_TRY(vv_mlir_list_add(&matching->tags, tag, op, error));
        }
    }
    return vv_mlir_list_finish(&matching->tags, error);
}

enum varve_code vv_mlir_find_tag(struct vv_mlir_matching *matching, uint32_t record,
                                 struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    int64_t tag = matching->profile->records[record].tag;
    (void)error;
    if (tag >= 0 && tag < UINT32_MAX)
        *out_ops = vv_mlir_list_of(&matching->tags, (uint32_t)tag);
    return VARVE_OK;
}

/* ---- attributes ---- */

/* The innermost operation that holds a byte of the text; _NONE. */
static uint32_t op_at(const struct vv_mlir_module *module, uint64_t at)
{
    size_t after = VV_FIRST_NOT(i, 0, module->op_count, module->ops[i].text.begin <= at);
    uint32_t op = after > 0 ? (uint32_t)after - 1 : VV_MLIR_NONE;
    while (op != VV_MLIR_NONE && module->ops[op].text.end <= at)
        op = module->ops[op].parent;
    return op;
}

/* text[at] follows the attribute's name: = "value" or = 7. */
static enum varve_code add_key(struct vv_mlir_matching *matching, uint64_t name_at, uint64_t at,
                               struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    const char *text = module->text;
    uint64_t end = module->resources_at, value_end;
    uint32_t id, op;
    at = vv_mlir_skip_blanks(text, at, end);
    if (at >= end || text[at] != '=')
        return VARVE_OK;
    at = vv_mlir_skip_blanks(text, at + 1, end);
    if (at >= end)
        return VARVE_OK;
    if (text[at] == '"') {
        value_end = vv_mlir_string_end(text, at, end);
        at++;
        value_end -= value_end > at;
    } else {
        value_end = vv_mlir_name_end(text, at, end);
    }
    op = op_at(module, name_at);
    if (op == VV_MLIR_NONE || value_end <= at)
        return VARVE_OK;
    VV_TRY(vv_intern_add(matching->texts, text + at, value_end - at, &id, error));
    return vv_mlir_list_add(&matching->keys, id, op, error);
}

static enum varve_code add_keys(struct vv_mlir_matching *matching, const char *key,
                                struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    size_t length = strlen(key);
    const char *end = module->text + module->resources_at, *at = module->text;
    while (length > 0 && (at = memmem(at, (size_t)(end - at), key, length)) != NULL) {
        uint64_t offset = (uint64_t)(at - module->text);
        bool begins = offset == 0 || !vv_mlir_is_name(at[-1]);
        bool ends = at + length < end && !vv_mlir_is_name(at[length]);
        if (begins && ends)
            VV_TRY(add_key(matching, offset, offset + length + (at[length] == '"'), error));
        at += length;
    }
    return VARVE_OK;
}

enum varve_code vv_mlir_index_keys(struct vv_mlir_matching *matching, struct varve_error *error)
{
    VV_TRY(index_tags(matching, error));
    for (size_t i = 0; i < sizeof key_attributes / sizeof *key_attributes; i++)
        VV_TRY(add_keys(matching, key_attributes[i], error));
    if (matching->options->key_attribute != NULL)
        VV_TRY(add_keys(matching, matching->options->key_attribute, error));
    return vv_mlir_list_finish(&matching->keys, error);
}

enum varve_code vv_mlir_find_key(struct vv_mlir_matching *matching, uint32_t record,
                                 struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    uint32_t name = vv_mlir_called(&matching->profile->records[record]);
    (void)error;
    if (name != 0)
        *out_ops = vv_mlir_list_of(
            &matching->keys,
            vv_intern_find(matching->texts, vv_mlir_record_text(matching, name),
                           matching->profile->strings.lengths[name]));
    return VARVE_OK;
}
