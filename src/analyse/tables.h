/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h — every table by its name. Thread-safe on a shared model. */
#ifndef VV_ANALYSE_TABLES_H
#define VV_ANALYSE_TABLES_H

#include "question/question.h"

struct vv_table_entry {
    const char *name;         /* of the table, as --table takes it                              */
    const char *says;         /* one line for help                                              */
    vv_analyse_fn *analyse;
    unsigned parts;           /* enum vv_part: what of a selection changes it                    */
    bool is_optional;         /* among others, people do not see it where it has no rows          */
};
/* Every table there is, ended by a NULL name: tables.c. */
extern const struct vv_table_entry vv_tables[];
/* VARVE_INVALID with the nearest name where there is no such table. */
enum varve_code vv_table_find(const char *name, const struct vv_table_entry **out_table,
                              struct varve_error *error);

#endif
