/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_critical.c — varve critical: the chain of events that the duration depends on, and what would
 * make it shorter. */
#include "cli/line/arguments.h"
#include "cli/reading/reading.h"

vv_run_verb vv_cmd_critical;

int vv_cmd_critical(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "critical",     "critical_bound", "rank_waits",
                                          "critical_ops", "what_if",        "critical_path",
                                          "slack",        NULL };
    return vv_reading_print(arguments, "critical", tables, 0);
}
