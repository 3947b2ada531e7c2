/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h — copies what a recording holds now into a trace folder that the user has named: for varve
 * dump -o and varve record --pid -o. Thread-compatible. */
#ifndef VV_CLI_RECORDING_DUMP_H
#define VV_CLI_RECORDING_DUMP_H

#include "base/error.h"
#include "ctf/snapshot/snapshot.h"

/* Writes the job's trace to `output`. A former trace there becomes OUTPUT.old when the new one is
 * complete. After a failure all is as it was. */
enum varve_code vv_dump_write(const struct vv_snapshot_job *job, const char *output,
                              struct varve_error *error);

/* Explains a failure of vv_snapshot… to the user. Returns its code. */
enum varve_code vv_dump_fail(int failure, const char *trace, const char *output,
                             struct varve_error *error);

#endif
