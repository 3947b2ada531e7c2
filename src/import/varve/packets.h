/* SPDX-License-Identifier: Apache-2.0 */
/* packets.h — the packets of one stream, over all its parts (doc/format.md §4).
 *
 * Made before anything is decoded, and before metadata and the process's own stream are read: the
 * writer declares an event class or a string before it uses it, so what lies below the cursors kept
 * here is declared in what is read later. That is how a trace reads well while it is written.
 * Thread-compatible. */
#ifndef VV_IMPORT_VARVE_PACKETS_H
#define VV_IMPORT_VARVE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_packet {
    uint64_t offset;        /* in its part's file                                               */
    uint64_t content_bytes; /* header and records, in the file: the cursor, or where it was cut  */
    uint64_t begin_ticks;
    uint64_t discarded;     /* records lost in the stream so far, up to the packet's end        */
    uint32_t part;          /* index in `paths`                                                 */
    bool cut;               /* the file ends before the packet does                             */
    bool after_gap;         /* packets are missing before this one                              */
};

struct vv_packets {
    uint64_t instance;      /* 0 = the process's own stream                                     */
    bool keeps_last;        /* of a flight recorder: oldest parts are removed, at any time       */
    uint64_t first_part;    /* the number of paths[0]                                           */
    const char **paths;     /* of the parts, in order; borrowed                                 */
    size_t path_count;
    struct vv_packet *items;
    size_t count, capacity;
    uint64_t tid;           /* of the first packet                                              */
    uint64_t cut_files;     /* files cut, and gaps where files are missing                      */
    bool lacks_begin;       /* its oldest packets have been removed, as a flight recorder does  */
    uint64_t lost_before;   /* records lost before the first packet that is there               */
};

/* Fills `items` and what follows from the parts at `paths`. A part that a flight recorder has removed since it
 * was listed is left out, with all before it. The caller de-initialises, also on failure. */
enum varve_code vv_packets_read(struct vv_packets *packets, struct varve_error *error);
void vv_packets_deinit(struct vv_packets *packets); /* frees items alone; NULL-safe, idempotent */

#endif
