/* SPDX-License-Identifier: Apache-2.0 */
/* locate.h — the newest trace in the current folder. */
#ifndef VV_CLI_READING_LOCATE_H
#define VV_CLI_READING_LOCATE_H

#include "base/error.h"

/* *out_path belongs to the caller (free). VARVE_NOT_FOUND: there is none. */
enum varve_code vv_locate_newest(char **out_path, struct varve_error *error);

#endif
