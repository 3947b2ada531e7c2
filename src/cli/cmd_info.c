/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.c — varve info: what is in this trace, and is it complete? */
#include "cli/line/arguments.h"
#include "cli/reading/reading.h"

vv_run_verb vv_cmd_info;

int vv_cmd_info(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "inputs", "trace", "processes", "threads", "clocks",
                                          "collectors", "tables", "health", NULL };
    return vv_reading_print(arguments, "info", tables, VV_SCREEN_FULL);
}
