/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/tables/labels.h"

#include <stdio.h>
#include <string.h>

#include "sheet/cells.h"

void vv_mlir_record_label(const struct vv_mlir_profile *profile, uint32_t record, char *text,
                          size_t bytes)
{
    const struct vv_mlir_record *row = &profile->records[record];
    uint32_t name = row->op_name != 0  ? row->op_name
                    : row->name != 0   ? row->name
                    : row->symbol != 0 ? row->symbol
                                       : row->type;
    if (name != 0)
        snprintf(text, bytes, "%s", vv_mlir_profile_text(profile, name));
    else
        snprintf(text, bytes, "%s:%u", vv_mlir_profile_text(profile, row->file), row->line);
}

void vv_mlir_op_label(const struct vv_mlir_module *module, uint32_t op, char *text, size_t bytes)
{
    uint32_t place = module->ops[op].place;
    text[0] = '\0';
    if (place == VV_MLIR_NONE)
        return;
    for (uint32_t i = 0; i < module->places[place].part_count; i++) {
        const struct vv_mlir_part *part = &module->parts[module->places[place].first_part + i];
        const char *said = vv_mlir_string(module, part->text);
        size_t length = module->strings.lengths[part->text];
        if (part->kind == VV_MLIR_NAME && length > 0 && said[length - 1] != ':') {
            snprintf(text, bytes, "%s", said);
            return;
        }
        if (part->kind == VV_MLIR_FILE && text[0] == '\0')
            snprintf(text, bytes, "%s:%u", said, part->line);
    }
}

struct vv_cell vv_mlir_share_cell(int64_t part, int64_t whole)
{
    static const struct vv_cell none = { .present = false };
    return whole > 0 ? vv_real_cell((double)part / (double)whole) : none;
}
