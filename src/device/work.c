/* SPDX-License-Identifier: Apache-2.0 */
/* work.c — the calls of varve/backend.h that say what a program starts on a device. */
#include <errno.h>

#include "base/error.h"
#include "device/activity.h"
#include "device/pending.h"
#include "record/stream/recorder.h"
#include "record/string.h"
#include "record/thread.h"

/* Launch numbers of the library's own: above those that a program may count, and still exact in a
 * double. */
#define FIRST_CORRELATION (UINT64_C(1) << 52)
#define SETTLED_AT_END 4u

static uint64_t correlations; /* atomic                                                         */
static void refuse(uint64_t records)
{
    vv_thread_discard(&vv_self, records);
}

/* Enters the work's backend and takes a place. NULL: the backend is off, or it was counted. */
static struct vv_pending *start(const struct varve_device_work *work,
                                struct vv_backend_slot **out_slot)
{
    if (work == NULL || work->struct_size < sizeof *work) {
        refuse(1);
        return NULL;
    }
    uint32_t name = vv_string_of(work->name); /* before the event: this may take time */
    struct vv_backend_slot *slot = vv_backend_enter(work->backend);
    if (slot == NULL) {
        refuse(1);
        return NULL;
    }
    if (!__atomic_load_n(&slot->is_enabled, __ATOMIC_RELAXED)) {
        vv_backend_leave(slot);
        return NULL;
    }
    struct vv_pending *pending = name != 0 ? vv_pending_take() : NULL;
    VV_BACKEND_COUNT(slot, begun, 1);
    if (pending == NULL) {
        VV_BACKEND_COUNT(slot, lost, 1);
        refuse(1);
        vv_backend_leave(slot);
        return NULL;
    }
    pending->slot = vv_backend_index(slot);
    pending->generation = slot->generation;
    pending->name = name;
    pending->kind = work->kind;
    pending->bytes = work->bytes;
    pending->serial = __atomic_load_n(&vv_session.serial, __ATOMIC_RELAXED);
    pending->correlation = 0;
    pending->begin.backend = pending->end.backend = NULL;
    *out_slot = slot;
    return pending;
}

/* The place is given back; what was asked of the backend failed. */
static void abandon(struct vv_backend_slot *slot, struct vv_pending *pending)
{
    VV_BACKEND_COUNT(slot, lost, 1);
    refuse(1);
    if (pending->begin.backend != NULL)
        slot->backend->release(slot->backend, &pending->begin);
    vv_pending_give(pending);
    vv_backend_leave(slot);
}

static void launch(struct vv_pending *pending)
{
    pending->correlation = FIRST_CORRELATION + __atomic_add_fetch(&correlations, 1,
                                                                  __ATOMIC_RELAXED);
    varve_emit_launch(pending->correlation);
}

static bool record(struct vv_backend_slot *slot, const struct varve_device_place *place,
                   struct varve_device_event *out_event)
{
    struct varve_error error = { .message = "" };
    const struct varve_backend *backend = slot->backend;
    enum varve_code code = backend->record(backend, place, out_event, NULL, &error);
    if (code != VARVE_OK)
        out_event->backend = NULL;
    return vv_backend_account(slot, code, &error);
}

static bool record_begin(struct vv_backend_slot *slot, const struct varve_device_work *work,
                         struct vv_pending *pending)
{
    const struct varve_device_place place = { work->device, 0, work->stream };
    if (!record(slot, &place, &pending->begin))
        return false;
    pending->row =
        vv_stream_find(pending->slot, pending->begin.device, pending->begin.stream, NULL);
    return pending->row != NULL;
}

VARVE_API uint64_t varve_emit_device_begin(const struct varve_device_work *work)
{
    int saved_errno = errno;
    uint64_t number = 0;
    struct vv_backend_slot *slot;
    struct vv_pending *pending = start(work, &slot);
    if (pending != NULL && record_begin(slot, work, pending)) {
        VV_BACKEND_COUNT(slot, pending, 1);
        launch(pending);
        number = vv_pending_open(pending);
        vv_backend_leave(slot);
    } else if (pending != NULL) {
        abandon(slot, pending);
    }
    errno = saved_errno;
    return number;
}

