/* SPDX-License-Identifier: Apache-2.0 */
#include "device/host/host.h"

#include <time.h>

#include "base/error.h"
#include "base/system/clock.h"

static int is_enabled(const struct varve_backend *backend)
{
    (void)backend;
    return 1;
}

static uint32_t count(const struct varve_backend *backend)
{
    (void)backend;
    return 1;
}

static enum varve_code check_device(uint32_t device, struct varve_error *error)
{
    if (device != 0 && device != VARVE_DEVICE_ANY)
        VV_FAIL(error, VARVE_NOT_FOUND, "host: there is no device %u, but one", device);
    return VARVE_OK;
}

static enum varve_code check_event(const struct varve_backend *backend,
                                   const struct varve_device_event *event,
                                   struct varve_error *error)
{
    if (event == NULL || event->backend != backend)
        VV_FAIL(error, VARVE_INVALID, "host: the event is another backend's");
    return VARVE_OK;
}

static enum varve_code record(const struct varve_backend *backend,
                              const struct varve_device_place *place,
                              struct varve_device_event *out_event, int64_t *out_host_ns,
                              struct varve_error *error)
{
    VV_TRY(check_device(place->device, error));
    uint64_t now_ns = vv_clock_monotonic_ns();
    *out_event = (struct varve_device_event){ backend, 0, 0, place->stream, { now_ns, 0, 0, 0 } };
    if (out_host_ns != NULL)
        *out_host_ns = (int64_t)now_ns;
    return VARVE_OK;
}

static enum varve_code query(const struct varve_backend *backend,
                             const struct varve_device_event *event, int *out_is_complete,
                             struct varve_error *error)
{
    VV_TRY(check_event(backend, event, error));
    *out_is_complete = 1;
    return VARVE_OK;
}

static enum varve_code elapsed(const struct varve_backend *backend,
                               const struct varve_device_event *from,
                               const struct varve_device_event *to, int64_t *out_ns,
                               struct varve_error *error)
{
    VV_TRY(check_event(backend, from, error));
    VV_TRY(check_event(backend, to, error));
    *out_ns = (int64_t)(to->words[0] - from->words[0]);
    return VARVE_OK;
}

static enum varve_code instant(const struct varve_backend *backend,
                               const struct varve_device_event *event, int64_t *out_begin,
                               int64_t *out_end, struct varve_error *error)
{
    VV_TRY(check_event(backend, event, error));
    *out_begin = *out_end = (int64_t)event->words[0];
    return VARVE_OK;
}

static void release(const struct varve_backend *backend, struct varve_device_event *event)
{
    (void)backend;
    event->backend = NULL;
}

/* A device of threads that record their own events has never more to do than has been done. */
static enum varve_code synchronize(const struct varve_backend *backend, uint32_t device,
                                   struct varve_error *error)
{
    (void)backend;
    return check_device(device, error);
}

static enum varve_code on_each_device(const struct varve_backend *backend,
                                      void (*visit)(uint32_t device, void *argument),
                                      void *argument, struct varve_error *error)
{
    (void)backend;
    (void)error;
    visit(0, argument);
    return VARVE_OK;
}

enum varve_code vv_host_open(const struct varve_backend **out_backend, struct varve_error *error)
{
    static const struct varve_backend host = {
        .struct_size = sizeof host,
        .device_kind = VARVE_DEVICE_KIND_CPU,
        .name = "host",
        .flags = VARVE_BACKEND_OUTLIVES_FORK,
        .clock = VARVE_CLOCK_MONOTONIC,
        .resolution_ns = 1,
        .enabled = is_enabled,
        .count = count,
        .record = record,
        .query = query,
        .elapsed = elapsed,
        .instant = instant,
        .release = release,
        .synchronize = synchronize,
        .on_each_device = on_each_device,
    };
    (void)error;
    *out_backend = &host;
    return VARVE_OK;
}
