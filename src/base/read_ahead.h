/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.h — bytes that come slowly, fetched by a thread of their own while its owner works on those before them.
 *
 * The bytes, and the failure behind them, come in the order in which they were fetched. Thread-compatible. */
#ifndef VV_BASE_READ_AHEAD_H
#define VV_BASE_READ_AHEAD_H

#include <stddef.h>

#include "base/error.h"

struct vv_ahead;

/* Fills up to `bytes` of buffer; *out_bytes 0 at the end. Called by the other thread alone, until it has failed or
 * ended. */
typedef enum varve_code vv_ahead_fetch(void *context, void *buffer, size_t bytes, size_t *out_bytes,
                                       struct varve_error *error);

/* Fetches on until stop. NULL without memory or thread: then nothing has been fetched. */
VV_MUST_USE struct vv_ahead *vv_ahead_start(vv_ahead_fetch *fetch, void *context);
/* Waits for a fetch that is going on, and for no other. NULL-safe. */
void vv_ahead_stop(struct vv_ahead *ahead);

/* The next bytes, as many as are there and fit, at least one; *out_bytes 0 at the end. A failure of fetch comes when all
 * bytes before it are read, and again each time. */
enum varve_code vv_ahead_read(struct vv_ahead *ahead, void *buffer, size_t bytes, size_t *out_bytes,
                              struct varve_error *error);

#endif
