/* SPDX-License-Identifier: Apache-2.0 */
/* clocks.c — table "clocks": the clocks of devices, and how well their times are placed in that of
 * the process. The process's own clock is in table "processes". */
#include "derive/select/scope.h"
#include "question/question.h"

enum { CLOCK, PROCESS, UNCERTAINTY, RESOLUTION, PAIRS, LEFT_OUT, INSTANTS, COLUMNS };

static const struct vv_sheet_column clock_columns[COLUMNS] = {
    { "clock", "clock", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "uncertainty_ns", "±", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "resolution_ns", "steps of", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "pairs", "pairs with ours", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "left_out", "ran backwards", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "instants", "instants", VV_CELL_INT, VV_UNIT_COUNT, false, false },
};

enum varve_code vv_analyse_clocks(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    const struct vv_clocks *clocks = &model->clocks;
    (void)question;
    (void)scratch;
    vv_sheet_init(out, "clocks", "CLOCKS", clock_columns, COLUMNS);
    for (uint64_t c = 0; c < clocks->table.count; c++) {
        int64_t pid = model->processes.pid[clocks->process[c]];
        size_t row;
        VV_TRY(vv_sheet_row(out, VV_ROW_PLAIN, &row, error));
        VV_TRY(vv_sheet_text(out, row, CLOCK, vv_text_of(model, clocks->name[c]), error));
        if (pid >= 0)
            vv_sheet_int(out, row, PROCESS, pid);
        if (clocks->pairs[c] > 0)
            vv_sheet_int(out, row, UNCERTAINTY, clocks->uncertainty_ns[c]);
        if (clocks->resolution_ns[c] > 0)
            vv_sheet_int(out, row, RESOLUTION, clocks->resolution_ns[c]);
        vv_sheet_int(out, row, PAIRS, (int64_t)clocks->pairs[c]);
        vv_sheet_int(out, row, LEFT_OUT, (int64_t)clocks->left_out[c]);
        vv_sheet_int(out, row, INSTANTS, (int64_t)clocks->instants[c]);
    }
    return VARVE_OK;
}
