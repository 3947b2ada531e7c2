/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h — the collector of NCCL's collectives, sends and receives: NCCL's own profiler plug-in,
 * which NCCL_PROFILER_PLUGIN names.
 *
 *   profiler.c   what NCCL calls: ncclProfiler_v1 … v5
 *   layouts.c    where the fields of its events lie
 *   groups.c     communicators
 *   events.c     what an event says to the trace
 *   nccl.c       what the note of the process says
 *
 * NCCL tells of a collective on the thread that launched its kernel, right after the launch. So the
 * last launch of the thread is the kernel of the collectives that follow (collect/process/
 * launches.h). A program that makes no communicator pays nothing. */
#ifndef VV_COLLECT_NCCL_NCCL_H
#define VV_COLLECT_NCCL_NCCL_H

#include <stdbool.h>

#include "collect/nccl/groups.h"

/* NCCL makes a communicator and asks for the plug-in by this version of its interface. `group` is
 * NULL if there was no room for it. Returns whether events are of use. */
bool vv_nccl_began(unsigned version, const struct vv_nccl_group *group);
bool vv_nccl_is_on(void);

/* An event of NCCL's begins. Returns what NCCL shall keep as its handle; NULL: nothing. */
void *vv_nccl_event(unsigned version, struct vv_nccl_group *group, const void *event);

#endif
