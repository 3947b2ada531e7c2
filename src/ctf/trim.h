/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h — a finished trace without the space that its writers reserved ahead. `varve record` calls it
 * when the program has ended. Thread-compatible. */
#ifndef VV_CTF_TRIM_H
#define VV_CTF_TRIM_H

#include "base/error.h"

/* `folder` is the trace, open, and `trace` how it is called; no link in it is followed. Cuts the stream files of every process that no longer runs after their last record. A file that is
 * still mapped or open anywhere, or that is not as doc/format.md §4 says, is left as it is: cutting a
 * mapped file would kill its writer. Hidden files of these processes go. The first failure is reported, the other
 * files are still cut. */
enum varve_code vv_trim_trace(int folder, const char *trace, struct varve_error *error);

/* One stream file that nobody writes. */
enum varve_code vv_trim_stream(const char *path, struct varve_error *error);

#endif
