/* SPDX-License-Identifier: Apache-2.0 */
/* operands.c — which operations define another's operands, read from the text. The names of values
 * are read when they are first asked for. */
#include <string.h>

#include "base/binary_search.h"
#include "mlir/match/matching.h"
#include "mlir/module/cursor.h"

/* Functions give the same names to their values; so many definitions of a name are tried. */
#define TRIED_MAX 256u

/* Where the operands end. */
uint64_t vv_mlir_operands_end(const struct vv_mlir_op *row)
{
    uint64_t end = row->body_at != 0 ? row->body_at : row->text.end;
    if (row->location.end != 0 && row->location.begin < end)
        end = row->location.begin;
    if (row->attributes.end != 0 && row->attributes.begin < end)
        end = row->attributes.begin;
    return end;
}

/* "%a, %b:2 = …": the names of the results. */
static enum varve_code add_results(struct vv_mlir_matching *matching, uint32_t op,
                                   struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    const struct vv_mlir_op *row = &module->ops[op];
    uint64_t at = row->text.begin;
    while (at < row->name_at && module->text[at] == '%') {
        uint64_t end = vv_mlir_name_end(module->text, at + 1, row->name_at);
        uint32_t id;
        VV_TRY(vv_intern_add(matching->value_names, module->text + at, end - at, &id, error));
        VV_TRY(vv_mlir_list_add(&matching->values, id, op, error));
        const char *next = memchr(module->text + end, '%', row->name_at - end);
        at = next != NULL ? (uint64_t)(next - module->text) : row->name_at;
    }
    return VARVE_OK;
}

enum varve_code vv_mlir_read_values(struct vv_mlir_matching *matching, struct varve_error *error)
{
    if (matching->value_names != NULL)
        return VARVE_OK;
    VV_TRY(vv_intern_in(matching->scratch, &matching->value_names, error));
    matching->values.scratch = matching->scratch;
    for (uint32_t op = 0; op < matching->module->op_count; op++)
        VV_TRY(add_results(matching, op, error));
    return vv_mlir_list_finish(&matching->values, error);
}

/* Does the operation stand in a region around `op`, or in op's own? */
static bool is_seen(const struct vv_mlir_module *module, uint32_t definer, uint32_t op)
{
    uint32_t region = module->ops[definer].parent, at = module->ops[op].parent;
    while (at != region && at != VV_MLIR_NONE && (region == VV_MLIR_NONE || at > region))
        at = module->ops[at].parent;
    return at == region;
}

/* The last operation before `op` that defines the name where `op` sees it. */
static uint32_t definer_of(const struct vv_mlir_matching *matching, uint32_t op,
                           struct vv_mlir_span name)
{
    struct vv_mlir_ops ops = vv_mlir_list_of(
        &matching->values, vv_intern_find(matching->value_names,
                                          matching->module->text + name.begin,
                                          name.end - name.begin));
    size_t before = VV_FIRST_NOT(i, 0, ops.count, ops.items[i] < op);
    for (size_t tried = 0; before > 0 && tried < TRIED_MAX; before--, tried++)
        if (is_seen(matching->module, ops.items[before - 1], op))
            return ops.items[before - 1];
    return VV_MLIR_NONE;
}

static bool next_operand(const struct vv_mlir_matching *matching, uint32_t op, uint64_t *at,
                         struct vv_mlir_span *out_name, uint32_t *out_definer)
{
    const struct vv_mlir_module *module = matching->module;
    uint64_t end = vv_mlir_operands_end(&module->ops[op]);
    if (*at == 0)
        *at = module->ops[op].name_at;
    const char *found = *at < end ? memchr(module->text + *at, '%', end - *at) : NULL;
    if (found == NULL)
        return false;
    out_name->begin = (uint64_t)(found - module->text);
    *at = out_name->end = vv_mlir_name_end(module->text, out_name->begin + 1, end);
    *out_definer = definer_of(matching, op, *out_name);
    return true;
}

enum varve_code vv_mlir_definers(struct vv_mlir_matching *matching, uint32_t op, uint32_t limit,
                                 uint32_t *out_ops, uint32_t *out_count, struct varve_error *error)
{
    struct vv_mlir_span name;
    uint64_t at = 0;
    uint32_t count = 0, definer;
    VV_TRY(vv_mlir_read_values(matching, error));
    for (uint32_t tried = 0; tried < limit &&
                             next_operand(matching, op, &at, &name, &definer);
         tried++)
        if (definer != VV_MLIR_NONE)
            out_ops[count++] = definer;
    *out_count = count;
    return VARVE_OK;
}
