/* SPDX-License-Identifier: Apache-2.0 */
#include "present/fields.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"

#define FIELD_BYTES_MAX 100

/* Finds the column that `word` means. People mean the column whose title they see; scripts write
 * its name. */
static size_t find_column(const struct vv_sheet *sheet, const char *word, bool by_title)
{
    static const char *const units[] = { "", "_ns", "_bytes", "_per_s", "_share" };
    char name[FIELD_BYTES_MAX + 16];
    for (size_t column = 0; by_title && column < sheet->column_count; column++)
        if (!sheet->columns[column].hidden && strcmp(sheet->columns[column].title, word) == 0)
            return column;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        snprintf(name, sizeof name, "%s%s", word, units[i]);
        size_t column = vv_sheet_find(sheet, name);
        if (column != SIZE_MAX)
            return column;
    }
    return SIZE_MAX;
}

static enum varve_code no_column(const struct vv_sheet *sheet, const char *word,
                                 struct varve_error *error)
{
    const char **names = calloc(sheet->column_count + 1, sizeof *names);
    if (names == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of table '%s'", sheet->name);
    for (size_t i = 0; i < sheet->column_count; i++)
        names[i] = sheet->columns[i].name;
    const char *nearest = vv_nearest(word, names);
    if (nearest != NULL)
        (void)vv_fail(error, VARVE_INVALID, "table '%s' has no column '%s'. Nearest: %s",
                      sheet->name, word, nearest);
    else
        (void)vv_fail(error, VARVE_INVALID,
                      "table '%s' has no column '%s'. All of them: --table %s --json", sheet->name,
                      word, sheet->name);
    free(names);
    return VARVE_INVALID;
}

static void add(struct vv_fields *fields, size_t column)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->columns[i] == column)
            return;
    fields->columns[fields->count++] = column;
}

static void take_out(struct vv_fields *fields, size_t column)
{
    size_t kept = 0;
    for (size_t i = 0; i < fields->count; i++)
        if (fields->columns[i] != column)
            fields->columns[kept++] = fields->columns[i];
    fields->count = kept;
}

static int by_number(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

struct selection {
    struct vv_fields *fields;
    const struct vv_sheet *sheet;
    bool by_title;
};

/* Applies one word of the list: "+c" and "-c" change the default set, which keeps the sheet's
 * order. */
static enum varve_code apply(const struct selection *selection, const char *text, size_t length,
                             struct varve_error *error)
{
    struct vv_fields *fields = selection->fields;
    char word[FIELD_BYTES_MAX + 1];
    char sign = length > 0 && (*text == '+' || *text == '-') ? *text : '\0';
    text += sign != '\0';
    length -= sign != '\0';
    if (length == 0 || length > FIELD_BYTES_MAX)
        VV_FAIL(error, VARVE_INVALID,
                "--fields wants names with commas between, such as name,calls or "
                "+min,-p90");
    memcpy(word, text, length);
    word[length] = '\0';
    size_t column = find_column(selection->sheet, word, selection->by_title);
    if (column == SIZE_MAX)
        return no_column(selection->sheet, word, error);
    if (sign == '-')
        take_out(fields, column);
    else
        add(fields, column);
    if (sign == '+')
        qsort(fields->columns, fields->count, sizeof *fields->columns, by_number);
    return VARVE_OK;
}

static enum varve_code apply_all(const struct selection *selection, const char *list,
                                 struct varve_error *error)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        VV_TRY(apply(selection, list, length, error));
        if (list[length] == '\0')
            return VARVE_OK;
        list += length + 1;
    }
}

enum varve_code vv_fields_init(struct vv_fields *fields, const struct vv_sheet *sheet,
                               const struct vv_presentation *how, struct varve_error *error)
{
    bool is_machine_form = how->form == VV_FORM_JSON || how->form == VV_FORM_CSV;
    bool is_named = how->fields_table != NULL && strcmp(how->fields_table, sheet->name) == 0;
    bool is_chosen = is_named && how->fields != NULL;
    bool from_default = !is_chosen || *how->fields == '+' || *how->fields == '-';
    fields->count = 0;
    fields->columns = calloc(sheet->column_count + 1, sizeof *fields->columns);
    if (fields->columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of table '%s'", sheet->name);
    for (size_t column = 0; column < sheet->column_count && from_default; column++)
        if (is_machine_form || !sheet->columns[column].hidden)
            add(fields, column);
    /* The user asked for this table, which has no column that is shown by default. */
    if (fields->count == 0 && is_named && from_default)
        for (size_t column = 0; column < sheet->column_count; column++)
            add(fields, column);
    const struct selection selection = { fields, sheet, !is_machine_form };
    enum varve_code code = is_chosen ? apply_all(&selection, how->fields, error) : VARVE_OK;
    if (code != VARVE_OK)
        vv_fields_deinit(fields);
    return code;
}

void vv_fields_deinit(struct vv_fields *fields)
{
    free(fields->columns);
    fields->columns = NULL;
    fields->count = 0;
}
