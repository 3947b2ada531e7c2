/* SPDX-License-Identifier: Apache-2.0 */
/* backend.c — the calls of varve/backend.h that add backends, remove them, and tell of them. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "device/builtin.h"
#include "device/fork.h"
#include "device/pending.h"
#include "device/registry.h"
#include "device/stream.h"
#include "device/window.h"
#include "record/stream/recorder.h"
#include "record/text_hash.h"

static enum varve_code check(const struct varve_backend *backend, struct varve_error *error)
{
    if (backend == NULL || backend->struct_size < sizeof *backend)
        VV_FAIL(error, VARVE_INVALID, "varve_backend_register: struct_size is 0 or of an unknown "
                                      "version");
    if (backend->name == NULL || backend->name[0] == '\0')
        VV_FAIL(error, VARVE_INVALID, "varve_backend_register: the name is missing");
    const struct {
        bool is_there;
        const char *name;
    } needed[] = {
        { backend->enabled != NULL, "enabled" },
        { backend->count != NULL, "count" },
        { backend->record != NULL, "record" },
        { backend->query != NULL, "query" },
        { backend->elapsed != NULL, "elapsed" },
        { backend->instant != NULL, "instant" },
        { backend->release != NULL, "release" },
        { backend->synchronize != NULL, "synchronize" },
        { backend->on_each_device != NULL, "on_each_device" },
        { backend->clock != 0 || backend->read_clock != NULL, "read_clock" },
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!needed[i].is_there)
            VV_FAIL(error, VARVE_INVALID, "varve_backend_register: backend '%s' lacks %s",
                    backend->name, needed[i].name);
    if (backend->clock > VARVE_CLOCK_REALTIME)
        VV_FAIL(error, VARVE_INVALID, "varve_backend_register: backend '%s': clock %u is none of "
                                      "VARVE_CLOCK_…; 0 = clocks of the devices",
                backend->name, backend->clock);
    return VARVE_OK;
}

static bool is_same_name(const struct vv_backend_slot *slot, const char *name)
{
    size_t length = strlen(slot->name);
    return length != 0 && strncmp(slot->name, name, length) == 0 &&
           vv_text_cut(name, sizeof slot->name - 1) == length;
}

/* Returns a free slot: the one that this name had, if it is free, because that has its tracks; NULL
 * if there is none. Lock held. */
static struct vv_backend_slot *find_free(const char *name)
{
    struct vv_backend_slot *fresh = NULL, *used = NULL;
    for (uint32_t i = 0; i < VARVE_BACKENDS_MAX; i++) {
        struct vv_backend_slot *slot = &vv_backend_slots[i];
        if (slot->backend != NULL || slot->users != 0)
            continue;
        if (is_same_name(slot, name))
            return slot;
        if (slot->name[0] == '\0' && fresh == NULL)
            fresh = slot;
        else if (used == NULL)
            used = slot;
    }
    return fresh != NULL ? fresh : used;
}

static bool is_registered(const struct varve_backend *backend)
{
    for (uint32_t i = 0; i < VARVE_BACKENDS_MAX; i++) {
        const struct vv_backend_slot *slot = &vv_backend_slots[i];
        if (slot->backend != NULL &&
            (slot->backend == backend || is_same_name(slot, backend->name)))
            return true;
    }
    return false;
}

/* Lock held. Returns the backend's number. */
static uint32_t fill(struct vv_backend_slot *slot, const struct varve_backend *backend)
{
    uint32_t generation = (slot->generation + 1) & 0xffffffu;
    if (!is_same_name(slot, backend->name)) {
        vv_streams_forget(vv_backend_index(slot));
        uint32_t length = vv_text_cut(backend->name, sizeof slot->name - 1);
        memcpy(slot->name, backend->name, length);
        slot->name[length] = '\0';
    }
    memset(&slot->counts, 0, sizeof slot->counts);
    slot->failures_in_row = 0;
    __atomic_store_n(&slot->generation, generation, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->is_detached, false, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->backend, backend, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&vv_backend_count, 1, __ATOMIC_RELAXED);
    return vv_backend_number(vv_backend_index(slot), generation);
}

static enum varve_code add(const struct varve_backend *backend, uint32_t *out_number,
                           struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE, "varve_backend_register: called by a signal handler inside a "
                                    "call of Varve's");
    vv_clock_init(); /* pairs of clocks may come before the first session */
    struct vv_backend_slot *slot = find_free(backend->name);
    if (is_registered(backend))
        code = vv_fail(error, VARVE_EXISTS, "a backend '%s' is registered already", backend->name);
    else if (slot == NULL)
        code = vv_fail(error, VARVE_LIMIT, "at most %u backends", VARVE_BACKENDS_MAX);
    else
        *out_number = fill(slot, backend);
    vv_recorder_unlock();
    return code;
}

