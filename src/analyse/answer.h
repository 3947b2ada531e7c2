/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h — several tables made at once. Thread-safe on a shared model. */
#ifndef VV_ANALYSE_ANSWER_H
#define VV_ANALYSE_ANSWER_H

#include "analyse/tables.h"

/* One of several tables that are made at once. */
struct vv_table_task {
    const struct vv_table_entry *table; /* NULL: `analyse` as it is                              */
    vv_analyse_fn *analyse;
    bool is_alone;            /* it was asked for by name: no choice may be in vain                */
    struct vv_sheet sheet;
    enum varve_code code;
    struct varve_error error;
};

/* Fills the sheets, those of a large model by several threads; none of them where one fails. The policy of a `table`
 * says what was filtered, and which choices do not change it; VARVE_INVALID instead where it is alone. */
enum varve_code vv_tables_answer(struct vv_table_task *tasks, size_t count, const struct vv_model *model,
                                 const struct vv_question *question, struct varve_error *error);

#endif
