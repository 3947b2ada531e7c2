/* SPDX-License-Identifier: Apache-2.0 */
/* output.h — the trace folder that a program names for its session. Thread-safe; not for signal
 * handlers. */
#ifndef VV_RECORD_SESSION_OUTPUT_H
#define VV_RECORD_SESSION_OUTPUT_H

#include <limits.h>

#include "base/error.h"
#include "base/system/own_folder.h"

/* Not for a stack: the caller's may be that of the smallest thread, 16 KiB. */
struct vv_session_output {
    struct vv_own_folder folder;
    char wanted[PATH_MAX], path[PATH_MAX]; /* of vv_output_make                                  */
};

/* Makes the folder `wanted`, or joins it if it exists. NULL: "PROGRAM.varve" in the current folder.
 * On failure out->folder must not be used. */
enum varve_code vv_output_make(const char *wanted, bool is_shared, struct vv_session_output *out,
                               struct varve_error *error);

#endif
