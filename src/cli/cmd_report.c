/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c — varve report: where the time went. Trust first, then the step, then the operators. */
#include "analyse/analyse.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/reading.h"

static enum varve_code analyse(const struct vv_arguments *arguments, const struct vv_model *model,
                               struct vv_sheet *sheets, size_t *out_count, struct varve_error *error)
{
    struct vv_operator_options options = {
        .selection.thread = arguments->thread,
        .by = arguments->by,
        .sort = arguments->sort,
        /* A program gets every row unless it asks for fewer. */
        .top = arguments->said & VV_TAKES(TOP) || vv_cli_for_people(arguments) ? arguments->top : 0,
    };
    VV_TRY(vv_selection_steps(&options.selection, arguments->steps, error));
    VV_TRY(vv_analyse_trace(model, false, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_step(model, &options.selection, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_phases(model, &options.selection, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_operators(model, &options, &sheets[*out_count], error));
    ++*out_count;
    return VARVE_OK;
}

int vv_cmd_report(const struct vv_arguments *arguments)
{
    return vv_reading_print(arguments, "report", analyse);
}
