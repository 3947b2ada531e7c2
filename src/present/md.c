/* SPDX-License-Identifier: Apache-2.0 */
/* md.c — prints sheets as Markdown tables (pipes), with numbers as in the text form. */
#include <stdlib.h>
#include <string.h>

#include "present/column_format.h"
#include "present/fields.h"
#include "present/forms.h"
#include "present/glyphs.h"

/* Escapes all characters that have a meaning in Markdown, or in HTML made from it. */
static void put_text(FILE *stream, const char *text)
{
    while (*text != '\0') {
        size_t plain = strcspn(text, "\\|`*_<>[]&");
        char *part = strndup(text, plain);
        if (part != NULL)
            vv_glyphs_print(stream, part, SIZE_MAX);
        free(part);
        text += plain;
        if (*text != '\0')
            fprintf(stream, "\\%c", *text++);
    }
}

static void put_sheet(FILE *stream, const struct vv_sheet *sheet, const struct vv_face *faces,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? " | " : "| ", stream);
        put_text(stream, faces[i].title);
    }
    fputs(" |\n", stream);
    for (size_t i = 0; i < count; i++)
        fputs(faces[i].right ? "| ---: " : "| --- ", stream);
    fputs("|\n", stream);
    for (size_t row = 0; row < sheet->row_count; row++) {
        for (size_t i = 0; i < count; i++) {
            char buffer[VV_NUMBER_BYTES];
            fputs(i > 0 ? " | " : "| ", stream);
            put_text(stream,
                     vv_face_text(&faces[i], vv_sheet_cell(sheet, row, faces[i].index), buffer));
        }
        fputs(" |\n", stream);
    }
}

enum varve_code vv_present_md(FILE *stream, const struct vv_presentation *how,
                              const struct vv_sheet *const *sheets, size_t count,
                              struct varve_error *error)
{
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        struct vv_fields fields;
        VV_TRY(vv_fields_init(&fields, sheets[i], how, error));
        struct vv_face *faces = calloc(fields.count + 1, sizeof *faces);
        size_t face_count = fields.count;
        for (size_t c = 0; faces != NULL && c < face_count; c++)
            vv_face_init(&faces[c], sheets[i], fields.columns[c], how->unit);
        vv_fields_deinit(&fields);
        if (faces == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of table '%s'",
                    sheets[i]->name);
        if (face_count > 0) {
            fprintf(stream, "%s## %s\n\n", is_first ? "" : "\n", sheets[i]->heading);
            is_first = false;
            if (sheets[i]->policy != NULL) {
                put_text(stream, sheets[i]->policy);
                fputs("\n\n", stream);
            }
            put_sheet(stream, sheets[i], faces, face_count);
        }
        free(faces);
    }
    return VARVE_OK;
}
