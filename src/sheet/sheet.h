/* SPDX-License-Identifier: Apache-2.0 */
/* sheet.h — a typed table of results: analyses return it, and presenters print it.
 * Thread-compatible.
 *
 * A column is defined once, with a name; text, JSON, CSV and Markdown all use that definition.
 * Times are int64 nanoseconds. Cells are stored row by row. Text cells are borrowed from the
 * sheet's arena. */
#ifndef VV_SHEET_SHEET_H
#define VV_SHEET_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum vv_cell_type { VV_CELL_INT, VV_CELL_REAL, VV_CELL_TEXT };

/* The unit of a value. It decides how people see the value. Machine forms print the bare number and
 * the unit's name. */
enum vv_unit {
    VV_UNIT_NONE,   /* ""       text, identifiers                                              */
    VV_UNIT_COUNT,  /* "count"                                                                 */
    VV_UNIT_NS,     /* "ns"     durations                                                      */
    VV_UNIT_TIME,   /* "ns"     instants since the Unix epoch                                  */
    VV_UNIT_BYTES,  /* "bytes"                                                                 */
    VV_UNIT_RATIO,  /* "1" a share, 1.0 = all; people see percent                              */
    VV_UNIT_FLOP,   /* "count" operations; people see them scaled                              */
    VV_UNIT_FLOP_PER_S, /* "flop/s"                                                            */
    VV_UNIT_BYTES_PER_S /* "bytes/s"                                                           */
};

enum vv_text_form {
    VV_TEXT_PLAIN,
    VV_TEXT_BAR,     /* a ratio, drawn as a bar on a terminal                                   */
    VV_TEXT_IF_ROOM, /* hidden on a narrow terminal, the last first, unless asked for            */
    VV_TEXT_IF_MUCH_ROOM, /* hidden before those above                                          */
    VV_TEXT_WRAPPED, /* the last column of a table: broken at blanks, not cut                   */
    VV_TEXT_PATH,    /* of calls, the inner one last: if it is too long, its begin is cut        */
    VV_TEXT_TREE,    /* a name (column "name"), two blanks before it a level                     */
    VV_TEXT_SENTENCE /* a sentence: the table is printed as paragraphs, a line a column          */
};

struct vv_sheet_column {
    const char *name;  /* lower case, unit last: "self_ns"; static storage                     */
    const char *title; /* what people see above the column: "self"; static storage             */
    enum vv_cell_type type;
    enum vv_unit unit;
    bool hidden;       /* not in the default text form; always in machine forms                */
    enum vv_text_form in_text;
};

struct vv_cell {
    bool present;      /* false: no value (JSON null, CSV empty, text "–")                     */
    union { int64_t integer; double real; const char *text; };
};

enum vv_row_kind { VV_ROW_PLAIN, VV_ROW_REMAINDER, VV_ROW_TOTAL };

struct vv_sheet {
    const char *name;    /* name of the table in machine forms: "operators"; static storage     */
    const char *heading; /* heading on the screen: "OPERATORS"; static storage                  */
    bool is_record;      /* one row by its nature: people see a line a column                   */
    const char *policy;  /* one sentence: what the numbers cover; in the arena, or NULL         */
    const struct vv_sheet_column *columns; /* column_count columns; static storage              */
    size_t column_count;
    struct vv_cell *cells;                 /* row_count * column_count                          */
    enum vv_row_kind *kinds;               /* row_count                                         */
    size_t row_count, row_capacity;
    struct vv_arena arena;
};

void vv_sheet_init(struct vv_sheet *sheet, const char *name, const char *heading,
                   const struct vv_sheet_column *columns, size_t column_count);
void vv_sheet_deinit(struct vv_sheet *sheet); /* NULL-safe, idempotent */

/* Appends a row of empty cells; *out_row is its index. Then set the cells by column number. */
enum varve_code vv_sheet_row(struct vv_sheet *sheet, enum vv_row_kind kind, size_t *out_row,
                             struct varve_error *error);
void vv_sheet_int(struct vv_sheet *sheet, size_t row, size_t column, int64_t value);
void vv_sheet_real(struct vv_sheet *sheet, size_t row, size_t column, double value);
/* `text` is copied into the sheet's arena. */
enum varve_code vv_sheet_text(struct vv_sheet *sheet, size_t row, size_t column, const char *text,
                              struct varve_error *error);
enum varve_code vv_sheet_policy(struct vv_sheet *sheet, struct varve_error *error,
                                const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Hides the columns of [first, limit) that have no value in any row. Call it when all rows are
 * there. An empty sheet is not changed. */
enum varve_code vv_sheet_hide_unknown(struct vv_sheet *sheet, size_t first, size_t limit,
                                      struct varve_error *error);

/* Hides the column. */
enum varve_code vv_sheet_hide(struct vv_sheet *sheet, size_t column, struct varve_error *error);

/* Shows the column if its rows have different values: then it tells them apart. A column that does
 * not exist, or that is shown, stays. */
enum varve_code vv_sheet_show_varied(struct vv_sheet *sheet, const char *name,
                                     struct varve_error *error);

const struct vv_cell *vv_sheet_cell(const struct vv_sheet *sheet, size_t row, size_t column);
/* The number of the column called `name`, or SIZE_MAX. */
size_t vv_sheet_find(const struct vv_sheet *sheet, const char *name);
/* The unit as machine forms print it: "ns", "count" … */
const char *vv_unit_name(enum vv_unit unit);

#endif
