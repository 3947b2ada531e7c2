/* SPDX-License-Identifier: Apache-2.0 */
/* copier.h — copies parts into their files where files cannot be mapped shared, as on some network
 * and FUSE file systems. There a part is memory. A thread of the recorder copies the published
 * records into the file ten times a second and at the end. A kill then loses the records after the
 * last copy; the metadata says so (env.storage).
 *
 * The file is whole after each single write. Within a packet the records come first, then the
 * header. Of several packets the last comes first. A thread's records are copied only up to the
 * point that they had reached before the process's own stream was copied, since that stream has the
 * strings that they name. The copying thread blocks all signals and records nothing.
 * The caller holds the recorder's lock, unless the comment says otherwise. */
#ifndef VV_RECORD_STREAM_COPIER_H
#define VV_RECORD_STREAM_COPIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system/own_folder.h"

struct vv_copy;

/* Does this errno number of a failed mapping mean that the file system has no shared mappings? */
bool vv_copier_serves(int failure);
/* The errno number that made the session copy; 0 = it maps its files. */
int vv_copier_reason(void);
/* The same in words, for env.storage; NULL if the session maps its files. Valid until the next
 * call. */
const char *vv_copier_says(void);
/* A new session tries to map again. */
void vv_copier_begin(void);

VV_MUST_USE int vv_copier_make(const struct vv_own_folder *folder, const char *name, uint64_t bytes,
                               int reason, uint8_t **out_map, struct vv_copy **out_copy);
/* Copies the first packet's header into the file, which is still called `hidden`. */
VV_MUST_USE int vv_copier_first(const struct vv_copy *copy, const char *hidden);
/* Backs `bytes` of memory. ENOSPC: the memory that waits to be copied has reached its limit. */
VV_MUST_USE int vv_copier_back(uint8_t *memory, uint64_t bytes);
/* The recorder stores no more into the part. The part is copied a last time, and then its memory is
 * released. `backed_bytes` says how much of the part is backed. */
void vv_copier_leave(struct vv_copy *copy, uint64_t backed_bytes);

/* Copies all parts now, on the calling thread. The caller does not hold the lock. */
void vv_copier_flush(void);
/* In a forked child: the parts belong to the parent, and the child has no copying thread. */
void vv_copier_abandon(void);

#endif
