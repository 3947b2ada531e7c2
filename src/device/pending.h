/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h — work on devices whose times are not known yet.
 *
 * A piece of work has a place in a pool from its begin until it is told to the trace. Once it has
 * ended, it hangs on its stream's row. Work of a stream completes in order, so only the oldest is
 * asked for; who asks has the row's turn, and nobody waits for a turn. No lock, no allocation. */
#ifndef VV_DEVICE_PENDING_H
#define VV_DEVICE_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/must_use.h"
#include "device/registry.h"
#include "device/stream.h"

#define VV_PENDING_MAX 32768u

struct vv_pending {
    uint64_t state;          /* turn of this place << 1 | is open; atomic                        */
    struct vv_pending *next; /* in its stream's row                                              */
    uint32_t next_free;      /* number of a place; atomic                                        */
    uint32_t slot;           /* of its backend                                                   */
    uint32_t generation;     /* of the slot                                                      */
    uint32_t name, kind;
    uint32_t serial;         /* of the session that it began in                                  */
    uint64_t correlation, bytes;
    struct vv_stream_row *row;
    struct varve_device_event begin, end; /* of adopted work and of marks, `begin` alone         */
};

/* Takes a place. NULL: all are taken. */
VV_MUST_USE struct vv_pending *vv_pending_take(void);
/* Gives it back; nobody else knows it. */
void vv_pending_give(struct vv_pending *pending);

/* A number for the program, while the work is open: never 0. */
uint64_t vv_pending_open(struct vv_pending *pending);
/* Closes it. NULL: no open work has this number. */
VV_MUST_USE struct vv_pending *vv_pending_close(uint64_t number);

/* It has ended: hangs it on its row. The row owns it now. */
void vv_pending_end(struct vv_pending *pending);

enum vv_pending_how {
    VV_PENDING_COMPLETE, /* tells what is complete                                               */
    VV_PENDING_WAITS,    /* waits for the rest, and tells it                                     */
    VV_PENDING_DROPS     /* tells what is complete, and counts the rest as lost                  */
};
/* Goes through the row, up to `most` pieces of work. False: another call has the row's turn. */
bool vv_pending_settle(struct vv_stream_row *row, enum vv_pending_how how, uint32_t most);
/* Goes through all rows of a slot, UINT32_MAX = of all slots; waits for turns of other threads. */
void vv_pending_settle_all(uint32_t slot, enum vv_pending_how how);

/* Tells what is complete, where no other call has the turn. */
void vv_pending_try_all(void);

/* In a forked child: all work belongs to the parent. */
void vv_pending_forked(void);
/* The same for the ranges that the forking thread has open (work.c). */
void vv_work_forked(void);

#endif
