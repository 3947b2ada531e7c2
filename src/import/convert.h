/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h — files of which another program makes what varve reads, and its command. */
#ifndef VV_IMPORT_CONVERT_H
#define VV_IMPORT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Is there a command for a file of this name, or of these first bytes? `head_bytes` may be 0. */
bool vv_is_convertible(const char *path, const char *head, size_t head_bytes);
/* Returns VARVE_UNSUPPORTED for such a file. */
enum varve_code vv_refuse_convertible(const char *path, const char *head, size_t head_bytes,
                                      struct varve_error *error);
/* The same for a database of rocprofv3, whatever its name. */
enum varve_code vv_refuse_rocpd(const char *path, struct varve_error *error);

#endif
