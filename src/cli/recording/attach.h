/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h — varve record --pid: records a process that runs already, for a time. */
#ifndef VV_CLI_RECORDING_ATTACH_H
#define VV_CLI_RECORDING_ATTACH_H

#include "cli/line/arguments.h"

/* Switches it on, waits for --duration, a signal or its end, and switches it back. Returns an exit code. */
VV_MUST_USE int vv_record_attach(const struct vv_arguments *arguments);

#endif
