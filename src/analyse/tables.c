/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c — the list of all tables, from the rows of question/tables.h. */
#include <stdio.h>
#include <string.h>

#include "analyse/tables.h"
#include "base/text/nearest.h"

const struct vv_table_entry vv_tables[] = {
#define VV_ROW(name, parts, is_optional, says)                                                     \
    { #name, says, vv_analyse_##name, parts, is_optional },
    VV_TABLES(VV_ROW)
#undef VV_ROW
        { NULL, NULL, NULL, 0, false },
};

enum { NAMES_MAX = 80 };
_Static_assert(sizeof vv_tables / sizeof *vv_tables <= NAMES_MAX, "vv_table_find names them all");

enum varve_code vv_table_find(const char *name, const struct vv_table_entry **out_table,
                              struct varve_error *error)
{
    const char *names[NAMES_MAX] = { NULL };
    for (size_t i = 0; vv_tables[i].name != NULL; i++) {
        *out_table = &vv_tables[i];
        if (strcmp(vv_tables[i].name, name) == 0)
            return VARVE_OK;
        names[i] = vv_tables[i].name;
    }
    const char *nearest = vv_nearest(name, names);
    if (nearest != NULL)
        VV_FAIL(error, VARVE_INVALID, "no table '%s' here. Nearest: %s", name, nearest);
    VV_FAIL(error, VARVE_INVALID, "no table '%s' here. varve help tables lists them", name);
}
