/* SPDX-License-Identifier: Apache-2.0 */
/* packets.h — finds the packets of one stream, in all its parts (doc/format.md §4).
 *
 * This is done before anything is decoded, and before metadata and the process's own stream are
 * read. The writer declares an event class or a string before it uses it. So all records below the
 * cursors that are kept here use only what will be read later. That is why a trace can be read
 * while it is written. Thread-compatible. */
#ifndef VV_IMPORT_VARVE_PACKETS_PACKETS_H
#define VV_IMPORT_VARVE_PACKETS_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_packet {
    uint64_t offset;        /* offset in its part's file                                        */
    /* bytes of header and records in the file: up to the cursor or the cut */
    uint64_t content_bytes;
    uint64_t begin_ticks;
    uint64_t discarded;     /* records lost in the stream up to the packet's end                */
    uint32_t part;          /* index in `paths`                                                 */
    bool cut;               /* the file ends before the packet does                             */
    bool after_gap;         /* packets are missing before this one                              */
};

struct vv_packets {
    uint64_t instance;      /* 0 = the process's own stream                                     */
    bool keeps_last;        /* of a flight recorder: its oldest parts may be removed at any time */
    uint64_t first_part;    /* number of paths[0]                                               */
    const char **paths;     /* of the parts, in order; borrowed                                 */
    size_t path_count;
    struct vv_packet *items;
    size_t count, capacity;
    uint64_t tid;           /* that of the first packet                                         */
    uint64_t cut_files;     /* files that are cut, and gaps where files are missing             */
    bool lacks_begin;       /* a flight recorder has removed its oldest packets                 */
    uint64_t lost_before;   /* records lost before the first packet that exists                 */
};

/* Fills `items` and the fields after it from the parts at `paths`. If a flight recorder has removed
 * a part since it was listed, this part and all before it are left out. The caller de-initialises,
 * also after a failure. */
enum varve_code vv_packets_read(struct vv_packets *packets, struct varve_error *error);
void vv_packets_deinit(struct vv_packets *packets); /* frees only items; NULL-safe, idempotent */

#endif
