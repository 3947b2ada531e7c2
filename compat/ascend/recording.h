/* SPDX-License-Identifier: Apache-2.0 */
/* recording.h — begins, starts, stops and ends recording for an interface with words of its own.
 * Each library has one; all use Varve's control API (varve/control.h). Thread-safe; not from
 * control callbacks: then VARVE_STATE. */
#ifndef VARVE_COMPAT_RECORDING_H
#define VARVE_COMPAT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "varve/control.h"

#define VV_RECORDING_PATH_BYTES 4096u

struct vv_recording_wish {
    uint64_t mask; /* today's bits                                                              */
    uint32_t devices[VARVE_PROFILING_DEVICES_MAX];
    uint32_t device_count;
    uint32_t metrics; /* number of ProfilingAicoreMetrics; others = none                         */
};

/* Prepares recording below the folder `path` ("" = the working folder; a name that ends in ".varve"
 * is the trace itself). VARVE_OK also if others record this process already: then recording is
 * theirs, and the calls below change nothing. */
enum varve_code vv_recording_open(const char *path, struct varve_error *error);
bool vv_recording_is_open(void);
/* VARVE_STATE: started already. */
enum varve_code vv_recording_start(const struct vv_recording_wish *wish, struct varve_error *error);
/* VARVE_STATE: not started. */
enum varve_code vv_recording_stop(struct varve_error *error);
/* Stops, too. */
enum varve_code vv_recording_close(struct varve_error *error);
/* The trace's folder as far as it is known here; "" if not. Static storage. */
const char *vv_recording_path(void);

#endif
