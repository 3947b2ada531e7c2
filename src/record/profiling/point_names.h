/* SPDX-License-Identifier: Apache-2.0 */
/* point_names.h — the nodes that the process's options name as forward start and backward end. */
#ifndef VV_RECORD_PROFILING_POINT_NAMES_H
#define VV_RECORD_PROFILING_POINT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "record/options/options.h"

/* Copies the value of "fp_point" or "bp_point". False: the options do not name any, or it is longer
 * than `bytes` allow. Thread-safe, also in a callback of the control API. */
VV_MUST_USE bool vv_profiling_point_name(const char *key, char *out_name, size_t bytes);

#endif
