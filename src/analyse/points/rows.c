/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/points/rows.h"

#include <inttypes.h>
#include <stdio.h>

enum varve_code vv_point_rows_find(struct vv_point_rows *rows, const struct vv_model *model,
                                   const struct vv_question *question, struct vv_scratch *scratch,
                                   struct varve_error *error)
{
    const struct vv_selection without_step = vv_selection_without_step(&question->selection);
    rows->first_step = question->selection.first_step;
    rows->last_step = question->selection.last_step;
    VV_TRY(vv_scope_init(&rows->scope, model, &without_step, scratch, error));
    return vv_iterations_find(&rows->scope, &rows->all, error);
}

enum varve_code vv_point_rows_policy(const struct vv_point_rows *rows, struct varve_error *error)
{
    const struct vv_iterations *all = &rows->all;
    size_t count = 0, found = 0;
    for (size_t i = 0; i < all->item_count; i++) {
        bool is_in = vv_point_rows_has(rows, &all->items[i]);
        count += is_in;
        found += is_in && all->items[i].is_found;
    }
    if (all->count == 0)
        return vv_sheet_policy(rows->sheet, error, "no trace points (doc/trace-points.md)");
    return vv_sheet_policy(rows->sheet, error,
                           "%zu iterations of %zu trace points; %zu numbered by the order of their "
                           "points; %" PRIu64 " points are of no iteration",
                           count, all->count, found, all->without);
}

enum varve_code vv_put_model(struct vv_sheet *sheet, size_t row, size_t column, uint64_t model,
                             struct varve_error *error)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, model);
    return vv_sheet_text(sheet, row, column, text, error);
}
