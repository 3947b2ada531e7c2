/* SPDX-License-Identifier: Apache-2.0 */
/* room.h — the recorder takes no blocks when little of the disk is free: it leaves the rest to the
 * program, for checkpoints for example. The file system is not asked for each window. The file
 * system is asked when its last answer is a tenth of a second old, or when an eighth of the free
 * room has been taken since. The caller holds the recorder's lock. doc/control.md */
#ifndef VV_RECORD_STREAM_ROOM_H
#define VV_RECORD_STREAM_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"
#include "settings/reserve.h"

/* A session begins in `folder`. `refused` is called when blocks are denied for the first time, so
 * that the metadata says it. */
void vv_room_begin(const struct vv_own_folder *folder, const struct vv_reserve *reserve,
                   int (*refused)(void));
/* In a forked child: the reserve stays that of the parent, and nothing was refused yet. */
void vv_room_forked(void);
/* May the recorder take `bytes` there? If so, counts them as taken. */
bool vv_room_is_for(const struct vv_own_folder *folder, uint64_t bytes);
/* The recorder has given `bytes` back. */
void vv_room_return(uint64_t bytes);
/* The bytes that are left to others, if records were lost because of this reserve; or 0. */
uint64_t vv_room_kept_bytes(void);

#endif
