/* SPDX-License-Identifier: Apache-2.0 */
/* table.c — reads any table: columns of a model, or a sheet. */
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "reader/handles.h"

static const char *node_word(unsigned kind)
{
    return kind < VV_DAG_KINDS ? vv_dag_kind_word((enum vv_dag_kind)kind) : NULL;
}

static const char *edge_word(unsigned kind)
{
    return kind < VV_DAG_EDGE_KINDS ? vv_dag_edge_word((enum vv_dag_edge_kind)kind) : NULL;
}

struct varve_table vv_table_of(const struct vv_table *rows, enum vv_table_row layout,
                               const struct vv_intern *strings)
{
    return (struct varve_table){
        .layout = &vv_model_tables[layout], .rows = rows, .strings = strings,
        .word_of = layout == VV_TABLE_DAG_NODES   ? node_word
                   : layout == VV_TABLE_DAG_EDGES ? edge_word
                                                  : NULL,
    };
}

uint64_t varve_table_rows(const struct varve_table *table)
{
    if (table == NULL)
        return 0;
    return table->layout != NULL ? table->rows->count : table->sheet.row_count;
}

uint32_t varve_table_columns(const struct varve_table *table)
{
    if (table == NULL)
        return 0;
    return (uint32_t)(table->layout != NULL ? table->layout->column_count
                                            : table->sheet.column_count);
}

const char *varve_table_name(const struct varve_table *table)
{
    if (table == NULL)
        return NULL;
    if (table->name != NULL)
        return table->name;
    return table->layout != NULL ? table->layout->name : table->sheet.name;
}

const char *varve_table_policy(const struct varve_table *table)
{
    return table != NULL && table->layout == NULL ? table->sheet.policy : NULL;
}

uint32_t varve_table_row_kind(const struct varve_table *table, uint64_t row)
{
    static const uint32_t kinds[] = { [VV_ROW_PLAIN] = VARVE_ROW_PLAIN,
                                      [VV_ROW_REMAINDER] = VARVE_ROW_REMAINDER,
                                      [VV_ROW_TOTAL] = VARVE_ROW_TOTAL };
    if (table == NULL || table->layout != NULL || row >= table->sheet.row_count)
        return VARVE_ROW_PLAIN;
    return kinds[table->sheet.kinds[row]];
}

/* ---- columns ---- */

/* The unit stands last in the name of a model's column. */
static const char *unit_of_name(const char *name)
{
    static const struct { const char *ending, *unit; } units[] = {
        { "bytes_per_s", "bytes/s" }, { "flop_per_s", "flop/s" }, { "bytes", "bytes" },
        { "_ns", "ns" }, { "_ps", "ps" }, { "count", "count" }, { "flop", "count" },
    };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t ending = strlen(units[i].ending);
        if (length >= ending && strcmp(name + length - ending, units[i].ending) == 0)
            return units[i].unit;
    }
    return "";
}

static struct varve_column column_of_model(const struct varve_table *table, uint32_t number)
{
    const struct vv_column *column = &table->layout->columns[number];
    return (struct varve_column){
        .type = column->type, .name = column->name, .title = column->name,
        .unit = unit_of_name(column->name),
        .cells = *(void *const *)((const char *)table->rows + column->pointer_offset),
        .stride_bytes = column->width_bytes,
    };
}

static struct varve_column column_of_sheet(const struct vv_sheet *sheet, uint32_t number)
{
    static const uint32_t types[] = { [VV_CELL_INT] = VARVE_CELL_I64,
                                      [VV_CELL_REAL] = VARVE_CELL_DOUBLE,
                                      [VV_CELL_TEXT] = VARVE_CELL_TEXT };
    const struct vv_sheet_column *column = &sheet->columns[number];
    const struct vv_cell *cells = sheet->row_count > 0 ? &sheet->cells[number] : NULL;
    return (struct varve_column){
        .type = types[column->type], .name = column->name, .title = column->title,
        .unit = vv_unit_name(column->unit),
        .cells = cells != NULL ? &cells->integer : NULL,
        .present = cells != NULL ? (const unsigned char *)&cells->present : NULL,
        .stride_bytes = sheet->column_count * sizeof *sheet->cells,
    };
}

static struct varve_column column_of(const struct varve_table *table, uint32_t number)
{
    return table->layout != NULL ? column_of_model(table, number)
                                 : column_of_sheet(&table->sheet, number);
}

static enum varve_code check_column(const struct varve_table *table, uint32_t column,
                                    struct varve_error *error)
{
    if (table == NULL)
        VV_FAIL(error, VARVE_INVALID, "the table is NULL");
    if (column >= varve_table_columns(table))
        VV_FAIL(error, VARVE_INVALID, "table '%s' has %u columns, and no column %u",
                varve_table_name(table), varve_table_columns(table), column);
    return VARVE_OK;
}

enum varve_code varve_table_column(const struct varve_table *table, uint32_t column,
                                   struct varve_column *out_column, struct varve_error *error)
{
    VV_TRY(check_column(table, column, error));
    const struct varve_column ours = column_of(table, column);
    return vv_sized_give(&ours, sizeof ours, sizeof ours, out_column, "varve_table_column", error);
}