static void end(struct vv_pending *pending)
{
    struct vv_stream_row *row = pending->row;
    struct vv_backend_slot *slot =
        vv_backend_enter(vv_backend_number(pending->slot, pending->generation));
    const struct varve_device_place place = { pending->begin.device, 0, pending->begin.stream };
    if (slot == NULL) { /* gone, or detached: pending.c counts it */
        vv_pending_end(pending);
    } else if (record(slot, &place, &pending->end)) {
        vv_pending_end(pending);
        vv_backend_leave(slot);
    } else {
        VV_BACKEND_COUNT(slot, pending, UINT64_MAX);
        abandon(slot, pending);
        return;
    }
    (void)vv_pending_settle(row, VV_PENDING_COMPLETE, SETTLED_AT_END);
}

VARVE_API void varve_emit_device_end(uint64_t number)
{
    int saved_errno = errno;
    struct vv_pending *pending = vv_pending_close(number);
    if (pending != NULL)
        end(pending);
    errno = saved_errno;
}

VARVE_API void varve_emit_device_event(const struct varve_device_work *work, void *native_event)
{
    int saved_errno = errno;
    struct varve_error error = { .message = "" };
    struct vv_backend_slot *slot;
    struct vv_pending *pending = start(work, &slot);
    if (pending != NULL) {
        const struct varve_backend *backend = slot->backend;
        enum varve_code code = VARVE_UNSUPPORTED;
        if (backend->adopt != NULL)
            code = backend->adopt(backend, native_event, &pending->begin, &error);
        if (code != VARVE_OK)
            pending->begin.backend = NULL;
        else
            pending->row = vv_stream_find(pending->slot, pending->begin.device,
                                          pending->begin.stream, NULL);
        if (!vv_backend_account(slot, code, &error) || pending->row == NULL) {
            abandon(slot, pending);
        } else {
            struct vv_stream_row *row = pending->row;
            VV_BACKEND_COUNT(slot, pending, 1);
            launch(pending);
            vv_pending_end(pending);
            vv_backend_leave(slot);
            (void)vv_pending_settle(row, VV_PENDING_COMPLETE, SETTLED_AT_END);
        }
    }
    errno = saved_errno;
}

/* ---- ranges and marks ---- */

/* Calls the backend's own function for the vendor's tools. */
static void tell_vendor(uint32_t number, void (*call)(const struct varve_backend *, const char *),
                        const char *name)
{
    struct vv_backend_slot *slot = vv_backend_enter(number);
    if (slot == NULL)
        return;
    call(slot->backend, name);
    vv_backend_leave(slot);
}

static void call_push(const struct varve_backend *backend, const char *name)
{
    if (backend->push != NULL)
        backend->push(backend, name != NULL ? name : "");
}

static void call_pop(const struct varve_backend *backend, const char *name)
{
    (void)name;
    if (backend->pop != NULL)
        backend->pop(backend);
}

static void call_mark(const struct varve_backend *backend, const char *name)
{
    if (backend->mark != NULL)
        backend->mark(backend, name != NULL ? name : "");
}

/* The innermost open range of this thread: a place of the pool of its own, whose `next` is the one
 * around it, `correlation` the number of its work (0 = not recorded), `slot` the backend's number.
 * A library that is loaded late has little thread-local memory. */
static _Thread_local struct vv_pending *innermost;
static _Thread_local uint32_t unplaced; /* ranges inside it that got no place                   */

