/* SPDX-License-Identifier: Apache-2.0 */
#include "device/registry.h"

#include <stdio.h>

#include "record/source_note.h"

struct vv_backend_slot vv_backend_slots[VARVE_BACKENDS_MAX];
uint32_t vv_backend_count;

/* Calls of backends that this thread is in. */
static _Thread_local uint32_t depth;

/* ---- inside ---- */

struct vv_backend_slot *vv_backend_enter_slot(uint32_t index)
{
    struct vv_backend_slot *slot = &vv_backend_slots[index];
    __atomic_fetch_add(&slot->users, 1, __ATOMIC_SEQ_CST);
    depth++;
    if (__atomic_load_n(&slot->backend, __ATOMIC_SEQ_CST) != NULL &&
        !__atomic_load_n(&slot->is_detached, __ATOMIC_RELAXED))
        return slot;
    vv_backend_leave(slot);
    return NULL;
}

void vv_backend_leave(struct vv_backend_slot *slot)
{
    depth--;
    __atomic_fetch_sub(&slot->users, 1, __ATOMIC_RELEASE);
}

bool vv_backend_is_inside(void)
{
    return depth != 0;
}

bool vv_backend_is_of(const struct vv_backend_slot *slot, uint32_t number)
{
    return __atomic_load_n(&slot->generation, __ATOMIC_RELAXED) << 8 == (number & ~0xffu);
}

struct vv_backend_slot *vv_backend_enter(uint32_t number)
{
    uint32_t index = (number & 0xffu) - 1;
    struct vv_backend_slot *slot =
        index < VARVE_BACKENDS_MAX ? vv_backend_enter_slot(index) : NULL;
    if (slot == NULL || vv_backend_is_of(slot, number))
        return slot;
    vv_backend_leave(slot);
    return NULL;
}

struct vv_backend_slot *vv_backend_enter_table(const struct varve_backend *backend)
{
    for (uint32_t i = 0; backend != NULL && i < VARVE_BACKENDS_MAX; i++) {
        if (__atomic_load_n(&vv_backend_slots[i].backend, __ATOMIC_RELAXED) != backend)
            continue;
        struct vv_backend_slot *slot = vv_backend_enter_slot(i);
        if (slot != NULL && __atomic_load_n(&slot->backend, __ATOMIC_RELAXED) == backend)
            return slot;
        if (slot != NULL)
            vv_backend_leave(slot);
    }
    return NULL;
}

/* ---- failures ---- */

void vv_backend_note(const struct vv_backend_slot *slot, enum vv_collector_state state,
                     const char *text)
{
    char name[VV_COLLECTOR_NAME_BYTES_MAX + 1];
    snprintf(name, sizeof name, "device %s", slot->name);
    vv_collector_note(name, state, text);
}

static void detach(struct vv_backend_slot *slot, const struct varve_error *error)
{
    char text[VV_COLLECTOR_TEXT_BYTES_MAX + 1];
    if (__atomic_exchange_n(&slot->is_detached, true, __ATOMIC_ACQ_REL))
        return;
    __atomic_store_n(&slot->is_enabled, false, __ATOMIC_RELAXED);
    snprintf(text, sizeof text, "detached: it failed %u times in a row, at last: %.*s",
             VARVE_BACKEND_FAILURES_MAX, (int)(sizeof text - 60), error->message);
    vv_backend_note(slot, VV_COLLECTOR_REFUSED, text);
}

bool vv_backend_account(struct vv_backend_slot *slot, enum varve_code code,
                        const struct varve_error *error)
{
    if (VARVE_UNLIKELY(code == VARVE_INVALID || code == VARVE_NOT_FOUND || code == VARVE_STATE ||
                       code == VARVE_UNSUPPORTED)) {
        VV_BACKEND_COUNT(slot, refused, 1);
        return false;
    }
    if (VARVE_UNLIKELY(code != VARVE_OK)) {
        VV_BACKEND_COUNT(slot, failures, 1);
        if (__atomic_add_fetch(&slot->failures_in_row, 1, __ATOMIC_RELAXED) >=
            VARVE_BACKEND_FAILURES_MAX)
            detach(slot, error);
        return false;
    }
    if (__atomic_load_n(&slot->failures_in_row, __ATOMIC_RELAXED) != 0)
        __atomic_store_n(&slot->failures_in_row, 0, __ATOMIC_RELAXED);
    return true;
}

void vv_backends_forked(void)
{
    for (uint32_t i = 0; i < VARVE_BACKENDS_MAX; i++) {
        struct vv_backend_slot *slot = &vv_backend_slots[i];
        slot->users = 0;
        slot->counts.pending = 0;
        if (slot->backend == NULL || (slot->backend->flags & VARVE_BACKEND_OUTLIVES_FORK) != 0)
            continue;
        slot->backend = NULL;
        vv_backend_count--;
    }
}
