/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — the streams of devices that work was put on: the track of each, its work that is not
 * told yet, and the devices' clocks.
 *
 * Rows are only added, up to VARVE_DEVICE_TRACKS_MAX. A row lasts as long as the process, so that a
 * backend which is registered again goes on with its tracks. */
#ifndef VV_DEVICE_STREAM_H
#define VV_DEVICE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/must_use.h"
#include "varve/backend.h"

struct vv_pending;

struct vv_stream_row {
    uint32_t slot;   /* index of its backend; UINT32_MAX = the slot has another backend now      */
    uint32_t device;
    void *stream;
    uint32_t track;
    int turn;                   /* who reads what is pending (base/try_lock.h)                   */
    struct vv_pending *ended;   /* work that has ended, the newest first; atomic                 */
    struct vv_pending *oldest;  /* taken out of `ended`, the oldest first; of who has the turn   */
    struct vv_pending *latest;  /* the last of these                                             */
};

/* Finds or adds the row. `name` is kept if it is added; NULL = "stream N". NULL: there is no room,
 * or it is a signal handler. Needs no lock. */
struct vv_stream_row *vv_stream_find(uint32_t slot, uint32_t device, void *stream,
                                     const char *name);
/* Calls `visit` for all rows of a slot; UINT32_MAX = of all slots. */
void vv_streams_each(uint32_t slot, void (*visit)(struct vv_stream_row *row, void *argument),
                     void *argument);
/* The slot gets a backend of another name. Recorder's lock held; nobody uses the slot. */
void vv_streams_forget(uint32_t slot);

/* The number of the clock of a device, added if need be; 0: there is no room. */
uint32_t vv_device_clock_of(uint32_t slot, uint32_t device);

#endif
