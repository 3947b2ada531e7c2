/* SPDX-License-Identifier: Apache-2.0 */
/* prepared_part.h — first parts of streams, made before they are wanted, so that a new thread's first record does not
 * wait for the file system. They lie in the process's folder as ".spare.N". No thread of ours makes them: those
 * that are in the slow path anyway do, one each time, when they end or have just filled a packet. Called with
 * the recorder's lock held. */
#ifndef VV_RECORD_STREAM_PREPARED_PART_H
#define VV_RECORD_STREAM_PREPARED_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "record/stream/part.h"

/* A session begins: from now on spares are made. */
void vv_spare_begin(void);
/* Hands over a part of at most `bytes` whose first packet is backed, and the name that its file still has. False: none
 * is ready. */
VV_MUST_USE bool vv_spare_take(uint64_t bytes, struct vv_part *out_part, char *out_name, size_t capacity);
/* Makes one in `folder` if there are too few. Errors are left to those who need a part. */
void vv_spare_fill(const struct vv_own_folder *folder, uint64_t bytes);
/* Removes them, and makes no more: the session, or the process, ends. */
void vv_spare_drop(void);
/* Forgets them: a forked child. */
void vv_spare_abandon(void);

#endif
