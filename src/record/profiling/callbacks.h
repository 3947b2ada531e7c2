/* SPDX-License-Identifier: Apache-2.0 */
/* callbacks.h — the program's control callbacks. The caller holds the control API's lock, which
 * stays held while callbacks run. */
#ifndef VV_RECORD_PROFILING_CALLBACKS_H
#define VV_RECORD_PROFILING_CALLBACKS_H

#include <stdbool.h>

#include "base/error.h"
#include "varve/control.h"

/* VARVE_INVALID, VARVE_EXISTS, VARVE_LIMIT, as varve_profiling_callback_add. *out_is_first: there
 * was none before. */
enum varve_code vv_callbacks_add(varve_profiling_callback *callback, void *context,
                                 bool *out_is_first, struct varve_error *error);
/* *out_is_last: there is none any more. */
enum varve_code vv_callbacks_remove(varve_profiling_callback *callback, void *context,
                                    bool *out_is_last, struct varve_error *error);
void vv_callbacks_tell(const struct varve_profiling_command *command);

#endif
