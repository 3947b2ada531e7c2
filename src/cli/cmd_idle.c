/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_idle.c — varve idle: why devices stood still, and what they waited for. */
#include "cli/line/arguments.h"
#include "cli/reading/reading.h"

vv_run_verb vv_cmd_idle;

int vv_cmd_idle(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "devices", "idle", "idle_gaps", "idle_streams",
                                          "launches",
                                          "queue", "syncs", "waits", NULL };
    return vv_reading_print(arguments, "idle", tables, 0);
}
