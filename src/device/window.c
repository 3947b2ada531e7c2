/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of varve/backend.h that wait for devices are here, too.
 *
 * If two threads change windows at the same instant, the second one does not wait for the first:
 * its devices are being waited for. */
#include "device/window.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/try_lock.h"
#include "device/pending.h"
#include "record/control/window.h"

static int turn; /* base/try_lock.h */

/* ---- one backend ---- */

static void read_clock(struct vv_backend_slot *slot, uint32_t device)
{
    const struct varve_backend *backend = slot->backend;
    struct varve_clock_reading reading;
    struct varve_error error = { .message = "" };
    uint32_t clock = vv_device_clock_of(vv_backend_index(slot), device);
    if (backend->clock != 0 || clock == 0)
        return;
    if (vv_backend_account(slot, backend->read_clock(backend, device, &reading, &error), &error))
        varve_clock_pair(clock, reading.value, reading.ticks, reading.uncertainty_ns);
}

static void visit(uint32_t device, void *slot)
{
    read_clock(slot, device);
}

void vv_window_look(struct vv_backend_slot *slot)
{
    const struct varve_backend *backend = slot->backend;
    uint32_t count = backend->count(backend);
    slot->device_count = count < VARVE_BACKEND_DEVICES_MAX ? count : VARVE_BACKEND_DEVICES_MAX;
    bool is_enabled = backend->enabled(backend) != 0;
    __atomic_store_n(&slot->is_enabled, is_enabled, __ATOMIC_RELAXED);
    for (uint32_t i = 0; is_enabled && i < slot->device_count; i++)
        read_clock(slot, i);
}

static void keep_first(enum varve_code code, const struct varve_error *failure,
                       enum varve_code *first, struct varve_error *error)
{
    if (code == VARVE_OK || *first != VARVE_OK)
        return;
    *first = code;
    if (error != NULL)
        *error = *failure;
}

static enum varve_code synchronize(struct vv_backend_slot *slot, struct varve_error *error)
{
    const struct varve_backend *backend = slot->backend;
    enum varve_code first = VARVE_OK;
    for (uint32_t i = 0; i < slot->device_count; i++) {
        struct varve_error failure = { .message = "" };
        enum varve_code code = backend->synchronize(backend, i, &failure);
        (void)vv_backend_account(slot, code, &failure);
        keep_first(code, &failure, &first, error);
    }
    return first;
}

static enum varve_code each_device(struct vv_backend_slot *slot,
                                   void (*function)(uint32_t device, void *argument),
                                   void *argument, struct varve_error *error)
{
    struct varve_error failure = { .message = "" };
    enum varve_code code =
        slot->backend->on_each_device(slot->backend, function, argument, &failure);
    if (!vv_backend_account(slot, code, &failure) && error != NULL)
        *error = failure;
    return code;
}

/* What the device has in buffers of its own. */
static enum varve_code empty_buffers(struct vv_backend_slot *slot, struct varve_error *error)
{
    struct varve_error failure = { .message = "" };
    if (slot->backend->flush == NULL)
        return VARVE_OK;
    enum varve_code code = slot->backend->flush(slot->backend, 1, &failure);
    if (!vv_backend_account(slot, code, &failure) && error != NULL)
        *error = failure;
    return code;
}

/* ---- all backends ---- */

static bool is_on(const struct vv_backend_slot *slot)
{
    return __atomic_load_n(&slot->is_enabled, __ATOMIC_RELAXED);
}

typedef enum varve_code vv_backend_visit(struct vv_backend_slot *slot, void *argument,
                                         struct varve_error *error);

/* `number` 0: all that are enabled. */
static enum varve_code visit_backends(uint32_t number, vv_backend_visit *function, void *argument,
                                      struct varve_error *error)
{
    enum varve_code first = VARVE_OK;
    int saved_errno = errno;
    for (uint32_t i = 0; i < VARVE_BACKENDS_MAX; i++) {
        struct varve_error failure = { .message = "" };
        struct vv_backend_slot *slot =
            number == 0 ? vv_backend_enter_slot(i) : vv_backend_enter(number);
        if (slot == NULL && number != 0)
            VV_FAIL(error, VARVE_NOT_FOUND, "there is no backend %u, or it is detached", number);
        if (slot == NULL)
            continue;
        if (number != 0 || is_on(slot))
            keep_first(function(slot, argument, &failure), &failure, &first, error);
        vv_backend_leave(slot);
        if (number != 0)
            break;
    }
    errno = saved_errno;
    return first;
}

static enum varve_code wait(struct vv_backend_slot *slot, void *unused, struct varve_error *error)
{
    (void)unused;
    return synchronize(slot, error);
}

