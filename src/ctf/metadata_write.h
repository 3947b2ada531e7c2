/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_write.h — writes the TSDL text of a process's metadata file (doc/format.md §2, §3).
 *
 * It runs in the user's process: it writes into the caller's memory and allocates nothing. */
#ifndef VV_CTF_METADATA_WRITE_H
#define VV_CTF_METADATA_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctf/layout.h"
#include "varve/error.h"

/* The text being written. `full` is set once a piece did not fit; that piece is left out as a
 * whole. */
struct vv_tsdl {
    char *data;
    size_t length, capacity;
    bool full;
};

struct vv_tsdl_clock {
    const char *source;      /* "tsc" …                                                        */
    uint64_t frequency_hz;
    uint64_t precision_ticks;
    uint64_t ticks;          /* at this clock value …                                          */
    int64_t realtime_ns;     /* … it was this instant                                          */
};

struct vv_tsdl_job { /* -1 = not known, in each                                                  */
    int64_t rank, world_size, local_rank;
};

struct vv_tsdl_process {
    const char *host, *program;
    int64_t pid, ppid;
    uint64_t begin_ticks;
    int64_t begin_realtime_ns;
    uint64_t record_cost_ps; /* measured time that one record costs the program                  */
    uint64_t keep_bytes, keep_ns; /* flight recorder: what is kept; 0 and 0 = everything          */
    /* Records were lost while less of the disk than this was free; 0 = none. */
    uint64_t reserve_bytes;
    const char *storage;     /* how records reach the files, if not by shared mappings; or NULL */
    const struct vv_tsdl_job *job; /* NULL = not known                                           */
};

struct vv_tsdl_class {
    uint32_t id;
    enum vv_site_kind kind;
    const char *name, *file; /* file may be NULL                                               */
    uint32_t line, layer;
};

/* No event block is longer, so one always fits into a page of the file. */
#define VV_TSDL_CLASS_BYTES_MAX 4000u
#define VV_TSDL_PROLOGUE_BYTES_MAX 16384u

/* Writes everything before the event blocks of sites. */
void vv_tsdl_prologue(struct vv_tsdl *text, const struct vv_tsdl_clock *clock,
                      const struct vv_tsdl_process *process);
/* Writes one event block. A name that is too long loses its end; a file name loses its begin. */
void vv_tsdl_class(struct vv_tsdl *text, const struct vv_tsdl_class *event);

/* The name of a layer: "OP" for VARVE_LAYER_OP …; "" if the mask is not exactly one layer. */
const char *vv_layer_name(uint32_t layer);
/* The lowest known bit of a mask; VARVE_LAYER_OP if it has none. */
uint32_t vv_layer_single(uint32_t layers);
/* Reads a mask: "OP,STEP", "all", a number, or names of GE, Paddle and PyTorch
 * (ctf/foreign_layers.h). Case does not matter. The mask is never 0. VARVE_INVALID: the message has
 * the unknown word and the nearest known one, or says that nothing would be recorded. */
enum varve_code vv_layers_parse(const char *text, uint32_t *out_layers, struct varve_error *error);

#endif
