/* SPDX-License-Identifier: Apache-2.0 */
/* column_format.h — a column as people see it: one unit for all its numbers, in the title. Thread-compatible.
 *
 * Used by the forms for people (text, Markdown); machine forms print the bare values. */
#ifndef VV_PRESENT_COLUMN_FORMAT_H
#define VV_PRESENT_COLUMN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "sheet/number.h"
#include "sheet/sheet.h"

#define VV_FACE_EMPTY "–"

struct vv_face {
    const struct vv_sheet_column *column;
    size_t index;          /* of the column in the sheet                                        */
    struct vv_scale scale;
    int decimals;
    bool right;            /* numbers stand on the right                                        */
    char title[96];        /* "self ms"                                                         */
};

/* `unit` is how durations are wanted: "auto", "ns", "us", "ms", "s". */
void vv_face_init(struct vv_face *face, const struct vv_sheet *sheet, size_t column, const char *unit);

/* The cell's text: borrowed from the cell, static, or in `buffer`. */
const char *vv_face_text(const struct vv_face *face, const struct vv_cell *cell,
                         char buffer[VV_NUMBER_BYTES]);
/* The same for a cell that stands alone: with its own unit behind it. */
const char *vv_face_text_alone(const struct vv_face *face, const struct vv_cell *cell, const char *unit,
                               char buffer[VV_NUMBER_BYTES]);

#endif
