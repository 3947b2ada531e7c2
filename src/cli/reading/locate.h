/* SPDX-License-Identifier: Apache-2.0 */
/* locate.h — finds the newest trace in the current folder, of any format. */
#ifndef VV_CLI_READING_LOCATE_H
#define VV_CLI_READING_LOCATE_H

#include "base/error.h"

/* The caller frees *out_path. VARVE_NOT_FOUND: there is no trace. */
enum varve_code vv_locate_newest(char **out_path, struct varve_error *error);

#endif
