/* SPDX-License-Identifier: Apache-2.0 */
#include "model/table.h"

#include <stdlib.h>
#include <string.h>

#include "model/cells.h"

#define FIRST_CAPACITY 64u
#define DOUBLING_ROWS (UINT64_C(1) << 20) /* up to here it doubles; beyond, it grows by a quarter */
#define ROWS_MAX (UINT64_C(0xffffffff) - 1) /* row numbers are uint32_t, and VV_NONE is no row    */

/* Column pointers have different types, so the bytes of the pointer are copied. */
static void *column_of(const struct vv_table *table, const struct vv_column *column)
{
    void *pointer;
    memcpy(&pointer, (const char *)table + column->pointer_offset, sizeof pointer);
    return pointer;
}

static void set_column(struct vv_table *table, const struct vv_column *column, void *pointer)
{
    memcpy((char *)table + column->pointer_offset, &pointer, sizeof pointer);
}

/* Large columns grow without copying (cells.h), so frequent growth is cheap. */
uint64_t vv_table_grown(const struct vv_table *table, uint64_t extra)
{
    uint64_t capacity = table->capacity < FIRST_CAPACITY  ? FIRST_CAPACITY
                        : table->capacity < DOUBLING_ROWS ? table->capacity * 2
                                                          : table->capacity + table->capacity / 4;
    return capacity < table->count + extra ? table->count + extra : capacity;
}

static enum varve_code no_memory(uint64_t rows, struct varve_error *error)
{
    VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %llu rows", (unsigned long long)rows);
}

static enum varve_code grow_own(struct vv_table *table, const struct vv_column *columns,
                                size_t column_count, uint64_t capacity, struct varve_error *error)
{
    for (size_t i = 0; i < column_count; i++) {
        void *grown = vv_cells_grow(column_of(table, &columns[i]),
                                    capacity * columns[i].width_bytes, columns[i].blank);
        if (grown == NULL)
            return no_memory(capacity, error);
        set_column(table, &columns[i], grown);
    }
    return VARVE_OK;
}

/* Copies all columns or none: a table never has columns of both kinds. */
static enum varve_code copy_borrowed(struct vv_table *table, const struct vv_column *columns,
                                     size_t column_count, uint64_t capacity,
                                     struct varve_error *error)
{
    void *copies[VV_TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < column_count; i++) {
        copies[i] = vv_cells_grow(NULL, capacity * columns[i].width_bytes, columns[i].blank);
        if (copies[i] == NULL) {
            while (i > 0)
                vv_cells_free(copies[--i]);
            return no_memory(capacity, error);
        }
    }
    for (size_t i = 0; i < column_count; i++) {
        memcpy(copies[i], column_of(table, &columns[i]), table->count * columns[i].width_bytes);
        set_column(table, &columns[i], copies[i]);
    }
    table->is_borrowed = false;
    return VARVE_OK;
}

enum varve_code vv_table_reserve(struct vv_table *table, const struct vv_column *columns,
                                 size_t column_count, uint64_t extra, struct varve_error *error)
{
    if (extra <= table->capacity - table->count)
        return VARVE_OK;
    if (extra > ROWS_MAX - table->count)
        VV_FAIL(error, VARVE_LIMIT, "more than %llu rows in one table",
                (unsigned long long)ROWS_MAX);
    uint64_t capacity = vv_table_grown(table, extra);
    VV_TRY(table->is_borrowed ? copy_borrowed(table, columns, column_count, capacity, error)
                              : grow_own(table, columns, column_count, capacity, error));
    table->capacity = capacity;
    return VARVE_OK;
}

void vv_table_clean(struct vv_table *table, const struct vv_column *columns, size_t column_count)
{
    for (size_t i = 0; i < column_count && table->count < table->used; i++)
        memset((char *)column_of(table, &columns[i]) + table->count * columns[i].width_bytes,
               columns[i].blank, (table->used - table->count) * columns[i].width_bytes);
    table->used = table->count;
}

uint64_t vv_table_bytes(const struct vv_table *table, const struct vv_column *columns,
                        size_t column_count)
{
    uint64_t row_bytes = 0;
    for (size_t i = 0; i < column_count; i++)
        row_bytes += columns[i].width_bytes;
    return table->is_borrowed ? 0 : table->capacity * row_bytes;
}

void vv_table_borrow(struct vv_table *table, const struct vv_column *columns, size_t column_count,
                     void *const *cells, uint64_t count)
{
    for (size_t i = 0; i < column_count; i++)
        set_column(table, &columns[i], cells[i]);
    table->count = table->capacity = table->used = count;
    table->is_borrowed = true;
}

void vv_table_free(struct vv_table *table, const struct vv_column *columns, size_t column_count)
{
    for (size_t i = 0; i < column_count; i++) {
        if (!table->is_borrowed)
            vv_cells_free(column_of(table, &columns[i]));
        set_column(table, &columns[i], NULL);
    }
    *table = (struct vv_table){ 0 };
}

#define GATHER(type)                         \
    do {                                     \
        const type *from = former;           \
        type *to = ordered;                  \
        for (uint64_t i = 0; i < count; i++) \
            to[i] = from[order[i]];          \
    } while (0)

static void gather(const void *former, void *ordered, size_t width_bytes, const uint64_t *order,
                   uint64_t count)
{
    switch (width_bytes) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    default:
        GATHER(uint64_t);
        break;
    }
}

enum varve_code vv_table_permute(struct vv_table *table, const struct vv_column *columns,
                                 size_t column_count, const uint64_t *order,
                                 struct varve_error *error)
{
    if (table->count == 0)
        return VARVE_OK;
    /* All columns use one spare column of the widest cells; only that is freed. */
    uint64_t *ordered = malloc(table->count * sizeof *ordered);
    if (ordered == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %llu rows",
                (unsigned long long)table->count);
    for (size_t i = 0; i < column_count; i++) {
        void *column = column_of(table, &columns[i]);
        gather(column, ordered, columns[i].width_bytes, order, table->count);
        memcpy(column, ordered, table->count * columns[i].width_bytes);
    }
    free(ordered);
    return VARVE_OK;
}
