/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h — writes what the thread has used so far (record/counters), where a range begins and
 * where it ends: varve.counts (doc/format.md §6). The reader takes the difference. */
#ifndef VV_RECORD_COUNTS_H
#define VV_RECORD_COUNTS_H

#include "record/hot_path.h"

/* Chooses the counters of a session that begins now, and notes in the trace what there is. NULL =
 * those of the environment, VARVE_METRICS. The lock is not held. */
void vv_counts_begin(const char *group);
/* Writes the counters' names into a folder that was just made. Lock held, session ready. */
void vv_counts_write_names(void);

void vv_put_counts(struct vv_self *self);

/* The innermost range of the calling thread has begun. */
static inline void vv_count_begin(struct vv_self *self, bool is_recorded)
{
    if (vv_is_counting() && is_recorded)
        vv_put_counts(self);
}

/* It is about to end. */
static inline void vv_count_end(struct vv_self *self)
{
    if (vv_is_counting() && !vv_is_skipped(self, self->depth))
        vv_put_counts(self);
}

#endif
