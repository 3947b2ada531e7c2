/* SPDX-License-Identifier: Apache-2.0 */
#include "present/short_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/short_name.h"

#define NAME_BYTES 400 /* a longer short name is none                                            */

enum { WHOLE = VV_NAME_LONGER + 1 };

struct name {
    const char *whole; /* "" = no name                                                           */
    const char *shown; /* what the row is called now                                             */
    size_t row;
    int form;          /* enum vv_name_form, or WHOLE                                            */
};

bool vv_has_names(const struct vv_sheet_column *column)
{
    static const char *const names[] = { "name", "op", "mostly", "cause", "change" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(column->name, names[i]) == 0)
            return column->type == VV_CELL_TEXT;
    return false;
}

static int by_shown(const void *a, const void *b)
{
    const struct name *left = a, *right = b;
    int order = strcmp(left->shown, right->shown);
    return order != 0 ? order : strcmp(left->whole, right->whole);
}

/* Makes the name of this form, or of the next longer one that there is. */
static enum varve_code call(struct name *name, char **owned, struct varve_error *error)
{
    char text[NAME_BYTES];
    free(*owned);
    *owned = NULL;
    name->shown = name->whole;
    if (name->form >= WHOLE)
        return VARVE_OK;
    if (!vv_short_name(name->whole, (enum vv_name_form)name->form, text, sizeof text)) {
        name->form = WHOLE;
        return VARVE_OK;
    }
    *owned = strdup(text);
    if (*owned == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for short names");
    name->shown = *owned;
    return VARVE_OK;
}

/* Names that are alike and not the same get their next longer form. */
static enum varve_code part_names(struct name *names, size_t count, char **owned, bool *out_again,
                                  struct varve_error *error)
{
    *out_again = false;
    qsort(names, count, sizeof *names, by_shown);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first + 1;
             last < count && strcmp(names[first].shown, names[last].shown) == 0; last++)
            ;
        if (strcmp(names[first].whole, names[last - 1].whole) == 0)
            continue;
        for (size_t i = first; i < last; i++)
            if (names[i].form < WHOLE) {
                names[i].form++;
                *out_again = true;
            }
    }
    for (size_t i = 0; i < count && *out_again; i++)
        VV_TRY(call(&names[i], &owned[names[i].row], error));
    return VARVE_OK;
}

static enum varve_code call_all(const struct vv_sheet *sheet, size_t column, struct name *names,
                                char **owned, struct varve_error *error)
{
    for (size_t row = 0; row < sheet->row_count; row++) {
        const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
        names[row] = (struct name){ cell->present ? cell->text : "", NULL, row, VV_NAME_SHORT };
        VV_TRY(call(&names[row], &owned[row], error));
    }
    for (bool again = true; again;)
        VV_TRY(part_names(names, sheet->row_count, owned, &again, error));
    return VARVE_OK;
}

enum varve_code vv_short_names_make(const struct vv_sheet *sheet, size_t column, char ***out_names,
                                    struct varve_error *error)
{
    struct name *names = calloc(sheet->row_count + 1, sizeof *names);
    char **owned = calloc(sheet->row_count + 1, sizeof *owned);
    enum varve_code code =
        names == NULL || owned == NULL
            ? vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu short names", sheet->row_count)
            : call_all(sheet, column, names, owned, error);
    free(names);
    *out_names = owned;
    if (code == VARVE_OK)
        return VARVE_OK;
    vv_short_names_free(owned, sheet->row_count);
    *out_names = NULL;
    return code;
}

void vv_short_names_free(char **names, size_t rows)
{
    for (size_t row = 0; names != NULL && row < rows; row++)
        free(names[row]);
    free(names);
}
