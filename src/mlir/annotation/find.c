/* SPDX-License-Identifier: Apache-2.0 */
/* find.c — the annotation of an operation, wherever it stands. */
#include "mlir/annotation/find.h"

static bool find(const struct vv_mlir_module *module, uint32_t row, const char *key,
                 struct vv_mlir_annotation *out_annotation)
{
    const struct vv_mlir_op *op = &module->ops[row];
    struct vv_mlir_place place = { 0 };
    if (op->place != VV_MLIR_NONE)
        place = module->places[op->place];
    for (uint32_t i = 0; i < place.part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[place.first_part + i];
        const char *text = vv_mlir_string(module, part->text);
        if (part->kind == VV_MLIR_FUSED && *text == '{' &&
            vv_mlir_annotation_read(text, module->strings.lengths[part->text], key,
                                    out_annotation))
            return true;
    }
    return op->attributes.begin < op->attributes.end &&
           vv_mlir_annotation_read(module->text + op->attributes.begin,
                                   op->attributes.end - op->attributes.begin, key, out_annotation);
}

bool vv_mlir_annotation_find(const struct vv_mlir_module *module, uint32_t row,
                             struct vv_mlir_annotation *out_annotation)
{
    return find(module, row, VV_MLIR_KEY, out_annotation) ||
           find(module, row, "profiler_data", out_annotation);
}
