/* SPDX-License-Identifier: Apache-2.0 */
/* table.h — growing tables of typed columns (structure of arrays). Thread-compatible.
 *
 * A table struct begins with struct vv_table and then has one pointer for each column, in the order
 * of its vv_column list. Row i of column c is ((type *)column)[i]. */
#ifndef VV_MODEL_TABLE_H
#define VV_MODEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "varve/reader.h"

struct vv_table {
    uint64_t count, capacity;
    /* Rows at or after both `used` and `count` have never been written: they are blank. */
    uint64_t used;
    /* The columns lie in memory that the table does not own: they are not grown in place, and not
       freed. */
    bool is_borrowed;
};

struct vv_column {
    const char *name;
    size_t pointer_offset; /* of the column's pointer in the table struct                      */
    size_t width_bytes;    /* size of one cell                                                 */
    unsigned char blank;   /* each byte of a cell that has not been written                    */
    unsigned char type;    /* enum varve_cell_type: what programs are told that it is          */
};

/* The row of another table, for columns in which few rows have one. Blank cells say VV_NONE, and
 * take no memory in a large table. */
typedef uint32_t vv_link;
/* The id of a string of whoever holds the table; 0 = "". */
typedef uint32_t vv_string;

#define VV_BLANK_vv_link 0xFF
#define VV_BLANK_vv_string 0
#define VV_BLANK_uint8_t 0
#define VV_BLANK_uint16_t 0
#define VV_BLANK_uint32_t 0
#define VV_BLANK_uint64_t 0
#define VV_BLANK_int32_t 0
#define VV_BLANK_int64_t 0
#define VV_BLANK_double 0
#define VV_TYPE_vv_link VARVE_CELL_U32
#define VV_TYPE_vv_string VARVE_CELL_STRING
#define VV_TYPE_uint8_t VARVE_CELL_U8
#define VV_TYPE_uint16_t VARVE_CELL_U16
#define VV_TYPE_uint32_t VARVE_CELL_U32
#define VV_TYPE_uint64_t VARVE_CELL_U64
#define VV_TYPE_int32_t VARVE_CELL_I32
#define VV_TYPE_int64_t VARVE_CELL_I64
#define VV_TYPE_double VARVE_CELL_DOUBLE
#define VV_COLUMN(table, type, name)                                                               \
    { #name, offsetof(table, name), sizeof(type), VV_BLANK_##type, VV_TYPE_##type },
#define VV_COLUMN_POINTER(table, type, name) type *name;

#define VV_TABLE_COLUMNS_MAX 32u

/* The capacity that the table would get if room were made for `extra` more rows. */
uint64_t vv_table_grown(const struct vv_table *table, uint64_t extra);
/* Makes room for `extra` more rows in every column; rows that were never written are blank. On
 * failure the rows are unchanged. Borrowed columns become copies. */
enum varve_code vv_table_reserve(struct vv_table *table, const struct vv_column *columns,
                                 size_t column_count, uint64_t extra, struct varve_error *error);
/* Makes rows that have been taken back, those after the last, blank again. */
void vv_table_clean(struct vv_table *table, const struct vv_column *columns, size_t column_count);
/* Bytes of all columns; 0 if the table borrows them. */
uint64_t vv_table_bytes(const struct vv_table *table, const struct vv_column *columns,
                        size_t column_count);
/* Gives the table `count` rows in columns that the caller owns, in the order of `columns`. The
 * table must be empty. Its rows may be written to. */
void vv_table_borrow(struct vv_table *table, const struct vv_column *columns, size_t column_count,
                     void *const *cells, uint64_t count);
void vv_table_free(struct vv_table *table, const struct vv_column *columns, size_t column_count);
/* Sorts the rows: new row i is old row order[i]. */
enum varve_code vv_table_permute(struct vv_table *table, const struct vv_column *columns,
                                 size_t column_count, const uint64_t *order,
                                 struct varve_error *error);

#endif
