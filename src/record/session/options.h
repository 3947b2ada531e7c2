/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — what a program passes to varve_session_start, checked and whole.
 * thread-compatible. */
#ifndef VV_RECORD_SESSION_OPTIONS_H
#define VV_RECORD_SESSION_OPTIONS_H

#include "base/error.h"
#include "varve/varve.h"

/* Fills *out: from NULL the standard, from a struct of an older program what it has, the rest 0. Pointers are
 * borrowed as they are. On failure *out is not written. */
enum varve_code vv_session_options_take(const struct varve_session_options *options,
                                        struct varve_session_options *out, struct varve_error *error);

#endif