/* The number of columns where there is none of this name. */
static uint32_t find(const struct varve_table *table, const char *name)
{
    uint32_t count = varve_table_columns(table), found = 0;
    while (found < count && strcmp(column_of(table, found).name, name) != 0)
        found++;
    return found;
}

static enum varve_code fail_column(const struct varve_table *table, const char *name,
                                   struct varve_error *error)
{
    uint32_t count = varve_table_columns(table);
    const char **names = calloc(count + 1, sizeof *names);
    if (names == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of columns");
    for (uint32_t i = 0; i < count; i++)
        names[i] = column_of(table, i).name;
    const char *nearest = vv_nearest(name, names);
    free(names);
    VV_FAIL(error, VARVE_NOT_FOUND, "table '%s' has no column '%.60s'%s%s",
            varve_table_name(table), name, nearest != NULL ? ". Nearest: " : "",
            nearest != NULL ? nearest : "");
}

enum varve_code varve_table_find(const struct varve_table *table, const char *name,
                                 uint32_t *out_column, struct varve_error *error)
{
    if (table == NULL || name == NULL || out_column == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_table_find: an argument is NULL");
    uint32_t found = find(table, name);
    if (found == varve_table_columns(table))
        return fail_column(table, name, error);
    *out_column = found;
    return VARVE_OK;
}

/* ---- cells ---- */

const char *varve_table_string(const struct varve_table *table, uint32_t id)
{
    return table != NULL && table->strings != NULL ? vv_intern_text(table->strings, id) : NULL;
}

const char *varve_table_word(const struct varve_table *table, uint32_t column, uint64_t number)
{
    bool has_words = table != NULL && table->word_of != NULL &&
                     column < varve_table_columns(table) &&
                     strcmp(column_of(table, column).name, "kind") == 0;
    return has_words && number <= UINT8_MAX ? table->word_of((unsigned)number) : NULL;
}

static struct varve_cell integer_cell(int64_t integer)
{
    return (struct varve_cell){ .type = VARVE_CELL_I64, .integer = integer };
}

static struct varve_cell text_cell(const char *text)
{
    return (struct varve_cell){ .type = VARVE_CELL_TEXT, .text = text };
}

static struct varve_cell widen(const struct varve_table *table, uint32_t type, const void *cell)
{
    switch ((enum varve_cell_type)type) {
    case VARVE_CELL_U8: return integer_cell(*(const uint8_t *)cell);
    case VARVE_CELL_U16: return integer_cell(*(const uint16_t *)cell);
    case VARVE_CELL_U32: return integer_cell(*(const uint32_t *)cell);
    case VARVE_CELL_I32: return integer_cell(*(const int32_t *)cell);
    case VARVE_CELL_U64: return integer_cell((int64_t)*(const uint64_t *)cell);
    case VARVE_CELL_I64: return integer_cell(*(const int64_t *)cell);
    case VARVE_CELL_DOUBLE:
        return (struct varve_cell){ .type = VARVE_CELL_DOUBLE, .real = *(const double *)cell };
    case VARVE_CELL_STRING: return text_cell(vv_intern_text(table->strings,
                                                            *(const uint32_t *)cell));
    case VARVE_CELL_TEXT: return text_cell(*(const char *const *)cell);
    case VARVE_CELL_NONE: break;
    }
    return (struct varve_cell){ .type = VARVE_CELL_NONE };
}

enum varve_code varve_table_cell(const struct varve_table *table, uint64_t row, uint32_t column,
                                 struct varve_cell *out_cell, struct varve_error *error)
{
    VV_TRY(check_column(table, column, error));
    if (row >= varve_table_rows(table))
        VV_FAIL(error, VARVE_INVALID, "table '%s' has %llu rows, and no row %llu",
                varve_table_name(table), (unsigned long long)varve_table_rows(table),
                (unsigned long long)row);
    if (out_cell == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_table_cell: there is no place for the result");
    struct varve_column where = column_of(table, column);
    bool is_present = where.present == NULL || where.present[row * where.stride_bytes] != 0;
    *out_cell = is_present ? widen(table, where.type,
                                   (const char *)where.cells + row * where.stride_bytes)
                           : (struct varve_cell){ .type = VARVE_CELL_NONE };
    if (out_cell->type == VARVE_CELL_I64)
        out_cell->text = varve_table_word(table, column, (uint64_t)out_cell->integer);
    return VARVE_OK;
}

/* Without a value where there is no such cell. */
static struct varve_cell cell_of(const struct varve_table *table, uint64_t row, const char *column)
{
    struct varve_cell cell = { .type = VARVE_CELL_NONE };
    if (table != NULL && column != NULL)
        (void)varve_table_cell(table, row, find(table, column), &cell, NULL);
    return cell;
}

int64_t varve_table_integer(const struct varve_table *table, uint64_t row, const char *column)
{
    return cell_of(table, row, column).integer;
}

const char *varve_table_text(const struct varve_table *table, uint64_t row, const char *column)
{
    return cell_of(table, row, column).text;
}

void varve_table_close(struct varve_table *table)
{
    if (table == NULL || table->layout != NULL)
        return;
    vv_sheet_deinit(&table->sheet);
    free(table);
}
