/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c — table "inputs": the files that were read, and their formats. Table "tables": the rows
 * and bytes of each table of the model. A model that no importer filled has no inputs. */
#include "derive/select/scope.h"
#include "model/columns.h"
#include "question/question.h"

enum { PATH, FORMAT, SCOPE, INPUT_EVENTS, DISK_BYTES, INPUT_COLUMNS };

static const struct vv_sheet_column input_columns[INPUT_COLUMNS] = {
    { "path", "file", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "format", "format", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "scope", "scope", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "events", "events", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "disk_bytes", "on disk", VV_CELL_INT, VV_UNIT_BYTES, false, false },
};

enum varve_code vv_analyse_inputs(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    (void)question;
    (void)scratch;
    const struct vv_inputs *inputs = &model->inputs;
    vv_sheet_init(out, "inputs", "INPUTS", input_columns, INPUT_COLUMNS);
    for (uint64_t i = 0; i < inputs->table.count; i++) {
        size_t row;
        VV_TRY(vv_sheet_row(out, VV_ROW_PLAIN, &row, error));
        VV_TRY(vv_sheet_text(out, row, PATH, vv_text_of(model, inputs->path[i]), error));
        VV_TRY(vv_sheet_text(out, row, FORMAT, vv_text_of(model, inputs->format[i]), error));
        vv_sheet_int(out, row, SCOPE, inputs->scope[i]);
        vv_sheet_int(out, row, INPUT_EVENTS, (int64_t)inputs->events[i]);
        if (inputs->disk_bytes[i] > 0)
            vv_sheet_int(out, row, DISK_BYTES, (int64_t)inputs->disk_bytes[i]);
    }
    return VARVE_OK;
}

enum { TABLE, ROWS, BYTES, TABLE_COLUMNS };

static const struct vv_sheet_column table_columns[TABLE_COLUMNS] = {
    { "table", "table", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rows", "rows", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "bytes", "bytes", VV_CELL_INT, VV_UNIT_BYTES, false, false },
};

static enum varve_code put_table(struct vv_sheet *sheet, const char *name, uint64_t rows,
                                 uint64_t bytes, struct varve_error *error)
{
    size_t row;
    if (rows == 0)
        return VARVE_OK;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, TABLE, name, error));
    vv_sheet_int(sheet, row, ROWS, (int64_t)rows);
    vv_sheet_int(sheet, row, BYTES, (int64_t)bytes);
    return VARVE_OK;
}

enum varve_code vv_analyse_tables(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    (void)question;
    (void)scratch;
    uint64_t text_bytes = 0;
    vv_sheet_init(out, "tables", "MODEL", table_columns, TABLE_COLUMNS);
    for (size_t t = 0; t < VV_TABLE_COUNT; t++) {
        const struct vv_model_table *table = &vv_model_tables[t];
        const char *at = (const char *)model + table->table_offset;
        uint64_t rows = ((const struct vv_table *)(const void *)at)->count, row_bytes = 0;
        for (size_t i = 0; i < table->column_count; i++)
            row_bytes += table->columns[i].width_bytes;
        VV_TRY(put_table(out, table->name, rows, rows * row_bytes, error));
    }
    for (uint32_t id = 0; id < model->strings.count; id++)
        text_bytes += (uint64_t)model->strings.lengths[id] + 1;
    return put_table(out, "strings", model->strings.count, text_bytes, error);
}
