/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_steps.c — varve steps: one line for each step. Where trace points were marked, their
 * iterations follow. */
#include "cli/line/arguments.h"
#include "cli/reading/reading.h"

vv_run_verb vv_cmd_steps;

int vv_cmd_steps(const struct vv_arguments *arguments)
{
    static const char *const tables[] = { "steps", "step_phases", "step", "step_trace",
                                          "step_reduces", NULL };
    return vv_reading_print(arguments, "steps", tables, 0);
}
