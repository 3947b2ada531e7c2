/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_write.h — the TSDL text of a process's metadata file (doc/format.md §2, §3).
 *
 * Writes into the caller's memory, allocates nothing: it runs in the user's process. */
#ifndef VV_CTF_METADATA_WRITE_H
#define VV_CTF_METADATA_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctf/layout.h"

/* Text being written; `full` once something did not fit, which then is left out whole. */
struct vv_tsdl {
    char *data;
    size_t length, capacity;
    bool full;
};

struct vv_tsdl_clock {
    const char *source;      /* "tsc" …                                                        */
    uint64_t frequency_hz;
    uint64_t precision_ticks;
    uint64_t ticks;          /* this clock value …                                             */
    int64_t realtime_ns;     /* … was this instant                                             */
};

struct vv_tsdl_job { /* each -1 = not known                                                      */
    int64_t rank, world_size, local_rank;
};

struct vv_tsdl_process {
    const char *host, *program;
    int64_t pid, ppid;
    uint64_t begin_ticks;
    int64_t begin_realtime_ns;
    uint64_t record_cost_ps; /* measured: time one record takes the program                      */
    uint64_t keep_bytes, keep_ns; /* of a flight recorder: what is kept; 0 and 0 = everything     */
    uint64_t reserve_bytes;  /* records were lost while less than that of the disk was free; 0 = none */
    const char *storage;     /* how records reach the files, if not through shared mappings; NULL */
    const struct vv_tsdl_job *job; /* NULL = not known                                           */
};

struct vv_tsdl_class {
    uint32_t id;
    enum vv_site_kind kind;
    const char *name, *file; /* file may be NULL                                               */
    uint32_t line, layer;
};

/* No event block is longer, so that one always fits a page of the file. */
#define VV_TSDL_CLASS_BYTES_MAX 4000u
#define VV_TSDL_PROLOGUE_BYTES_MAX 16384u

/* Everything before the sites' event blocks. */
void vv_tsdl_prologue(struct vv_tsdl *text, const struct vv_tsdl_clock *clock,
                      const struct vv_tsdl_process *process);
/* One event block. Names and files too long for it lose their tail (names) or head (files). */
void vv_tsdl_class(struct vv_tsdl *text, const struct vv_tsdl_class *event);

/* "OP" for VARVE_LAYER_OP …; "" for what is not one layer. */
const char *vv_layer_name(uint32_t layer);
/* The lowest known bit of a mask; VARVE_LAYER_OP if it has none. */
uint32_t vv_layer_single(uint32_t layers);
/* The mask for "OP,STEP", "all" or a number; 0 if a word is unknown. Case does not matter. */
uint32_t vv_layers_parse(const char *text);

#endif
