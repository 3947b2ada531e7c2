/* SPDX-License-Identifier: Apache-2.0 */
#include "question/question.h"

const char *const vv_question_groupings[] = { "op",    "name",   "shape",  "module", "source",
                                              "phase", "stream", "thread", "layer",  "rank",
                                              "step",  "use",    "block",  "execution", NULL };
const char *const vv_question_rules[] = { "hta", "paddle", "msprof", "mlirgraph", NULL };

enum varve_code vv_analyse(vv_analyse_fn *table, const struct vv_model *model,
                           const struct vv_question *question, struct vv_sheet *out,
                           struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    *out = (struct vv_sheet){ 0 };
    return vv_analyse_end(table(model, question, &scratch, out, error), &scratch, out, error);
}

enum varve_code vv_analyse_end(enum varve_code code, struct vv_scratch *scratch,
                               struct vv_sheet *sheet, struct varve_error *error)
{
    vv_scratch_deinit(scratch);
    if (code == VARVE_NO_MEMORY && sheet->name != NULL)
        vv_error_note(error, "table '%s'", sheet->name);
    if (code != VARVE_OK)
        vv_sheet_deinit(sheet);
    return code;
}
