/* SPDX-License-Identifier: Apache-2.0 */
/* cache_use.h — decides whether traces are read through a cache (cache/cache.h): by --cache,
 * --no-cache and VARVE_CACHE, otherwise by the size of the files on disk. Thread-compatible. */
#ifndef VV_CLI_READING_CACHE_USE_H
#define VV_CLI_READING_CACHE_USE_H

#include <stddef.h>

#include "cli/line/arguments.h"

struct vv_cache;

/* Makes the cache of the traces at paths[0..count). The caller reads from it, or fills it if it is
 * empty, and destroys it. NULL: the traces are read without a cache. VARVE_INVALID: the options
 * contradict each other. */
enum varve_code vv_reading_cache(const struct vv_arguments *arguments, const char *const *paths,
                             size_t count, struct vv_cache **out_cache, struct varve_error *error);

#endif
