/* SPDX-License-Identifier: Apache-2.0 */
/* part.h — one file of a stream, mapped whole: the recorder takes disk space only here.
 *
 * The parts of one process share a budget. The caller holds the recorder's lock. The functions
 * allocate nothing and return 0 or an errno number. Where the file system has no shared mappings, a
 * part is memory that a thread copies into its file (copier.h); the rest of the recorder does not
 * notice. */
#ifndef VV_RECORD_STREAM_PART_H
#define VV_RECORD_STREAM_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"

struct vv_copy;

struct vv_part {
    uint8_t *map;             /* the whole file; NULL = no part                                 */
    uint64_t bytes;
    uint64_t backed_bytes;    /* from the start: these have blocks and pages, stores are safe   */
    uint64_t forgotten_bytes; /* from the start: these have no page-table entries any more      */
    struct vv_file_id id;
    struct vv_copy *copy;     /* not NULL: the map is memory                                    */
};

/* From now on all parts of the process together may take `max_bytes` of the disk; 0 = no limit. */
void vv_part_limit(uint64_t max_bytes);

/* Makes the file `name`, which must not exist, without any block. */
VV_MUST_USE int vv_part_make(const struct vv_own_folder *folder, const char *name, uint64_t bytes,
                             struct vv_part *out_part);
/* Backs `window_bytes` more; on a nearly full disk less, but at least one packet. `is_first`: backs
 * the packet whatever the budget says, because a thread's losses are counted in its first packet.
 * In a flight recorder the oldest parts make room. */
VV_MUST_USE int vv_part_back(struct vv_part *part, const struct vv_own_folder *folder,
                             const char *name, uint64_t window_bytes,
                             bool is_first);
/* Backs one packet of a spare part (record/stream/prepared_part.h). The budget does not count this
 * packet until vv_part_adopt. */
VV_MUST_USE int vv_part_back_spare(struct vv_part *part, const struct vv_own_folder *folder,
                                   const char *name);
void vv_part_adopt(const struct vv_part *part);
/* The parts of the process have given `bytes` back to the disk. */
void vv_part_return(uint64_t bytes);

/* The part's first packet is whole: renames the file `hidden` to `name`. */
VV_MUST_USE int vv_part_name(const struct vv_part *part, const struct vv_own_folder *folder,
                             const char *hidden, const char *name);

/* Gives back the blocks behind `end_bytes`. This works through the mapping, because the path may
 * lead to another file by now. The budget does not change. Returns the bytes that the part still
 * takes. */
uint64_t vv_part_shrink(struct vv_part *part, uint64_t end_bytes);
/* Drops the page-table entries before `end_bytes`, a large step at a time. */
void vv_part_forget(struct vv_part *part, uint64_t end_bytes);
/* Unmaps; the file stays. */
void vv_part_leave(struct vv_part *part);
/* Unmaps in a forked child: the file belongs to the parent. `is_awaited`: memory takes the place of
 * the file, because something will still be stored there. */
void vv_part_abandon(struct vv_part *part, bool is_awaited);

#endif
