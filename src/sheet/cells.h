/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h — finds the column that a user names, and compares cells for sorting: largest number
 * first, texts from A to Z, rows without a value last. */
#ifndef VV_SHEET_CELLS_H
#define VV_SHEET_CELLS_H

#include "sheet/sheet.h"

/* Does `word` mean this column? It may be the column's title or name; "step_" and the unit may be
 * left out. */
bool vv_column_is_called(const struct vv_sheet_column *column, const char *word);
/* < 0: a comes before b. */
int vv_cell_compare(const struct vv_cell *a, const struct vv_cell *b, enum vv_cell_type type);

static inline struct vv_cell vv_int_cell(int64_t value)
{
    return (struct vv_cell){ .present = true, .integer = value };
}

static inline struct vv_cell vv_real_cell(double value)
{
    return (struct vv_cell){ .present = true, .real = value };
}

static inline struct vv_cell vv_text_cell(const char *text)
{
    return (struct vv_cell){ .present = true, .text = text };
}

/* Appends a row with a cell for each column of the sheet; texts are copied. */
enum varve_code vv_row_put(struct vv_sheet *sheet, enum vv_row_kind kind,
                           const struct vv_cell *cells, struct varve_error *error);

#endif
