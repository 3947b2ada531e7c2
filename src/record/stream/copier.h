/* SPDX-License-Identifier: Apache-2.0 */
/* copier.h — where files cannot be mapped shared (some network and FUSE file systems): parts are memory, and a
 * thread of ours copies what was published into their files, ten times a second and at the end. A kill then
 * loses what came after the last copy; the metadata says so (env.storage).
 *
 * The file is whole after each single write: within a packet first the records, then the header; of several
 * packets the last first; and threads' records only up to what they were before the process's own stream, with
 * the strings they name, was copied. The thread blocks all signals and records nothing.
 * Called with the recorder's lock held, unless marked. */
#ifndef VV_RECORD_STREAM_COPIER_H
#define VV_RECORD_STREAM_COPIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"

struct vv_copy;

/* Does this failure to map mean that the file system has no shared mappings? */
bool vv_copier_serves(int failure);
/* The failure that made the session copy; 0 = it maps. */
int vv_copier_reason(void);
/* The same in words, for env.storage; NULL if the session maps. Valid until the next call. */
const char *vv_copier_says(void);
/* A new session tries to map again. */
void vv_copier_begin(void);

VV_MUST_USE int vv_copier_make(const struct vv_own_folder *folder, const char *name, uint64_t bytes, int reason,
                               uint8_t **out_map, struct vv_copy **out_copy);
/* Copies the first packet's header into the file, which is still called `hidden`. */
VV_MUST_USE int vv_copier_first(const struct vv_copy *copy, const char *hidden);
/* ENOSPC when the memory not yet copied is as much as it may be. */
VV_MUST_USE int vv_copier_back(uint8_t *memory, uint64_t bytes);
/* The part, of which `backed_bytes` are backed, is not written any more: it is copied a last time, and then its
 * memory is released. */
void vv_copier_leave(struct vv_copy *copy, uint64_t backed_bytes);

/* Copies what there is, on this thread. Without the lock. */
void vv_copier_flush(void);
/* Forked child: the parts are the parent's, and the thread is not here. */
void vv_copier_abandon(void);

#endif
