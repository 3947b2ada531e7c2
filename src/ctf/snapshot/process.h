/* SPDX-License-Identifier: Apache-2.0 */
/* process.h — one process's folder into another: the core of snapshot.c, whose turn is held. */
#ifndef VV_CTF_SNAPSHOT_PROCESS_H
#define VV_CTF_SNAPSHOT_PROCESS_H

#include <signal.h>

/* Both are descriptors; `out` is an empty folder. On failure it is left with what was copied so far. As snapshot.h. */
VV_MUST_USE int vv_snapshot_process(int source, int out, const volatile sig_atomic_t *stop);

#endif
