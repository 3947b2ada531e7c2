/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_laws.h — what holds of every module that has been read, whatever its text. */
#ifndef VARVE_TESTS_MLIR_LAWS_H
#define VARVE_TESTS_MLIR_LAWS_H

#include <string.h>

#include "mlir/module/module.h"

static inline bool mlir_is_inside(struct vv_mlir_span inner, struct vv_mlir_span outer)
{
    return inner.begin <= inner.end && inner.begin >= outer.begin && inner.end <= outer.end;
}

static inline const char *mlir_op_flaw(const struct vv_mlir_module *module, uint32_t row)
{
    const struct vv_mlir_op *op = &module->ops[row];
    struct vv_mlir_span whole = { 0, module->bytes };
    if (!mlir_is_inside(op->text, whole) || op->text.begin == op->text.end)
        return "an operation outside of the text";
    if (row > 0 && op->text.begin < module->ops[row - 1].text.begin)
        return "operations in another order than the text";
    if (op->parent != VV_MLIR_NONE &&
        (op->parent >= row || !mlir_is_inside(op->text, module->ops[op->parent].text)))
        return "an operation outside of its parent";
    if (op->location.end != 0 &&
        (op->location.end != op->text.end || !mlir_is_inside(op->location, op->text) ||
         memcmp(module->text + op->location.begin, "loc(", 4) != 0 ||
         module->text[op->location.end - 1] != ')'))
        return "a location that is none";
    if (op->attributes.end != 0 && (!mlir_is_inside(op->attributes, op->text) ||
                                    module->text[op->attributes.begin] != '{' ||
                                    module->text[op->attributes.end - 1] != '}'))
        return "a dictionary that is none";
    if (op->name_at < op->text.begin || op->name_at >= op->text.end ||
        op->types_at > op->text.end || op->body_at > op->text.end)
        return "a part of an operation outside of it";
    if (op->name == 0 || op->name >= module->strings.count ||
        op->symbol >= module->strings.count)
        return "a name that is none";
    return (op->place == VV_MLIR_NONE) == (op->location.end == 0) &&
                   (op->place == VV_MLIR_NONE || op->place < module->place_count)
               ? NULL : "a place that is none";
}

static inline const char *mlir_place_flaw(const struct vv_mlir_module *module, uint32_t row)
{
    struct vv_mlir_place place = module->places[row];
    if (place.first_part > module->part_count ||
        place.part_count > module->part_count - place.first_part)
        return "parts that are none";
    for (uint32_t i = 0; i < place.part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[place.first_part + i];
        if (part->text >= module->strings.count || part->kind > VV_MLIR_UNKNOWN)
            return "a part that is none";
        if ((i == 0 && part->depth != 0) || (i > 0 && part->depth > part[-1].depth + 1))
            return "a part in nothing";
        if (part->caller > part->depth)
            return "a caller in a part";
    }
    return NULL;
}

/* NULL, or the law that is broken. */
static inline const char *mlir_flaw(const struct vv_mlir_module *module)
{
    const char *flaw = module->resources_at > module->bytes ? "resources outside" : NULL;
    for (uint32_t row = 0; row < module->op_count && flaw == NULL; row++)
        flaw = mlir_op_flaw(module, row);
    for (uint32_t row = 0; row < module->place_count && flaw == NULL; row++)
        flaw = mlir_place_flaw(module, row);
    return flaw;
}

#endif
