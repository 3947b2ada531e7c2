/* SPDX-License-Identifier: Apache-2.0 */
/* part.h — one file of a stream, mapped whole: the recorder's only way to disk space.
 *
 * Parts of one process share a budget. All functions are called with the recorder's lock held, allocate
 * nothing and return 0 or an errno number. Where the file system has no shared mappings a part is memory
 * that a thread copies into its file (copier.h); the rest of the recorder does not know. */
#ifndef VV_RECORD_STREAM_PART_H
#define VV_RECORD_STREAM_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"

struct vv_copy;

struct vv_part {
    uint8_t *map;             /* the whole file; NULL = no part                                 */
    uint64_t bytes;
    uint64_t backed_bytes;    /* from the start: has blocks and pages, may be stored to         */
    uint64_t forgotten_bytes; /* from the start: page-table entries dropped                     */
    struct vv_file_id id;
    struct vv_copy *copy;     /* NULL, or: the map is memory                                    */
};

/* All parts of the process together may take `max_bytes` of the disk from now on (0: what they like). */
void vv_part_limit(uint64_t max_bytes);

/* Makes the file `name`, which must not exist, without any block. */
VV_MUST_USE int vv_part_make(const struct vv_own_folder *folder, const char *name, uint64_t bytes,
                             struct vv_part *out_part);
/* Backs `window_bytes` more, less on a nearly full disk, at least one packet. `is_first`: whatever the budget
 * says, for a thread's first packet is where its losses are counted. In a flight recorder the oldest parts
 * make room. */
VV_MUST_USE int vv_part_back(struct vv_part *part, const struct vv_own_folder *folder,
                             const char *name, uint64_t window_bytes,
                             bool is_first);
/* Backs one packet and takes it from no budget: of a spare (record/stream/prepared_part.h); vv_part_adopt does so later. */
VV_MUST_USE int vv_part_back_spare(struct vv_part *part, const struct vv_own_folder *folder, const char *name);
void vv_part_adopt(const struct vv_part *part);
/* The parts of the process have given that many bytes back. */
void vv_part_return(uint64_t bytes);

/* Its first packet is whole: the file `hidden` appears as `name`. */
VV_MUST_USE int vv_part_name(const struct vv_part *part, const struct vv_own_folder *folder, const char *hidden,
                             const char *name);

/* Gives back what is backed behind `end_bytes`, through the mapping: the path may be another file's by now. Nothing
 * is returned to the budget. Returns the bytes that the part still takes. */
uint64_t vv_part_shrink(struct vv_part *part, uint64_t end_bytes);
/* Drops the page-table entries before `end_bytes`, a large step at a time. */
void vv_part_forget(struct vv_part *part, uint64_t end_bytes);
/* Unmaps; the file stays. */
void vv_part_leave(struct vv_part *part);
/* The same in a forked child, to which the file does not belong. `is_awaited`: something will yet be stored
 * there, into memory. */
void vv_part_abandon(struct vv_part *part, bool is_awaited);

#endif
