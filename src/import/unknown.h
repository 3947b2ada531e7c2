/* SPDX-License-Identifier: Apache-2.0 */
/* unknown.h — what is said of a file or folder that is no trace: how it begins, and what makes a
 * trace of it. */
#ifndef VV_IMPORT_UNKNOWN_H
#define VV_IMPORT_UNKNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Returns VARVE_UNSUPPORTED. `head` has the first bytes of a file, decompressed. */
enum varve_code vv_refuse_unknown(const char *path, bool is_folder, const char *head,
                                  size_t head_bytes, struct varve_error *error);

#endif