VARVE_API enum varve_code varve_backend_register(const struct varve_backend *backend,
                                                 uint32_t *out_backend, struct varve_error *error)
{
    int saved_errno = errno;
    uint32_t number = 0;
    VV_TRY(check(backend, error));
    vv_device_fork_watch();
    VV_TRY(add(backend, &number, error));
    *out_backend = number;
    vv_window_listen_once();
    struct vv_backend_slot *slot = vv_backend_enter(number);
    if (slot != NULL) {
        vv_window_look(slot);
        vv_backend_note(slot, VV_COLLECTOR_ATTACHED, "");
        vv_backend_leave(slot);
    }
    errno = saved_errno;
    return VARVE_OK;
}

VARVE_API enum varve_code varve_backend_open(const char *name, uint32_t *out_backend,
                                             struct varve_error *error)
{
    const struct varve_backend *backend;
    int saved_errno = errno;
    enum varve_code code = vv_backend_builtin(name, &backend, error);
    errno = saved_errno;
    VV_TRY(code);
    struct varve_error failure;
    code = varve_backend_register(backend, out_backend, &failure);
    if (code == VARVE_EXISTS) {
        struct vv_backend_slot *slot = vv_backend_enter_table(backend);
        if (slot != NULL) {
            *out_backend = vv_backend_number(vv_backend_index(slot), slot->generation);
            vv_backend_leave(slot);
            return VARVE_OK;
        }
    }
    if (code != VARVE_OK && error != NULL)
        *error = failure;
    return code;
}

VARVE_API enum varve_code varve_backend_unregister(uint32_t number, struct varve_error *error)
{
    int saved_errno = errno;
    uint32_t index = (number & 0xffu) - 1;
    if (vv_backend_is_inside())
        VV_FAIL(error, VARVE_STATE, "varve_backend_unregister: called by a function of a backend");
    struct vv_backend_slot *slot = &vv_backend_slots[index % VARVE_BACKENDS_MAX];
    const struct varve_backend *backend = __atomic_load_n(&slot->backend, __ATOMIC_RELAXED);
    if (index >= VARVE_BACKENDS_MAX || backend == NULL || !vv_backend_is_of(slot, number))
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_backend_unregister: there is no backend %u", number);
    vv_pending_settle_all(index, VV_PENDING_DROPS);
    if (!__atomic_compare_exchange_n(&slot->backend, &backend, NULL, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED))
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_backend_unregister: backend %u goes already",
                number);
    __atomic_fetch_sub(&vv_backend_count, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&slot->users, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
    errno = saved_errno;
    return VARVE_OK;
}

VARVE_API const struct varve_backend *varve_backend_table(uint32_t number)
{
    struct vv_backend_slot *slot = vv_backend_enter(number);
    if (slot == NULL)
        return NULL;
    const struct varve_backend *backend = slot->backend;
    vv_backend_leave(slot);
    return backend;
}

VARVE_API enum varve_code varve_backend_stats_read(uint32_t number,
                                                   struct varve_backend_stats *out_stats,
                                                   struct varve_error *error)
{
    struct vv_backend_slot *slot = &vv_backend_slots[((number & 0xffu) - 1) % VARVE_BACKENDS_MAX];
    if (out_stats == NULL || out_stats->struct_size < sizeof *out_stats)
        VV_FAIL(error, VARVE_INVALID, "varve_backend_stats_read: struct_size is 0 or of an unknown "
                                      "version");
    if (__atomic_load_n(&slot->backend, __ATOMIC_RELAXED) == NULL ||
        !vv_backend_is_of(slot, number))
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_backend_stats_read: there is no backend %u", number);
#define VV_READ(name) out_stats->name = __atomic_load_n(&slot->counts.name, __ATOMIC_RELAXED);
    VV_BACKEND_COUNTS(VV_READ)
#undef VV_READ
    out_stats->devices = slot->device_count;
    out_stats->is_enabled = __atomic_load_n(&slot->is_enabled, __ATOMIC_RELAXED);
    out_stats->is_detached = __atomic_load_n(&slot->is_detached, __ATOMIC_RELAXED);
    return VARVE_OK;
}
