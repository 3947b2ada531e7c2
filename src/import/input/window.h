/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — a file of nested messages, looked at a piece at a time and in any order: the bytes asked for and some
 * that follow them. For formats whose later parts must be read before earlier ones (xspace.c).
 *
 * A plain file is read with pread into a window that grows while reading goes on in order and shrinks where it jumps,
 * so that passing over a message costs its first bytes only. A compressed one is held whole. Thread-compatible. */
#ifndef VV_IMPORT_INPUT_WINDOW_H
#define VV_IMPORT_INPUT_WINDOW_H

#include "base/bytes.h"
#include "base/text/protobuf.h"
#include "import/input/source.h"

#define VV_WINDOW_PIECE_BYTES_MAX (UINT64_C(256) << 20) /* that can be asked for at once          */

struct vv_window {
    struct vv_source *source; /* borrowed; NULL: all is in `bytes`                              */
    unsigned char *bytes;
    size_t capacity;
    size_t length;            /* of what `bytes` holds, which lies in the file at               */
    uint64_t offset;
    size_t ahead_bytes;       /* to read the next time                                          */
    uint64_t size_bytes;      /* of the whole; where the file turns out shorter, that           */
    bool is_cut;              /* a compressed file ended too early                              */
};

/* A compressed file larger than `limit_bytes` when decompressed (0 = no limit) is VARVE_LIMIT. */
enum varve_code vv_window_open(struct vv_window *window, struct vv_source *source,
                               uint64_t limit_bytes, struct varve_error *error);
/* Takes bytes that malloc gave. */
void vv_window_take(struct vv_window *window, void *bytes, size_t length);
void vv_window_close(struct vv_window *window); /* idempotent */

/* At least `wanted` bytes at `offset`, fewer only where the file ends; borrowed until the next call. */
enum varve_code vv_window_at(struct vv_window *window, uint64_t offset, uint64_t wanted,
                             struct vv_bytes *out_bytes, struct varve_error *error);

/* One field of a protobuf message that may be too large to look at whole: its head is read, its bytes are not. */
struct vv_window_field {
    uint32_t number;
    enum vv_wire wire;
    uint64_t value;                    /* as in struct vv_protobuf                              */
    uint64_t data_offset, next_offset; /* of its bytes; of what follows                         */
    bool is_cut;                       /* the file ends before the field does                   */
};

/* The field at `offset` of a message that ends at `limit`. VARVE_CORRUPT where the field does not fit the message. */
enum varve_code vv_window_field(struct vv_window *window, uint64_t offset, uint64_t limit,
                                struct vv_window_field *out_field, struct varve_error *error);

#endif
