/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c — varve report: where the time went. First whether to trust the trace, then the
 * step, then the operators. With --compat paddle it is the report of Fluid's profiler. */
#include "cli/line/arguments.h"
#include "cli/reading/reading.h"

vv_run_verb vv_cmd_report;

int vv_cmd_report(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "trace", "verdict", "advice", "step", "phases",
                                          "devices", "operators", "kernel_ops", NULL };
    if (vv_asks_fluid(arguments) && arguments->table == NULL) {
        struct vv_arguments fluid = *arguments;
        fluid.table = "event_summary";
        return vv_reading_print(&fluid, "report", tables, 0);
    }
    return vv_reading_print(arguments, "report", tables, VV_SCREEN_WITHOUT_ARGS);
}
