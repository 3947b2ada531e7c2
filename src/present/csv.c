/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c — prints sheets as comma-separated values (RFC 4180, but lines end with LF). */
#include <math.h>
#include <string.h>

#include "base/text/harmless.h"
#include "base/text/json_write.h"
#include "base/utf8.h"
#include "present/fields.h"
#include "present/forms.h"

/* A program gets each text unchanged; on a terminal, characters that it would obey are replaced. */
static void put_valid(FILE *stream, const char *text, bool to_terminal)
{
    size_t length = strlen(text);
    for (size_t position = 0; position < length;) {
        bool is_harmless;
        size_t bytes = vv_harmless_first(text + position, length - position, &is_harmless);
        if (!is_harmless && !to_terminal)
            is_harmless = vv_utf8_sequence(text + position, length - position) > 0;
        if (text[position] == '"')
            putc('"', stream);
        if (is_harmless)
            fwrite(text + position, 1, bytes, stream);
        else
            fputs(VV_REPLACEMENT, stream);
        position += bytes;
    }
}

static void put_text(FILE *stream, const char *text, bool to_terminal)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL || *text == '#';
    if (quoted)
        putc('"', stream);
    put_valid(stream, text, to_terminal);
    if (quoted)
        putc('"', stream);
}

static void put_cell(FILE *stream, const struct vv_sheet_column *column, const struct vv_cell *cell,
                     bool to_terminal)
{
    if (!cell->present)
        return;
    if (column->type == VV_CELL_INT)
        vv_json_write_int(stream, cell->integer);
    else if (column->type == VV_CELL_TEXT)
        put_text(stream, cell->text, to_terminal);
    else if (isfinite(cell->real))
        vv_json_write_real(stream, cell->real);
}

static void put_sheet(FILE *stream, const struct vv_sheet *sheet, const struct vv_fields *fields,
                      bool to_terminal)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (i > 0)
            putc(',', stream);
        put_text(stream, sheet->columns[fields->columns[i]].name, to_terminal);
    }
    putc('\n', stream);
    for (size_t row = 0; row < sheet->row_count; row++) {
        for (size_t i = 0; i < fields->count; i++) {
            size_t column = fields->columns[i];
            if (i > 0)
                putc(',', stream);
            put_cell(stream, &sheet->columns[column], vv_sheet_cell(sheet, row, column),
                     to_terminal);
        }
        putc('\n', stream);
    }
}

enum varve_code vv_present_csv(FILE *stream, const struct vv_presentation *how,
                               const struct vv_sheet *const *sheets, size_t count,
                               struct varve_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct vv_fields fields;
        VV_TRY(vv_fields_init(&fields, sheets[i], how, error));
        if (count > 1)
            fprintf(stream, "%s# %s\n", i > 0 ? "\n" : "", sheets[i]->name);
        put_sheet(stream, sheets[i], &fields, how->terminal);
        vv_fields_deinit(&fields);
    }
    return VARVE_OK;
}
