/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c — from which arguments of the program each operation is made, as
 * mlir/hlo/arguments.h says it of instructions; and whose weights they read: a global
 * "@params.blocks.0.qkv.weight" belongs to the module "blocks.0.qkv". */
#include <string.h>

#include "mlir/match/flow.h"

/* ---- weights of modules ---- */

/* The module and each end of its path, "blocks.0.qkv" and "qkv": where a path begins depends on who
 * exported the program. */
static enum varve_code add_owner(struct vv_mlir_matching *matching, uint32_t owner, uint32_t op,
                                 struct varve_error *error)
{
    char path[512];
    size_t bytes = matching->texts->lengths[owner];
    uint32_t id = owner;
    if (bytes >= sizeof path)
        return VARVE_OK;
    memcpy(path, vv_intern_text(matching->texts, owner), bytes + 1);
    for (const char *at = path;;) {
        VV_TRY(vv_mlir_list_add(&matching->owned, id, op, error));
        at = strchr(at, '.');
        if (at == NULL || at[1] == '\0')
            return VARVE_OK;
        at++;
        VV_TRY(vv_intern_add(matching->texts, at, strlen(at), &id, error));
    }
}

/* ---- anchors ---- */

/* Is it the first anchor of the operation with this owner? Of each the operation is named once. */
static bool is_new_owner(const struct vv_mlir_matching *matching, uint32_t op,
                         const struct vv_mlir_anchor *anchor)
{
    const struct vv_mlir_anchor *at = vv_mlir_anchor_of(matching, op);
    while (at != anchor && at->owner != anchor->owner)
        at = vv_mlir_next_anchor(matching, at);
    return at == anchor;
}

/* ---- by type and arguments ---- */

struct key { uint64_t family; struct vv_mlir_arguments of; };

static struct key key_of(uint32_t family, const struct vv_mlir_arguments *of)
{
    struct key key;
    memset(&key, 0, sizeof key);
    key.family = family;
    key.of = *of;
    memset(key.of.parts, 0, sizeof key.of.parts);
    return key;
}

static enum varve_code index_op(struct vv_mlir_matching *matching, uint32_t op,
                                struct varve_error *error)
{
    uint32_t family = matching->type_of_op[op].family, id;
    for (const struct vv_mlir_anchor *at = vv_mlir_anchor_of(matching, op); at != NULL;
         at = vv_mlir_next_anchor(matching, at)) {
        struct key key = key_of(family, &at->of);
        if (at->owner != 0 && !vv_mlir_is_form(matching, op) && is_new_owner(matching, op, at))
            VV_TRY(add_owner(matching, at->owner, op, error));
        if (family == 0 || !vv_mlir_has_arguments(at->of.near))
            continue;
        VV_TRY(vv_intern_add(matching->texts, (const char *)&key, sizeof key, &id, error));
        VV_TRY(vv_mlir_list_add(&matching->anchored, id, op, error));
    }
    return VARVE_OK;
}

/* Which functions run first: "main"; without one, those that nothing in the module names besides
 * itself. */
static enum varve_code find_entries(struct vv_mlir_matching *matching, struct vv_mlir_ops *out,
                                    struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    uint32_t *entries, count = 0;
    bool *is_named;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &entries, (size_t)module->op_count + 1, error));
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &is_named, module->strings.count, error));
    for (uint32_t op = 0; op < module->op_count; op++)
        is_named[module->ops[op].symbol] |= module->ops[op].body_at == 0;
    for (uint32_t op = 0; op < module->op_count; op++) {
        if (!vv_mlir_is_function(module, op) || is_named[module->ops[op].symbol])
            continue;
        entries[count++] = op;
        if (strcmp(vv_mlir_string(module, module->ops[op].symbol), "main") != 0)
            continue;
        entries[0] = op;
        count = 1;
        break;
    }
    *out = (struct vv_mlir_ops){ entries, count };
    return VARVE_OK;
}

enum varve_code vv_mlir_index_arguments(struct vv_mlir_matching *matching,
                                        struct varve_error *error)
{
    const struct vv_mlir_profile *profile = matching->profile;
    bool is_needed = profile->arguments_count > 0;
    struct vv_mlir_ops entries;
    for (size_t i = 0; i < profile->record_count && !is_needed; i++)
        is_needed = profile->records[i].path != 0;
    if (!is_needed)
        return VARVE_OK;
    VV_TRY(find_entries(matching, &entries, error));
    if (entries.count == 0)
        return VARVE_OK;
    matching->has_one_entry = entries.count == 1;
    VV_TRY(VV_SCRATCH_ZEROS(matching->scratch, &matching->anchor_of, matching->module->op_count,
                            error));
    VV_TRY(vv_mlir_read_values(matching, error));
    VV_TRY(vv_mlir_flow(matching, &entries, error));
    for (uint32_t op = 0; op < matching->module->op_count; op++)
        VV_TRY(index_op(matching, op, error));
    VV_TRY(vv_mlir_list_finish(&matching->owned, error));
    return vv_mlir_list_finish(&matching->anchored, error);
}

struct vv_mlir_ops vv_mlir_ops_made_of(const struct vv_mlir_matching *matching, uint32_t family,
                                       const struct vv_mlir_arguments *of)
{
    struct key key = key_of(family, of);
    return vv_mlir_list_of(&matching->anchored,
                           vv_intern_find(matching->texts, (const char *)&key, sizeof key));
}
