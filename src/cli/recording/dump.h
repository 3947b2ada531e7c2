/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h — what a recording holds now, into a trace folder that the user has named: varve dump -o, and
 * varve record --pid -o. Thread-compatible. */
#ifndef VV_CLI_RECORDING_DUMP_H
#define VV_CLI_RECORDING_DUMP_H

#include "base/error.h"
#include "ctf/snapshot/snapshot.h"

/* Writes job to `output`; what lay there becomes OUTPUT.old once the new trace is whole. On failure everything is
 * as it was. */
enum varve_code vv_dump_write(const struct vv_snapshot_job *job, const char *output, struct varve_error *error);

/* What a failure of vv_snapshot… means to the user. Returns its code. */
enum varve_code vv_dump_fail(int failure, const char *trace, const char *output, struct varve_error *error);

#endif
