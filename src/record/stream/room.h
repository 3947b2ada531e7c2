/* SPDX-License-Identifier: Apache-2.0 */
/* room.h — the recorder takes no block while little of the disk is free: the rest is the program's, for its
 * checkpoints. What is free is asked ten times a second at most, and after an eighth of what may be taken, never for
 * each window. Called with the recorder's lock held. doc/control.md */
#ifndef VV_RECORD_STREAM_ROOM_H
#define VV_RECORD_STREAM_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"
#include "settings/reserve.h"

/* A session begins, into that folder. `refused` is called when blocks are denied for the first time: it says so in the metadata. */
void vv_room_begin(const struct vv_own_folder *folder, const struct vv_reserve *reserve, int (*refused)(void));
/* In a forked child: as much is left as its parent leaves; it was told no yet. */
void vv_room_forked(void);
/* May so many bytes be taken there? */
bool vv_room_is_for(const struct vv_own_folder *folder, uint64_t bytes);
/* So many have been given back. */
void vv_room_return(uint64_t bytes);
/* What is left to others, if records were lost for it; else 0. */
uint64_t vv_room_kept_bytes(void);

#endif
