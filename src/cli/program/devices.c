/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c — from the numbers of the table to operations of the program. */
#include "cli/program/devices.h"

#include <stdlib.h>
#include <string.h>

#include "mlir/annotation/find.h"
#include "mlir/write/write.h"

/* As the graph of the program counts them: with a time, and at least one execution. */
static bool is_timed(const struct vv_mlir_module *module, uint32_t op)
{
    struct vv_mlir_annotation annotation;
    return vv_mlir_annotation_find(module, op, &annotation) &&
           vv_mlir_knows(&annotation, VV_MLIR_FIELD_total) &&
           annotation.values[VV_MLIR_FIELD_total] >= 0 &&
           (!vv_mlir_knows(&annotation, VV_MLIR_FIELD_count) ||
            annotation.values[VV_MLIR_FIELD_count] != 0);
}

static bool is_same(const struct vv_mlir_module *base, const struct vv_mlir_module *timed,
                    uint32_t op)
{
    return op < base->op_count && strcmp(vv_mlir_string(base, base->ops[op].name),
                                         vv_mlir_string(timed, timed->ops[op].name)) == 0;
}

/* Which numbers the table has; the number of timed operations is `count`. */
static void read_numbers(const struct vv_sheet *offload, size_t count, bool *is_moved)
{
    size_t column = vv_sheet_find(offload, "number");
    for (size_t row = 0; row < offload->row_count; row++) {
        const struct vv_cell *cell = vv_sheet_cell(offload, row, column);
        if (cell->present && cell->integer > 0 && (size_t)cell->integer <= count)
            is_moved[cell->integer - 1] = true;
    }
}

enum varve_code vv_program_mark_devices(const struct vv_mlir_module *base,
                                        const struct vv_mlir_module *timed,
                                        const struct vv_sheet *offload, FILE *out,
                                        struct varve_error *error)
{
    const struct vv_mlir_write_options options = { .attribute = VV_MLIR_DEVICE,
                                                   .value = "\"new\"" };
    struct vv_mlir_mark *marks = calloc((size_t)timed->op_count + 1, sizeof *marks);
    bool *is_moved = calloc((size_t)timed->op_count + 1, sizeof *is_moved);
    size_t count = 0, number = 0;
    enum varve_code code = VARVE_OK;
    if (marks == NULL || is_moved == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %u marks", timed->op_count);
    else
        read_numbers(offload, timed->op_count, is_moved);
    for (uint32_t op = 0; op < timed->op_count && code == VARVE_OK; op++) {
        if (!is_timed(timed, op) || !is_moved[number++])
            continue;
        if (!is_same(base, timed, op))
            code = vv_with_next(error, VV_NEXT_IS_SAID,
                                vv_fail(error, VARVE_INVALID,
                                        "'%s' and '%s' are not one program, annotated twice: no "
                                        "marks are written", base->path, timed->path));
        marks[count++].op = op;
    }
    if (code == VARVE_OK)
        code = vv_mlir_write(base, marks, count, &options, out, error);
    free(is_moved);
    free(marks);
    return code;
}
