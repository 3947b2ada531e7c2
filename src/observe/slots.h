/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h — the observers of the process.
 *
 * A slot is used again and again; its `tag` says by which observer, and in which state. Whoever
 * calls a function of an observer first publishes the slot in its lane and then compares the tag.
 * Whoever removes the observer first changes the tag and then looks into all lanes (call.h).
 * Everything else in a slot changes only while no lane can use it. The caller holds the recorder's
 * lock, except where this page says otherwise. */
#ifndef VV_OBSERVE_SLOTS_H
#define VV_OBSERVE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/must_use.h"
#include "varve/observer.h"

struct vv_lane;

/* In the low bits of a tag; the bits above count the users of the slot. */
enum vv_slot_state {
    VV_SLOT_FREE, VV_SLOT_LIVE, VV_SLOT_DISABLED, VV_SLOT_REMOVED, VV_SLOT_ENDING
};
#define VV_SLOT_STATES 8u

struct vv_slot {
    uint64_t tag;              /* atomic                                                       */
    struct varve_observer observer;
    double scale;              /* of the draws; 0 = not sampled                                */
    const struct vv_lane *home; /* the lane of the thread that added it; NULL: the process's   */
    uint64_t failures;         /* atomic                                                       */
    struct vv_slot *next_free;
};

static inline uint64_t vv_slot_tag(const struct vv_slot *slot)
{
    return __atomic_load_n(&slot->tag, __ATOMIC_SEQ_CST);
}
static inline enum vv_slot_state vv_slot_state(uint64_t tag)
{
    return (enum vv_slot_state)(tag % VV_SLOT_STATES);
}
/* The tag of the same user in another state. */
static inline uint64_t vv_slot_tag_in(uint64_t tag, enum vv_slot_state state)
{
    return tag / VV_SLOT_STATES * VV_SLOT_STATES + state;
}

/* NULL: there are too many, or no memory. The slot is live when this returns. */
VV_MUST_USE struct vv_slot *vv_slot_take(const struct varve_observer *observer, double scale,
                                         const struct vv_lane *home, uint64_t *out_handle);
/* Nobody begins to call it any more; its tag says so, and is returned: others may change it at
 * once. */
uint64_t vv_slot_remove(struct vv_slot *slot);
/* Nobody calls it any more: the slot is free. Without the lock it is not used again. */
void vv_slot_give(struct vv_slot *slot, bool is_locked);
/* The slot of a handle, live or disabled; NULL: there is none (any more). */
struct vv_slot *vv_slot_find(uint64_t handle);
/* Those of the process, in the order in which they were added. */
struct vv_slot *const *vv_slots_of_process(size_t *out_count);
/* Walks all slots that were ever used. NULL at first, and after the last one. */
struct vv_slot *vv_slot_next(const struct vv_slot *slot);

/* Without the lock: changes whenever a lane must look anew who observes it. */
uint64_t vv_slots_version(void);
/* Without the lock: changes whenever observers come after there were none. What lanes know from an
 * earlier period is over. */
uint64_t vv_slots_period(void);
/* Without the lock: are there observers that were removed and may still have to end? */
bool vv_slots_are_ending(void);

#endif
