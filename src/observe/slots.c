/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/slots.h"

#include <string.h>

#include "base/system/os.h"
#include "record/control/control.h"

#define SLOTS 4096u /* address space; memory comes with use */

static struct vv_slot *slots;
static struct vv_slot *spare;
static size_t used;                /* slots that were ever used; atomic */
static size_t live;                /* not removed yet                   */
static uint64_t version, period;   /* atomic                            */
static size_t ending;              /* atomic                            */
static struct vv_slot *globals[VARVE_OBSERVERS_MAX];
static size_t global_count;

static struct vv_slot *find_place(void)
{
    struct vv_slot *slot = spare;
    if (slots == NULL)
        slots = vv_os_reserve(SLOTS * sizeof *slots);
    if (slot != NULL)
        spare = slot->next_free;
    else if (slots != NULL && used < SLOTS) {
        slot = &slots[used];
        __atomic_store_n(&used, used + 1, __ATOMIC_RELEASE);
    }
    return slot;
}

static void change(void)
{
    __atomic_fetch_add(&version, 1, __ATOMIC_RELEASE);
}

static uint64_t handle_of(const struct vv_slot *slot)
{
    return vv_slot_tag(slot) / VV_SLOT_STATES * SLOTS + (uint64_t)(slot - slots);
}

struct vv_slot *vv_slot_take(const struct varve_observer *observer, double scale,
                             const struct vv_lane *home, uint64_t *out_handle)
{
    if (home == NULL && global_count == VARVE_OBSERVERS_MAX)
        return NULL;
    struct vv_slot *slot = find_place();
    if (slot == NULL)
        return NULL;
    slot->observer = *observer;
    slot->scale = scale;
    slot->home = home;
    slot->failures = 0;
    uint64_t tag = vv_slot_tag(slot) + VV_SLOT_STATES;
    __atomic_store_n(&slot->tag, vv_slot_tag_in(tag, VV_SLOT_LIVE), __ATOMIC_SEQ_CST);
    if (home == NULL)
        globals[global_count++] = slot;
    *out_handle = handle_of(slot);
    change();
    if (live++ == 0) {
        __atomic_fetch_add(&period, 1, __ATOMIC_RELEASE);
        vv_control_observe(true);
    }
    return slot;
}

uint64_t vv_slot_remove(struct vv_slot *slot)
{
    uint64_t tag = vv_slot_tag_in(vv_slot_tag(slot), VV_SLOT_REMOVED);
    size_t i = 0;
    while (i < global_count && globals[i] != slot)
        i++;
    if (i < global_count)
        memmove(&globals[i], &globals[i + 1], (--global_count - i) * sizeof globals[0]);
    __atomic_fetch_add(&ending, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->tag, tag, __ATOMIC_SEQ_CST);
    change();
    if (--live == 0)
        vv_control_observe(false);
    return tag;
}

void vv_slot_give(struct vv_slot *slot, bool is_locked)
{
    __atomic_store_n(&slot->tag, vv_slot_tag_in(vv_slot_tag(slot), VV_SLOT_FREE), __ATOMIC_SEQ_CST);
    if (is_locked) {
        slot->next_free = spare;
        spare = slot;
    }
    __atomic_fetch_sub(&ending, 1, __ATOMIC_SEQ_CST);
}

struct vv_slot *vv_slot_find(uint64_t handle)
{
    if (handle % SLOTS >= used)
        return NULL;
    struct vv_slot *slot = &slots[handle % SLOTS];
    enum vv_slot_state state = vv_slot_state(vv_slot_tag(slot));
    bool is_there = state == VV_SLOT_LIVE || state == VV_SLOT_DISABLED;
    return is_there && handle_of(slot) == handle ? slot : NULL;
}

struct vv_slot *const *vv_slots_of_process(size_t *out_count)
{
    *out_count = global_count;
    return globals;
}

struct vv_slot *vv_slot_next(const struct vv_slot *slot)
{
    size_t next = slot == NULL ? 0 : (size_t)(slot - slots) + 1;
    return next < __atomic_load_n(&used, __ATOMIC_ACQUIRE) ? &slots[next] : NULL;
}

uint64_t vv_slots_version(void)
{
    return __atomic_load_n(&version, __ATOMIC_ACQUIRE);
}

uint64_t vv_slots_period(void)
{
    return __atomic_load_n(&period, __ATOMIC_ACQUIRE);
}

bool vv_slots_are_ending(void)
{
    return __atomic_load_n(&ending, __ATOMIC_SEQ_CST) != 0;
}
