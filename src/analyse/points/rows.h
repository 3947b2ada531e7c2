/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h — what the tables of trace points have in common: which iterations they have, and how a
 * model is called. Private to this room. */
#ifndef VV_ANALYSE_POINTS_ROWS_H
#define VV_ANALYSE_POINTS_ROWS_H

#include "analyse/points/iterations.h"
#include "question/question.h"

struct vv_point_rows {
    struct vv_sheet *sheet;
    struct vv_scope scope;
    struct vv_iterations all;
    int64_t first_step, last_step; /* of the numbers that were asked for                        */
};

/* `rows` has its sheet already. */
enum varve_code vv_point_rows_find(struct vv_point_rows *rows, const struct vv_model *model,
                                   const struct vv_question *question, struct vv_scratch *scratch,
                                   struct varve_error *error);

static inline bool vv_point_rows_has(const struct vv_point_rows *rows,
                                     const struct vv_iteration *of)
{
    return of->number >= rows->first_step && of->number <= rows->last_step;
}

enum varve_code vv_point_rows_policy(const struct vv_point_rows *rows, struct varve_error *error);

/* A model's number, 64 bits without a sign, as a text. */
enum varve_code vv_put_model(struct vv_sheet *sheet, size_t row, size_t column, uint64_t model,
                             struct varve_error *error);

/* msprof.c: the same rows in msprof's columns. */
enum varve_code vv_put_msprof_rows(const struct vv_point_rows *rows, struct varve_error *error);

#endif
