/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h — the backends that are registered, and what each has done.
 *
 * A slot's backend is called between vv_backend_enter and vv_backend_leave. Unregistering takes the
 * backend out of its slot and waits until nobody is inside; nothing else waits. A number is
 * (generation of the slot << 8) + slot + 1, so that an old one is not taken for a new one. */
#ifndef VV_DEVICE_REGISTRY_H
#define VV_DEVICE_REGISTRY_H

#include <stdbool.h>

#include "base/must_use.h"
#include "ctf/layout.h"
#include "varve/backend.h"

/* Counts, each changed by one atomic addition. */
#define VV_BACKEND_COUNTS(X)                                                                       \
    X(begun) X(recorded) X(pending) X(lost) X(negative) X(refused) X(failures) X(windows)          \
    X(total_ns)

struct vv_backend_slot {
    const struct varve_backend *backend; /* NULL: free, or going; atomic                         */
    uint32_t users;                      /* calls inside; atomic                                 */
    uint32_t generation;                 /* atomic                                               */
    uint32_t device_count;
    bool is_enabled, is_detached;        /* atomic                                               */
    uint32_t failures_in_row;            /* atomic                                               */
    char name[24];                       /* of the last backend; "" = there was none             */
    struct {
#define VV_COUNT(name) uint64_t name;
        VV_BACKEND_COUNTS(VV_COUNT)
#undef VV_COUNT
    } counts;
};

extern struct vv_backend_slot vv_backend_slots[VARVE_BACKENDS_MAX];
extern uint32_t vv_backend_count; /* registered; atomic                                          */

#define VV_BACKEND_COUNT(slot, name, more) \
    ((void)__atomic_fetch_add(&(slot)->counts.name, (more), __ATOMIC_RELAXED))

/* NULL: there is no such backend, it is detached, or it goes just now. */
VV_MUST_USE struct vv_backend_slot *vv_backend_enter(uint32_t number);
/* The same for a table; NULL if it is not registered. */
VV_MUST_USE struct vv_backend_slot *vv_backend_enter_table(const struct varve_backend *backend);
/* The slot's backend, whatever its number; NULL likewise. */
VV_MUST_USE struct vv_backend_slot *vv_backend_enter_slot(uint32_t index);
void vv_backend_leave(struct vv_backend_slot *slot);
/* Does the number, perhaps an old one, mean this slot's backend? */
bool vv_backend_is_of(const struct vv_backend_slot *slot, uint32_t number);
/* Is the calling thread in a function of a backend? */
bool vv_backend_is_inside(void);
static inline uint32_t vv_backend_number(uint32_t index, uint32_t generation)
{
    return generation << 8 | (index + 1);
}
static inline uint32_t vv_backend_index(const struct vv_backend_slot *slot)
{
    return (uint32_t)(slot - vv_backend_slots);
}

/* Keeps account of a call's code: `error` says what failed, for the trace. The caller is inside.
 * Returns whether the call succeeded. */
VV_MUST_USE bool vv_backend_account(struct vv_backend_slot *slot, enum varve_code code,
                                    const struct varve_error *error);

/* Says in the trace how the slot's backend fares. */
void vv_backend_note(const struct vv_backend_slot *slot, enum vv_collector_state state,
                     const char *text);

static inline bool vv_backends_any(void)
{
    return __atomic_load_n(&vv_backend_count, __ATOMIC_RELAXED) != 0;
}

/* In a forked child: forgets who was inside, and the backends that do not outlive a fork. */
void vv_backends_forked(void);

#endif
