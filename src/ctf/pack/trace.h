/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h — copies a finished trace, and packs or unpacks its streams. `varve pack` calls it.
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
    const volatile sig_atomic_t *stop; /* NULL; or a flag that ends the work with VARVE_STATE */
};

struct vv_pack_counts {
    uint64_t streams;      /* packed (or unpacked); streams that were so already are copied */
    uint64_t records;      /* records in these streams; each one was compared                     */
    uint64_t plain_bytes;  /* bytes of packet headers and records                                 */
    uint64_t packed_bytes; /* size of the packed files                                            */
};

/* Copies the trace: streams are packed (unpacked), everything else is copied unchanged, with times
 * and modes. Then every record is compared with the original, and all is written to the disk.
 * VARVE_UNSUPPORTED: the trace is not finished, or contains something other than files and folders.
 * After a failure the caller removes the folder. */
enum varve_code vv_pack_trace(const struct vv_pack_job *job, struct vv_pack_counts *out_counts,
                              struct varve_error *error);

#endif
