/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h — what one thread knows of observers: who observes it, when each is due, and which ranges
 * are open.
 *
 * Only its thread writes a lane; other threads, which remove observers, read `running` and the
 * entries. A lane never goes back to the system, and a new thread takes one that is spare. */
#ifndef VV_OBSERVE_LANE_H
#define VV_OBSERVE_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/must_use.h"
#include "observe/geometric.h"
#include "observe/slots.h"

#define VV_SCOPES 13u
#define VV_VIEWS (VARVE_OBSERVERS_MAX + VARVE_OBSERVERS_OF_THREAD_MAX)
#define VV_FRAMES 256u   /* open ranges that are observed, one in another */
#define VV_ENTRIES 2048u /* observers that have begun to observe them     */
#define VV_FRAME_NAME_BYTES 128u
#define VV_NEVER UINT64_MAX

/* An observer as the lane knows it. */
struct vv_view {
    struct vv_slot *slot;
    uint64_t tag; /* live                                                                      */
    uint32_t scopes, needs;
    double scale;
    uint64_t left[VV_SCOPES]; /* sampled: ranges of the scope to the next that it sees         */
};

/* An observer whose `end` is due. `word` is odd while it is; whoever makes it even calls it. The
 * word never repeats, so a claim cannot meet a later use of the entry. All fields are atomic. */
struct vv_entry {
    uint64_t word;
    struct vv_slot *slot;
    uint64_t tag;
    uint64_t context;
    const char *name; /* these are for who removes the observer                                */
    uint64_t id;
    uint32_t scope, layer;
};

struct vv_frame { /* an open range */
    uint32_t first, count; /* its entries                                                      */
    uint64_t key;          /* of the guard that it is; unique in the process                   */
    struct varve_observed what;
    char name[VV_FRAME_NAME_BYTES];
};

struct vv_lane {
    struct vv_lane *next;
    bool is_used;
    bool busy;             /* its thread is in this room: a handler must not come in           */
    bool inside;           /* … in a function of an observer                                   */
    struct vv_slot *running; /* whose function; atomic                                         */
    uint64_t version, period; /* slots.h, when the lane last looked                            */
    uint64_t wait[VV_SCOPES]; /* ranges to the next that somebody sees; VV_NEVER               */
    uint64_t span[VV_SCOPES]; /* `wait` when it was set                                        */
    uint32_t depth;        /* open ranges of this period                                       */
    uint32_t step;         /* depth of the open step; 0 = none                                 */
    uint32_t floor;        /* inside: ranges up to here are none of the function's             */
    uint32_t view_count;
    uint32_t entry_count;  /* atomic                                                           */
    uint64_t serial;       /* of the last word                                                 */
    uint64_t number;       /* counts threads; atomic                                           */
    uint64_t tid;          /* atomic                                                           */
    uint64_t ids;          /* of the last range that has one                                   */
    struct vv_generator generator;
    uint32_t own_count;
    uint64_t own[VARVE_OBSERVERS_OF_THREAD_MAX]; /* handles: who observes this thread alone     */
    struct vv_view views[VV_VIEWS];
    struct vv_entry entries[VV_ENTRIES];
    struct vv_frame frames[VV_FRAMES];
};

extern _Thread_local struct vv_lane *vv_own_lane; /* NULL: it has none                          */
extern _Thread_local uint32_t vv_lane_suspended;

/* Called once, before there is a lane. `on_exit` is called at the end of each thread that has
 * one. */
void vv_lane_init(void (*on_exit)(void *lane));
/* The calling thread's lane, made if need be. NULL: no memory, or a handler has interrupted the
 * recorder. Without the lock. */
VV_MUST_USE struct vv_lane *vv_lane_make(void);
/* At the thread's end. Without the lock. */
void vv_lane_give(struct vv_lane *lane);
/* In a forked child: only the calling thread's lane is used any more. Lock held. */
void vv_lane_forked(void);
/* All lanes that were ever used, one after the other; without the lock. */
struct vv_lane *vv_lane_first(void);

/* The entries from `count` on are not used any more. */
static inline void vv_lane_cut(struct vv_lane *lane, uint32_t count)
{
    __atomic_store_n(&lane->entry_count, count, __ATOMIC_RELEASE);
}

/* Looks anew who observes the thread. Without the lock. */
void vv_lane_look(struct vv_lane *lane);
/* A range of this scope begins: puts the entries of those who see it behind the others, and returns
 * what they need. */
uint32_t vv_lane_choose(struct vv_lane *lane, unsigned scope);

#endif