static enum varve_code wait_and_tell(struct vv_backend_slot *slot, void *unused,
                                     struct varve_error *error)
{
    (void)unused;
    enum varve_code code = synchronize(slot, error);
    vv_pending_settle_all(vv_backend_index(slot), VV_PENDING_WAITS);
    if (code == VARVE_OK)
        code = empty_buffers(slot, error);
    return code;
}

/* All devices were waited for. */
static enum varve_code begin_together(struct vv_backend_slot *slot, void *unused,
                                      struct varve_error *error)
{
    (void)unused;
    VV_BACKEND_COUNT(slot, windows, 1);
    return each_device(slot, visit, slot, error);
}

static enum varve_code look(struct vv_backend_slot *slot, void *unused, struct varve_error *error)
{
    (void)unused;
    (void)error;
    bool is_enabled = slot->backend->enabled(slot->backend) != 0;
    __atomic_store_n(&slot->is_enabled, is_enabled, __ATOMIC_RELAXED);
    return VARVE_OK;
}

static void look_at_all(void)
{
    for (uint32_t i = 0; i < VARVE_BACKENDS_MAX; i++) {
        struct vv_backend_slot *slot = vv_backend_enter_slot(i);
        if (slot == NULL)
            continue;
        (void)look(slot, NULL, NULL);
        vv_backend_leave(slot);
    }
}

/* Failures are counted where they happen; a window begins all the same. */
static void change_window(bool ends)
{
    if (!vv_backends_any() || vv_backend_is_inside() || !vv_turn_take(&turn))
        return;
    look_at_all();
    (void)visit_backends(0, ends ? wait_and_tell : wait, NULL, NULL);
    (void)visit_backends(0, begin_together, NULL, NULL);
    vv_turn_give(&turn);
}

/* The last occasion. The device's library may go next, so this waits for nothing; work that is not
 * complete is counted. */
static void on_exit_of_program(void)
{
    if (vv_backends_any() && !vv_backend_is_inside())
        vv_pending_settle_all(UINT32_MAX, VV_PENDING_DROPS);
}

void vv_window_listen_once(void)
{
    static bool is_done;
    if (__atomic_exchange_n(&is_done, true, __ATOMIC_RELAXED))
        return;
    vv_window_listen(change_window);
    (void)!atexit(on_exit_of_program);
}

/* ---- the interface ---- */

VARVE_API enum varve_code varve_backend_track(uint32_t backend,
                                              const struct varve_device_place *place,
                                              const char *name, uint32_t *out_track,
                                              struct varve_error *error)
{
    if (place == NULL || out_track == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_backend_track: an argument is NULL");
    struct vv_backend_slot *slot = vv_backend_enter(backend);
    if (slot == NULL)
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_backend_track: there is no backend %u", backend);
    const struct vv_stream_row *row = NULL;
    bool is_there = place->device < slot->device_count;
    if (is_there)
        row = vv_stream_find(vv_backend_index(slot), place->device, place->stream, name);
    vv_backend_leave(slot);
    if (!is_there)
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_backend_track: there is no device %u",
                place->device);
    if (row == NULL)
        VV_FAIL(error, VARVE_LIMIT, "varve_backend_track: at most %u tracks of devices",
                VARVE_DEVICE_TRACKS_MAX);
    *out_track = row->track;
    return VARVE_OK;
}

VARVE_API void varve_device_poll(void)
{
    if (!vv_backends_any())
        return;
    int saved_errno = errno;
    vv_pending_try_all();
    errno = saved_errno;
}

static enum varve_code flush(struct vv_backend_slot *slot, void *unused, struct varve_error *error)
{
    enum varve_code code = wait_and_tell(slot, unused, error);
    struct varve_error *rest = code == VARVE_OK ? error : NULL;
    enum varve_code visited = each_device(slot, visit, slot, rest);
    return code != VARVE_OK ? code : visited;
}

VARVE_API enum varve_code varve_device_flush(uint32_t backend, struct varve_error *error)
{
    return visit_backends(backend, flush, NULL, error);
}

VARVE_API enum varve_code varve_devices_synchronize(uint32_t backend, struct varve_error *error)
{
    return visit_backends(backend, wait, NULL, error);
}

struct visitor {
    void (*function)(uint32_t device, void *argument);
    void *argument;
};

static enum varve_code visit_devices(struct vv_backend_slot *slot, void *visitor,
                                     struct varve_error *error)
{
    const struct visitor *of = visitor;
    return each_device(slot, of->function, of->argument, error);
}

VARVE_API enum varve_code varve_devices_each(uint32_t backend,
                                             void (*function)(uint32_t device, void *argument),
                                             void *argument, struct varve_error *error)
{
    struct visitor visitor = { function, argument };
    if (function == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_devices_each: the function is NULL");
    return visit_backends(backend, visit_devices, &visitor, error);
}
