/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h — varve record --pid: records a running process for a while. */
#ifndef VV_CLI_RECORDING_ATTACH_H
#define VV_CLI_RECORDING_ATTACH_H

#include "cli/line/arguments.h"

/* Switches recording on, waits for --duration, a signal or the process's end, and switches back.
 * Returns an exit code. */
VV_MUST_USE int vv_record_attach(const struct vv_arguments *arguments);

#endif
