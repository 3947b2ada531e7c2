/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h — several threads do independent pieces of work. Thread-safe. */
#ifndef VV_BASE_WORKERS_H
#define VV_BASE_WORKERS_H

#include <stddef.h>

/* The number of processors that this process may run on. */
unsigned vv_workers_allowed(void);

typedef void vv_work(void *context, size_t piece);

/* Calls work(context, i) for each i below `pieces`, on at most `threads` threads, one of which is
 * the caller. Returns when all is done. If a thread cannot be made, the others do its work. */
void vv_workers_run(unsigned threads, size_t pieces, vv_work *work, void *context);

#endif
