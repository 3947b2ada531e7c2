/* SPDX-License-Identifier: Apache-2.0 */
/* needs_zstd.h — tests of packed traces skip in a build without zstd: their main returns this. */
#ifndef VV_TESTS_NEEDS_ZSTD_H
#define VV_TESTS_NEEDS_ZSTD_H

#include <stdbool.h>

#define SKIPPED 77

bool zstd_is_missing(void);

#endif
