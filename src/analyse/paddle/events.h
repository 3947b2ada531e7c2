/* SPDX-License-Identifier: Apache-2.0 */
/* events.h — the ranges of a thread as Fluid's report pairs them.
 *
 * Fluid keeps begins and ends apart. An end belongs to the latest begin of its name that has no end
 * yet, whatever else is open. So where two ranges of one name overlap, the inner end counts with
 * the later begin. A begin without an end is left out. Of an end and a begin at one instant the end
 * comes first; of several ends, that of the range that began last. Thread-compatible. */
#ifndef VV_ANALYSE_PADDLE_EVENTS_H
#define VV_ANALYSE_PADDLE_EVENTS_H

#include "analyse/paddle/names.h"
#include "derive/devices/device_work.h"
#include "derive/select/scope.h"

/* A thread that recorded a range. Fluid numbers threads as they record their first one, and lists
 * them in the other direction. */
struct vv_fluid_thread {
    uint32_t track;  /* row                                                                     */
    uint32_t number;
    uint32_t first, last; /* its slices                                                         */
};

struct vv_fluid_event {
    uint32_t name; /* in names->texts                                                           */
    int64_t cpu_ns;
    int64_t gpu_ns; /* device work launched in the range and in ranges inside it                */
};

struct vv_fluid_events {
    const struct vv_scope *scope; /* borrowed                                                   */
    struct vv_fluid_names *names; /* borrowed                                                   */
    struct vv_fluid_thread *threads; /* chosen threads with chosen ranges, newest first         */
    uint32_t thread_count;
    int64_t *gpu_ns;   /* slice -> device work; NULL = there is none                            */
    uint32_t *open;    /* name -> the latest slice that is open; grows with names               */
    uint32_t *below;   /* slice of the thread -> the next older open one of its name            */
    uint32_t *name_of; /* slice of the thread -> its name                                       */
    struct vv_keyed_row *ends; /* slices of the thread that end, in order                       */
    size_t open_capacity;
    struct vv_fluid_event *items; /* of the thread that was read last, in order of end          */
    size_t count;
    uint64_t unfinished; /* begins without an end, of all threads read                          */
};

/* `work` without device work: there is no GPU time. */
enum varve_code vv_fluid_events_init(struct vv_fluid_events *events, const struct vv_scope *scope,
                                     struct vv_fluid_names *names,
                                     const struct vv_device_work *work,
                                     struct varve_error *error);

/* Fills events->items with the ranges of a thread. Read threads in the order of the list: names get
 * their numbers in this order. */
enum varve_code vv_fluid_events_read(struct vv_fluid_events *events,
                                     const struct vv_fluid_thread *thread,
                                     struct varve_error *error);

#endif
