/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h — a finished trace, copied with its streams packed or unpacked. `varve pack` calls it.
 * Thread-compatible. */
#ifndef VV_CTF_PACK_TRACE_H
#define VV_CTF_PACK_TRACE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct vv_pack_job {
    const char *trace;  /* folder to read                                                       */
    const char *folder; /* empty folder to fill                                                 */
    bool unpack;
    const volatile sig_atomic_t *stop; /* NULL, or: once it is not 0, work ends with VARVE_STATE   */
};

struct vv_pack_counts {
    uint64_t streams;      /* packed, or unpacked; others were so already and are copied           */
    uint64_t records;      /* in them, each compared                                              */
    uint64_t plain_bytes;  /* of packet headers and records                                       */
    uint64_t packed_bytes; /* of the packed files                                                 */
};

/* Copies the trace: streams packed (unpacked), everything else as it is, with times and modes. Every record
 * is then compared with where it came from, and all is on the disk. VARVE_UNSUPPORTED: the trace is not
 * finished, or holds what is neither file nor folder. On failure the folder is the caller's to remove. */
enum varve_code vv_pack_trace(const struct vv_pack_job *job, struct vv_pack_counts *out_counts,
                              struct varve_error *error);

#endif
