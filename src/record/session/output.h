/* SPDX-License-Identifier: Apache-2.0 */
/* output.h — the trace folder that a program names for its session. Thread-safe; not for signal
 * handlers. */
#ifndef VV_RECORD_SESSION_OUTPUT_H
#define VV_RECORD_SESSION_OUTPUT_H

#include "base/error.h"
#include "base/system/own_folder.h"

/* Makes the folder `wanted`, or joins it if it exists. NULL: "PROGRAM.varve" in the current folder.
 * On failure *out must not be used. */
enum varve_code vv_output_make(const char *wanted, bool is_shared, struct vv_own_folder *out,
                               struct varve_error *error);

#endif