VARVE_API void varve_device_push(const struct varve_device_work *work)
{
    if (work == NULL || work->struct_size < sizeof *work)
        return;
    int saved_errno = errno;
    struct varve_device_work range = *work;
    struct vv_pending *place = unplaced == 0 ? vv_pending_take() : NULL;
    if (place != NULL) {
        range.kind = VARVE_ACTIVITY_RANGE;
        tell_vendor(work->backend, call_push, work->name);
        place->slot = work->backend;
        place->correlation = varve_device_begin(&range);
        place->next = innermost;
        innermost = place;
    } else {
        unplaced++;
        refuse(1);
    }
    errno = saved_errno;
}

VARVE_API void varve_device_pop(void)
{
    int saved_errno = errno;
    struct vv_pending *place = innermost;
    if (unplaced > 0) {
        unplaced--;
    } else if (place != NULL) {
        innermost = place->next;
        varve_device_end(place->correlation);
        tell_vendor(place->slot, call_pop, NULL);
        vv_pending_give(place);
    }
    errno = saved_errno;
}

void vv_work_forked(void)
{
    innermost = NULL;
    unplaced = 0;
}

VARVE_API void varve_emit_device_mark(const struct varve_device_work *work)
{
    int saved_errno = errno;
    struct vv_backend_slot *slot;
    struct vv_pending *pending = start(work, &slot);
    if (pending != NULL && record_begin(slot, work, pending)) {
        struct vv_stream_row *row = pending->row;
        pending->kind = VARVE_ACTIVITY_RANGE;
        VV_BACKEND_COUNT(slot, pending, 1);
        vv_pending_end(pending);
        vv_backend_leave(slot);
        tell_vendor(work->backend, call_mark, work->name);
        (void)vv_pending_settle(row, VV_PENDING_COMPLETE, SETTLED_AT_END);
    } else if (pending != NULL) {
        abandon(slot, pending);
    }
    errno = saved_errno;
}

/* ---- events ---- */

VARVE_API enum varve_code varve_event_record(uint32_t number,
                                             const struct varve_device_place *place,
                                             struct varve_device_event *out_event,
                                             int64_t *out_host_ns, struct varve_error *error)
{
    if (place == NULL || out_event == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_event_record: the place or the event is NULL");
    struct vv_backend_slot *slot = vv_backend_enter(number);
    if (slot == NULL)
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_event_record: there is no backend %u", number);
    int saved_errno = errno;
    struct varve_error failure = { .message = "" };
    enum varve_code code =
        slot->backend->record(slot->backend, place, out_event, out_host_ns, &failure);
    if (!vv_backend_account(slot, code, &failure) && error != NULL)
        *error = failure;
    vv_backend_leave(slot);
    errno = saved_errno;
    return code;
}

VARVE_API enum varve_code varve_event_elapsed(const struct varve_device_event *from,
                                              const struct varve_device_event *to, int64_t *out_ns,
                                              struct varve_error *error)
{
    if (from == NULL || to == NULL || out_ns == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_event_elapsed: an argument is NULL");
    struct vv_backend_slot *slot = vv_backend_enter_table(from->backend);
    if (slot == NULL)
        VV_FAIL(error, VARVE_NOT_FOUND, "varve_event_elapsed: the event's backend is gone");
    int saved_errno = errno;
    struct varve_error failure = { .message = "" };
    enum varve_code code;
    if (to->backend != from->backend)
        code = vv_fail(&failure, VARVE_INVALID,
                       "varve_event_elapsed: the events are of two backends");
    else
        code = slot->backend->elapsed(slot->backend, from, to, out_ns, &failure);
    if (!vv_backend_account(slot, code, &failure) && error != NULL)
        *error = failure;
    vv_backend_leave(slot);
    errno = saved_errno;
    return code;
}

VARVE_API void varve_event_release(struct varve_device_event *event)
{
    struct vv_backend_slot *slot = event != NULL ? vv_backend_enter_table(event->backend) : NULL;
    if (slot == NULL)
        return;
    int saved_errno = errno;
    slot->backend->release(slot->backend, event);
    event->backend = NULL;
    vv_backend_leave(slot);
    errno = saved_errno;
}
