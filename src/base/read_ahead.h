/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.h — a thread fetches bytes from a slow source while its owner works on earlier bytes.
 *
 * The bytes come in the order in which they were fetched, and a failure comes after them.
 * Thread-compatible. */
#ifndef VV_BASE_READ_AHEAD_H
#define VV_BASE_READ_AHEAD_H

#include <stddef.h>

#include "base/error.h"

struct vv_ahead;

/* Fills up to `bytes` of buffer; *out_bytes is 0 at the end. Only the other thread calls this,
 * until it fails or reaches the end. */
typedef enum varve_code vv_ahead_fetch(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                                       struct varve_error *error);

/* Starts a thread that fetches until vv_ahead_stop. NULL if there is no memory or no thread; then
 * nothing has been fetched. */
VV_MUST_USE struct vv_ahead *vv_ahead_start(vv_ahead_fetch *fetch, void *context);
/* Waits for a fetch that is in progress, but starts no other. NULL-safe. */
void vv_ahead_stop(struct vv_ahead *ahead);

/* Gives the next bytes: as many as are ready and fit, at least one; *out_bytes is 0 at the end. A
 * failure of fetch is returned after all bytes before it, and again at each later call. */
enum varve_code vv_ahead_read(struct vv_ahead *ahead, void *buffer, size_t bytes, size_t *out_bytes,
                              struct varve_error *error);

#endif
