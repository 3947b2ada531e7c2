/* SPDX-License-Identifier: Apache-2.0 */
/* record_attach.h — varve record --pid: records a process that runs already, for a time. */
#ifndef VV_CLI_RECORD_ATTACH_H
#define VV_CLI_RECORD_ATTACH_H

#include "cli/arguments.h"

/* Switches it on, waits for --duration, a signal or its end, and switches it back. Returns an exit code. */
int vv_record_attach(const struct vv_arguments *arguments);

#endif
