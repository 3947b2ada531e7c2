/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h — makes several tables at once. Thread-safe on a shared model. */
#ifndef VV_ANALYSE_ANSWER_H
#define VV_ANALYSE_ANSWER_H

#include "analyse/tables.h"

/* One of the tables that are made at once. */
struct vv_table_task {
    const struct vv_table_entry *table; /* NULL: only `analyse` is called, of the selection      */
    vv_analyse_fn *analyse;
    bool is_alone;            /* the table was asked for by name: every choice must change it */
    struct vv_sheet *whole;   /* question.h; NULL = not wanted                                  */
    struct vv_sheet sheet;
    enum varve_code code;
    struct varve_error error;
};

#define VV_ANSWER_TABLES_MAX 32u /* at once */

/* Fills the sheets; for a large model several threads do so. If one sheet fails, none is filled.
 * The policy of a `table` says what was filtered and which choices do not change the table. For a
 * table that is alone such a choice is VARVE_INVALID. */
enum varve_code vv_tables_answer(struct vv_table_task *tasks, size_t count,
                                 const struct vv_model *model, const struct vv_question *question,
                                 struct varve_error *error);

#endif
