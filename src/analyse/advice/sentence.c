/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/advice/sentence.h"

#include <stdio.h>
#include <string.h>

#include "base/text/short_name.h"
#include "sheet/number.h"

#define CELL_BYTES 120
#define NAME_BYTES 40

_Static_assert(CELL_BYTES >= VV_NUMBER_BYTES, "a number fits a cell's text");

static void write_cell(const struct vv_sheet *sheet, size_t row, size_t column, char *text)
{
    const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
    enum vv_unit unit = sheet->columns[column].unit;
    if (!cell->present)
        snprintf(text, CELL_BYTES, "–");
    else if (sheet->columns[column].type == VV_CELL_TEXT)
        vv_name_write(cell->text, text, CELL_BYTES);
    else if (sheet->columns[column].type == VV_CELL_REAL && unit == VV_UNIT_RATIO)
        vv_number_percent(cell->real, text, CELL_BYTES);
    else if (sheet->columns[column].type == VV_CELL_REAL)
        vv_number_scaled(cell->real, unit, text, CELL_BYTES);
    else if (unit == VV_UNIT_NS)
        vv_number_duration(cell->integer, text, CELL_BYTES);
    else if (unit == VV_UNIT_BYTES)
        vv_number_bytes(cell->integer, text, CELL_BYTES);
    else if (unit == VV_UNIT_COUNT)
        vv_number_count(cell->integer, text, CELL_BYTES);
    else
        snprintf(text, CELL_BYTES, "%lld", (long long)cell->integer);
}

/* Is a cell empty, or one of no use, that the form names before the ]? */
static bool is_unknown(const char *form, const struct vv_sheet *sheet, size_t row, bool has_ranks)
{
    const char *end = strchr(form, ']');
    while (end != NULL && (form = strchr(form, '{')) != NULL && form < end) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(form + 1, "}"), form + 1);
        size_t column = vv_sheet_find(sheet, name);
        if (column != SIZE_MAX && !vv_sheet_cell(sheet, row, column)->present)
            return true;
        if (strcmp(name, "rank") == 0 && !has_ranks)
            return true;
        form++;
    }
    return false;
}

/* Replaces each name in braces by its value. */
void vv_sentence_write(const char *form, const struct vv_sheet *sheet, size_t row, double share,
                       bool has_ranks, char out_text[VV_SENTENCE_BYTES])
{
    size_t length = 0;
    for (const char *cursor = form; *cursor != '\0' && length + 1 < VV_SENTENCE_BYTES;) {
        const char *end = *cursor == '{' ? strchr(cursor, '}') : NULL;
        char name[NAME_BYTES], value[CELL_BYTES] = "";
        if (*cursor == '[' || *cursor == ']') {
            bool is_left_out = *cursor == '[' && is_unknown(cursor, sheet, row, has_ranks);
            cursor = is_left_out ? strchr(cursor, ']') + 1 : cursor + 1;
            continue;
        }
        if (end == NULL || (size_t)(end - cursor) > sizeof name) {
            out_text[length++] = *cursor++;
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(end - cursor - 1), cursor + 1);
        size_t column = vv_sheet_find(sheet, name);
        if (strcmp(name, "share") == 0)
            vv_number_percent(share, value, sizeof value);
        else if (column != SIZE_MAX)
            write_cell(sheet, row, column, value);
        length += (size_t)snprintf(out_text + length, VV_SENTENCE_BYTES - length, "%s", value);
        length = length < VV_SENTENCE_BYTES ? length : VV_SENTENCE_BYTES - 1;
        cursor = end + 1;
    }
    out_text[length] = '\0';
}
