/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void vv_sheet_init(struct vv_sheet *sheet, const char *name, const char *heading,
                   const struct vv_sheet_column *columns, size_t column_count)
{
    memset(sheet, 0, sizeof *sheet);
    sheet->name = name;
    sheet->heading = heading;
    sheet->columns = columns;
    sheet->column_count = column_count;
    vv_arena_init(&sheet->arena);
}

void vv_sheet_deinit(struct vv_sheet *sheet)
{
    if (sheet == NULL)
        return;
    free(sheet->cells);
    free(sheet->kinds);
    vv_arena_deinit(&sheet->arena);
    sheet->cells = NULL;
    sheet->kinds = NULL;
    sheet->policy = NULL;
    sheet->row_count = 0;
    sheet->row_capacity = 0;
}

enum varve_code vv_sheet_row(struct vv_sheet *sheet, enum vv_row_kind kind, size_t *out_row,
                             struct varve_error *error)
{
    size_t row = sheet->row_count, cell_capacity = sheet->row_capacity * sheet->column_count;
    if (row == sheet->row_capacity) {
        size_t row_capacity = sheet->row_capacity;
        VV_TRY(
            vv_array_reserve(&sheet->kinds, &row_capacity, row + 1, sizeof *sheet->kinds, error));
        VV_TRY(vv_array_reserve(&sheet->cells, &cell_capacity, row_capacity * sheet->column_count,
                                sizeof *sheet->cells, error));
        sheet->row_capacity = row_capacity;
    }
    memset(sheet->cells + row * sheet->column_count, 0, sheet->column_count * sizeof *sheet->cells);
    sheet->kinds[row] = kind;
    sheet->row_count++;
    *out_row = row;
    return VARVE_OK;
}

static struct vv_cell *cell_at(struct vv_sheet *sheet, size_t row, size_t column)
{
    return &sheet->cells[row * sheet->column_count + column];
}

void vv_sheet_int(struct vv_sheet *sheet, size_t row, size_t column, int64_t value)
{
    struct vv_cell *cell = cell_at(sheet, row, column);
    cell->present = true;
    cell->integer = value;
}

void vv_sheet_real(struct vv_sheet *sheet, size_t row, size_t column, double value)
{
    struct vv_cell *cell = cell_at(sheet, row, column);
    cell->present = true;
    cell->real = value;
}

enum varve_code vv_sheet_text(struct vv_sheet *sheet, size_t row, size_t column, const char *text,
                              struct varve_error *error)
{
    char *copy = vv_arena_text(&sheet->arena, text, strlen(text));
    if (copy == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the texts of table '%s'", sheet->name);
    struct vv_cell *cell = cell_at(sheet, row, column);
    cell->present = true;
    cell->text = copy;
    return VARVE_OK;
}

enum varve_code vv_sheet_policy(struct vv_sheet *sheet, struct varve_error *error,
                                const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = length < 0 ? NULL : vv_arena_alloc(&sheet->arena, (size_t)length + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    if (text == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the texts of table '%s'", sheet->name);
    sheet->policy = text;
    return VARVE_OK;
}

/* The columns, to change. */
static enum varve_code copy_columns(struct vv_sheet *sheet, struct vv_sheet_column **out_columns,
                                    struct varve_error *error)
{
    size_t bytes = sheet->column_count * sizeof *sheet->columns;
    struct vv_sheet_column *columns = vv_arena_alloc(&sheet->arena, bytes);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of table '%s'", sheet->name);
    memcpy(columns, sheet->columns, bytes);
    *out_columns = columns;
    return VARVE_OK;
}

enum varve_code vv_sheet_hide_unknown(struct vv_sheet *sheet, size_t first, size_t limit,
                                      struct varve_error *error)
{
    struct vv_sheet_column *columns;
    VV_TRY(copy_columns(sheet, &columns, error));
    for (size_t column = first; column < limit && sheet->row_count > 0; column++) {
        size_t row = 0;
        while (row < sheet->row_count && !cell_at(sheet, row, column)->present)
            row++;
        columns[column].hidden |= row == sheet->row_count;
    }
    sheet->columns = columns;
    return VARVE_OK;
}

enum varve_code vv_sheet_hide(struct vv_sheet *sheet, size_t column, struct varve_error *error)
{
    struct vv_sheet_column *columns = NULL;
    VV_TRY(copy_columns(sheet, &columns, error));
    columns[column].hidden = true;
    sheet->columns = columns;
    return VARVE_OK;
}

enum varve_code vv_sheet_show_varied(struct vv_sheet *sheet, const char *name,
                                     struct varve_error *error)
{
    size_t column = vv_sheet_find(sheet, name);
    const struct vv_cell *first = NULL;
    struct vv_sheet_column *columns;
    bool varies = false;
    if (column == SIZE_MAX || !sheet->columns[column].hidden ||
        sheet->columns[column].type != VV_CELL_INT)
        return VARVE_OK;
    for (size_t row = 0; row < sheet->row_count && !varies; row++) {
        const struct vv_cell *cell = cell_at(sheet, row, column);
        varies = cell->present && first != NULL && cell->integer != first->integer;
        first = cell->present && first == NULL ? cell : first;
    }
    if (!varies)
        return VARVE_OK;
    VV_TRY(copy_columns(sheet, &columns, error));
    columns[column].hidden = false;
    sheet->columns = columns;
    return VARVE_OK;
}

const struct vv_cell *vv_sheet_cell(const struct vv_sheet *sheet, size_t row, size_t column)
{
    return &sheet->cells[row * sheet->column_count + column];
}

size_t vv_sheet_find(const struct vv_sheet *sheet, const char *name)
{
    for (size_t column = 0; column < sheet->column_count; column++)
        if (strcmp(sheet->columns[column].name, name) == 0)
            return column;
    return SIZE_MAX;
}

const char *vv_unit_name(enum vv_unit unit)
{
    static const char *const names[] = {
        [VV_UNIT_NONE] = "",        [VV_UNIT_COUNT] = "count", [VV_UNIT_NS] = "ns",
        [VV_UNIT_TIME] = "ns",      [VV_UNIT_BYTES] = "bytes", [VV_UNIT_RATIO] = "1",
        [VV_UNIT_FLOP] = "count",  [VV_UNIT_FLOP_PER_S] = "flop/s",
        [VV_UNIT_BYTES_PER_S] = "bytes/s",
    };
    return (size_t)unit < sizeof names / sizeof *names ? names[unit] : "";
}
