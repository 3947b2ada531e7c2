/* SPDX-License-Identifier: Apache-2.0 */
/* json.c — prints sheets as one JSON object, one row a line. Scripts rely on this form
 * (doc/json.md). */
#include "base/text/json_write.h"
#include "present/fields.h"
#include "present/forms.h"

static void put_cell(FILE *stream, const struct vv_sheet_column *column, const struct vv_cell *cell)
{
    if (!cell->present)
        fputs("null", stream);
    else if (column->type == VV_CELL_INT)
        vv_json_write_int(stream, cell->integer);
    else if (column->type == VV_CELL_REAL)
        vv_json_write_real(stream, cell->real);
    else
        vv_json_write_text(stream, cell->text);
}

static void put_column(FILE *stream, const struct vv_sheet_column *column)
{
    static const char *const types[] = {
        [VV_CELL_INT] = "int", [VV_CELL_REAL] = "real", [VV_CELL_TEXT] = "text"
    };
    fputs("{\"name\": ", stream);
    vv_json_write_text(stream, column->name);
    fputs(", \"unit\": ", stream);
    vv_json_write_text(stream, vv_unit_name(column->unit));
    fprintf(stream, ", \"type\": \"%s\"}", types[column->type]);
}

static void put_sheet(FILE *stream, const struct vv_sheet *sheet, const struct vv_fields *fields)
{
    vv_json_write_text(stream, sheet->name);
    fputs(": {\n    \"columns\": [", stream);
    for (size_t i = 0; i < fields->count; i++) {
        fputs(i > 0 ? ",\n      " : "\n      ", stream);
        put_column(stream, &sheet->columns[fields->columns[i]]);
    }
    fputs("\n    ],\n    \"rows\": [", stream);
    for (size_t row = 0; row < sheet->row_count; row++) {
        fputs(row > 0 ? ",\n      [" : "\n      [", stream);
        for (size_t i = 0; i < fields->count; i++) {
            size_t column = fields->columns[i];
            if (i > 0)
                fputs(", ", stream);
            put_cell(stream, &sheet->columns[column], vv_sheet_cell(sheet, row, column));
        }
        putc(']', stream);
    }
    fputs(sheet->row_count > 0 ? "\n    ]\n  }" : "]\n  }", stream);
}

enum varve_code vv_present_json(FILE *stream, const struct vv_presentation *how,
                                const struct vv_sheet *const *sheets, size_t count,
                                struct varve_error *error)
{
    fputs("{\"schema\": ", stream);
    vv_json_write_text(stream, how->schema);
    fputs(", \"trace\": ", stream);
    vv_json_write_text(stream, how->trace);
    fputs(", \"tables\": {", stream);
    for (size_t i = 0; i < count; i++) {
        struct vv_fields fields;
        VV_TRY(vv_fields_init(&fields, sheets[i], how, error));
        fputs(i > 0 ? ",\n  " : "\n  ", stream);
        put_sheet(stream, sheets[i], &fields);
        vv_fields_deinit(&fields);
    }
    fputs(count > 0 ? "\n}}\n" : "}}\n", stream);
    return VARVE_OK;
}
