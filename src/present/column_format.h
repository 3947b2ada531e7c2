/* SPDX-License-Identifier: Apache-2.0 */
/* column_format.h — how people see a column: three significant digits and the unit in each cell;
 * where --unit names one for all durations, and for shares, the unit is in the title.
 * Thread-compatible.
 *
 * Used by the forms for people (text, Markdown). Machine forms print the bare values. */
#ifndef VV_PRESENT_COLUMN_FORMAT_H
#define VV_PRESENT_COLUMN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "sheet/number.h"
#include "sheet/sheet.h"

#define VV_FACE_EMPTY "–"

struct vv_face {
    const struct vv_sheet_column *column;
    size_t index;          /* index of the column in the sheet                                  */
    struct vv_scale scale;
    int decimals;
    bool right;            /* align right, as numbers are                                       */
    bool has_unit;         /* each cell has its own                                             */
    char title[96];        /* "self"; "self ms"                                                 */
};

/* `unit` is the unit for durations: "auto", "ns", "us", "ms", "s". */
void vv_face_init(struct vv_face *face, const struct vv_sheet *sheet, size_t column,
                  const char *unit);

/* The cell's text: borrowed from the cell, static, or in `buffer`. */
const char *vv_face_text(const struct vv_face *face, const struct vv_cell *cell,
                         char buffer[VV_NUMBER_BYTES]);
/* The same for a cell outside of a table: the unit follows the number. */
const char *vv_face_text_alone(const struct vv_face *face, const struct vv_cell *cell,
                               const char *unit, char buffer[VV_NUMBER_BYTES]);

#endif
