/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_stop.c — varve stop: a process records nothing from now on, but can be started again. */
#include "cli/line/arguments.h"
#include "cli/recording/recorded_processes.h"

vv_run_verb vv_cmd_stop;

int vv_cmd_stop(const struct vv_arguments *arguments)
{
    return vv_recorded_switch(arguments, false);
}
