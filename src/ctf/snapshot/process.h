/* SPDX-License-Identifier: Apache-2.0 */
/* process.h — copies the folder of one process to another folder: the core of snapshot.c, which
 * holds the lock. */
#ifndef VV_CTF_SNAPSHOT_PROCESS_H
#define VV_CTF_SNAPSHOT_PROCESS_H

#include <signal.h>

/* `source` and `out` are descriptors; `out` is an empty folder. After a failure, it holds what was
 * copied so far. For return values see snapshot.h. */
VV_MUST_USE int vv_snapshot_process(int source, int out, const volatile sig_atomic_t *stop);

#endif
