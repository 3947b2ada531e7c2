/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h — independent pieces of work done by several threads. Thread-safe. */
#ifndef VV_BASE_WORKERS_H
#define VV_BASE_WORKERS_H

#include <stddef.h>

/* The processors that this process may run on. */
unsigned vv_workers_allowed(void);

typedef void vv_work(void *context, size_t piece);

/* Calls work(context, i) for each i below `pieces`, by at most `threads` threads of which the caller is one, and comes
 * back when all is done. Threads that cannot be made are done without. */
void vv_workers_run(unsigned threads, size_t pieces, vv_work *work, void *context);

#endif
