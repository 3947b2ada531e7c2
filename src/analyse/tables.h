/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h — the list of all tables, by name. Thread-safe on a shared model. */
#ifndef VV_ANALYSE_TABLES_H
#define VV_ANALYSE_TABLES_H

#include "question/question.h"

struct vv_table_entry {
    const char *name;         /* name of the table, as --table takes it                         */
    const char *says;         /* one line for help                                              */
    vv_analyse_fn *analyse;
    unsigned parts;           /* enum vv_choice: parts of a selection that change the table */
    bool is_optional;         /* in a list of tables, people do not see it if it has no rows      */
};
/* All tables, ended by a NULL name. */
extern const struct vv_table_entry vv_tables[];
/* VARVE_INVALID with the nearest name if there is no such table. */
enum varve_code vv_table_find(const char *name, const struct vv_table_entry **out_table,
                              struct varve_error *error);

#endif
