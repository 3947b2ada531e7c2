/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.c — numbers that link forward and backward operators, as PyTorch's at::sequence_number
 * counts them. They count whether or not anything is recorded: a program may be recorded from any
 * instant on. */
#include "record/hot_path.h"
#include "record/stream/birth.h"
#include "varve/values.h"

static _Thread_local int64_t next; /* atomic towards signal handlers                            */

VARVE_API int64_t varve_sequence_peek(void)
{
    return __atomic_load_n(&next, __ATOMIC_RELAXED);
}

VARVE_API int64_t varve_sequence_next(void)
{
    return __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
}

/* As the thread's packets say (doc/format.md §4). */
static uint64_t this_thread(void)
{
    const struct vv_self *self = vv_self_in_epoch();
    const struct vv_thread *thread = self->thread; /* a handler may have detached it */
    return thread != NULL ? thread->stream.tid : vv_birth_tid();
}

VARVE_API void varve_backward_take(struct varve_backward *out_backward)
{
    out_backward->sequence = varve_sequence_next();
    out_backward->forward_thread = this_thread();
}
