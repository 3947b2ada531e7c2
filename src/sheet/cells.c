/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet/cells.h"

#include <string.h>

bool vv_column_is_called(const struct vv_sheet_column *column, const char *word)
{
    const char *name = column->name + (strncmp(column->name, "step_", 5) == 0 ? 5 : 0);
    const char *suffix = column->unit == VV_UNIT_NS           ? "_ns"
                         : column->unit == VV_UNIT_FLOP_PER_S ? "_per_s"
                                                              : "";
    size_t length = strlen(word);
    return length > 0 && (strcmp(column->title, word) == 0 || strcmp(column->name, word) == 0 ||
                          (strncmp(name, word, length) == 0 && strcmp(name + length, suffix) == 0));
}

int vv_cell_compare(const struct vv_cell *a, const struct vv_cell *b, enum vv_cell_type type)
{
    if (a->present != b->present)
        return a->present ? -1 : 1;
    if (!a->present)
        return 0;
    if (type == VV_CELL_TEXT)
        return strcmp(a->text, b->text);
    if (type == VV_CELL_REAL)
        return (a->real < b->real) - (a->real > b->real);
    return (a->integer < b->integer) - (a->integer > b->integer);
}

enum varve_code vv_row_put(struct vv_sheet *sheet, enum vv_row_kind kind,
                           const struct vv_cell *cells, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    for (size_t c = 0; c < sheet->column_count; c++) {
        if (!cells[c].present)
            continue;
        if (sheet->columns[c].type == VV_CELL_INT)
            vv_sheet_int(sheet, row, c, cells[c].integer);
        else if (sheet->columns[c].type == VV_CELL_REAL)
            vv_sheet_real(sheet, row, c, cells[c].real);
        else
            VV_TRY(vv_sheet_text(sheet, row, c, cells[c].text, error));
    }
    return VARVE_OK;
}
