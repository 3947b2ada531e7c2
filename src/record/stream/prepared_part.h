/* SPDX-License-Identifier: Apache-2.0 */
/* prepared_part.h — first parts of streams, made in advance, so that a new thread's first record
 * does not wait for the file system. The files are named ".spare.N", in the process's folder. The
 * recorder has no thread for this. A thread that is in the slow path anyway makes one: when it
 * attaches as the first thread, has filled a packet, or ends. The caller holds the recorder's
 * lock. */
#ifndef VV_RECORD_STREAM_PREPARED_PART_H
#define VV_RECORD_STREAM_PREPARED_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "record/stream/part.h"

/* A session begins: allows spares to be made. */
void vv_prepared_part_begin(void);
/* Hands over a part of at most `bytes` whose first packet is backed, and the current name of its
 * file. False: no part is ready. */
VV_MUST_USE bool vv_prepared_part_take(uint64_t bytes, struct vv_part *out_part, char *out_name,
                                       size_t capacity);
/* Makes a part in `folder` if there are too few. Reports no errors: the thread that needs a part
 * will get them. */
void vv_prepared_part_fill(const struct vv_own_folder *folder, uint64_t bytes);
/* Removes the parts and makes no more: the session or the process ends. */
void vv_prepared_part_drop(void);
/* Forgets the parts, in a forked child. */
void vv_prepared_part_abandon(void);

#endif
