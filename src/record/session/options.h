/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — checks and completes the options that a program passes to varve_session_start.
 * Thread-compatible. */
#ifndef VV_RECORD_SESSION_OPTIONS_H
#define VV_RECORD_SESSION_OPTIONS_H

#include "base/error.h"
#include "varve/varve.h"

/* Fills *out. If `options` is NULL, with the defaults; from the struct of an older program, with
 * the fields that it has and defaults for the rest. Pointers are borrowed. On failure *out is not
 * written. */
enum varve_code vv_session_options_take(const struct varve_session_options *options,
                                        struct varve_session_options *out,
                                        struct varve_error *error);

#endif
