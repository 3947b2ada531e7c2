/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h — removes from a finished trace the space that its writers reserved ahead. `varve record`
 * calls it when the program has ended. Thread-compatible. */
#ifndef VV_CTF_TRIM_H
#define VV_CTF_TRIM_H

#include "base/error.h"

/* `folder` is the open trace folder, and `trace` is its path for messages; links in the trace are
 * not followed. Cuts the stream files of every process that no longer runs after their last record.
 * Skips a file that is still mapped or open anywhere, because cutting a mapped file would kill its
 * writer; and one that breaks doc/format.md §4. Removes hidden files of these processes. The first
 * failure is reported, but the other files are still cut. */
enum varve_code vv_trim_trace(int folder, const char *trace, struct varve_error *error);

/* Trims one stream file, which nobody writes. */
enum varve_code vv_trim_stream(const char *path, struct varve_error *error);

#endif
