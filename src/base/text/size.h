/* SPDX-License-Identifier: Apache-2.0 */
/* size.h — sizes as people write them: "500MB", "2 GB", "64KiB", "1000000". */
#ifndef VV_BASE_TEXT_SIZE_H
#define VV_BASE_TEXT_SIZE_H

#include <stdint.h>

#include "base/error.h"

/* k, M, G, T (with or without B, in either case) are powers of 1000, Ki … Ti are powers of 1024.
 * VARVE_INVALID: the message says what is valid. */
enum varve_code vv_size_parse(const char *text, uint64_t *out_bytes, struct varve_error *error);

#endif
