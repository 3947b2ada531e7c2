/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_start.c — varve start: a process that is recorded, or waits for it, records from now on. */
#include "cli/line/arguments.h"
#include "cli/recording/recorded_processes.h"

vv_run_verb vv_cmd_start;

int vv_cmd_start(const struct vv_arguments *arguments)
{
    return vv_recorded_switch(arguments, true);
}
