/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_steps.c — varve steps: one line a step. */
#include "analyse/analyse.h"
#include "cli/arguments.h"
#include "cli/reading.h"

static enum varve_code analyse(const struct vv_arguments *arguments, const struct vv_model *model,
                               struct vv_sheet *sheets, size_t *out_count, struct varve_error *error)
{
    struct vv_selection selection = { .thread = arguments->thread };
    VV_TRY(vv_selection_steps(&selection, arguments->steps, error));
    VV_TRY(vv_analyse_steps(model, &selection, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_step_phases(model, &selection, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_step(model, &selection, &sheets[*out_count], error));
    ++*out_count;
    return VARVE_OK;
}

int vv_cmd_steps(const struct vv_arguments *arguments)
{
    return vv_reading_print(arguments, "steps", analyse);
}
