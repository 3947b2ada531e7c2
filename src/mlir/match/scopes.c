/* SPDX-License-Identifier: Apache-2.0 */
/* scopes.c — a module may hold the same operations in several functions. A record that says in
 * which one it ran is of that function's operations. */
#include <string.h>

#include "mlir/match/matching.h"

/* "n/conv@f" is of the function "f"; so is what f has inlined, by its call sites. */
static bool says_function(const struct vv_mlir_module *module, uint32_t place, const char *function)
{
    const struct vv_mlir_place *parts = &module->places[place];
    for (uint32_t i = 0; i < parts->part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[parts->first_part + i];
        const char *at = part->kind == VV_MLIR_NAME
                             ? strrchr(vv_mlir_string(module, part->text), '@') : NULL;
        if (at != NULL && strcmp(at + 1, function) == 0)
            return true;
    }
    return false;
}

static bool is_in(const struct vv_mlir_module *module, uint32_t op, const char *function)
{
    if (module->ops[op].place != VV_MLIR_NONE &&
        says_function(module, module->ops[op].place, function))
        return true;
    for (uint32_t at = module->ops[op].parent; at != VV_MLIR_NONE; at = module->ops[at].parent)
        if (strcmp(vv_mlir_string(module, module->ops[at].symbol), function) == 0)
            return true;
    return false;
}

enum varve_code vv_mlir_in_function(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *ops, struct varve_error *error)
{
    uint32_t function = matching->profile->records[record].function;
    size_t count = 0;
    if (function == 0 || ops->count < 2)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer, &matching->buffer_capacity,
                              ops->count, error));
    for (size_t i = 0; i < ops->count; i++)
        if (is_in(matching->module, ops->items[i], vv_mlir_record_text(matching, function)))
            matching->buffer[count++] = ops->items[i];
    if (count > 0 && count < ops->count)
        *ops = (struct vv_mlir_ops){ matching->buffer, count };
    return VARVE_OK;
}
