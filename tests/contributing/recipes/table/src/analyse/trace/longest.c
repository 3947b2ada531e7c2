/* SPDX-License-Identifier: Apache-2.0 */
/* longest.c — table "longest": the slice that lasts longest. */
#include "derive/select/scope.h"
#include "question/question.h"

enum { NAME, DURATION, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, false, false },
};

static enum varve_code put(struct vv_sheet *sheet, const struct vv_model *model, uint64_t slice,
                           struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, DURATION, model->slices.duration_ns[slice]);
    return vv_sheet_text(sheet, row, NAME, vv_text_of(model, model->slices.name[slice]), error);
}

enum varve_code vv_analyse_longest(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_scratch *scratch, struct vv_sheet *out,
                                   struct varve_error *error)
{
    const struct vv_slices *slices = &model->slices;
    uint64_t longest = 0;
    (void)question;
    (void)scratch;
    vv_sheet_init(out, "longest", "LONGEST", columns, COLUMNS);
    for (uint64_t i = 0; i < slices->table.count; i++)
        if (slices->duration_ns[i] > slices->duration_ns[longest])
            longest = i;
    return slices->table.count > 0 ? put(out, model, longest, error) : VARVE_OK;
}
