/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.c — varve info: what is in this trace, and is it whole. */
#include "analyse/analyse.h"
#include "cli/arguments.h"
#include "cli/reading.h"

static enum varve_code analyse(const struct vv_arguments *arguments, const struct vv_model *model,
                               struct vv_sheet *sheets, size_t *out_count, struct varve_error *error)
{
    (void)arguments;
    VV_TRY(vv_analyse_inputs(model, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_trace(model, true, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_processes(model, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_threads(model, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_tables(model, &sheets[*out_count], error));
    ++*out_count;
    VV_TRY(vv_analyse_health(model, &sheets[*out_count], error));
    ++*out_count;
    return VARVE_OK;
}

int vv_cmd_info(const struct vv_arguments *arguments)
{
    return vv_reading_print(arguments, "info", analyse);
}
