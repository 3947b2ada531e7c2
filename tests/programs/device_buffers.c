/* SPDX-License-Identifier: Apache-2.0 */
/* device_buffers.c — a program whose device tells of its work by itself: kernels and values of
 * counters lie in a buffer of the device, and its backend's `flush` hands them on, the last one
 * first. tests/device records it and compares the trace with what it prints.
 *
 * The device's clock is CLOCK_MONOTONIC less an hour. Each step launches a kernel on each of two
 * streams of two devices, and each kernel has two values of a counter. Lines: "kernel" with name,
 * track's name, begin and end; "counter" with name, track's name, time and value; "told" with the
 * records that the trace had got before each flush. Arguments: number of steps; "kill" to die by
 * SIGKILL after the last flush. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "varve/backend.h"

#define HOUR_NS INT64_C(3600000000000)
#define DEVICES 2
#define STREAMS 2
#define BUFFER 64

VARVE_SITE(op_site, "attention", VARVE_LAYER_OP);

/* A kernel, or a value of a counter. */
struct entry {
    int is_counter;
    uint32_t device, stream;
    int64_t begin, end;
    double value;
    uint64_t correlation;
};

static struct entry buffer[BUFFER];
static size_t used, handed_on;
static char streams[STREAMS];
static uint32_t backend_number;

static int64_t device_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - HOUR_NS;
}

static void name_track(const struct entry *entry, char *name, size_t bytes)
{
    snprintf(name, bytes, "npu-%" PRIu32 "-queue-%" PRIu32, entry->device, entry->stream);
}

/* ---- the backend ---- */

static int enabled(const struct varve_backend *backend)
{
    return backend != NULL;
}

static uint32_t count(const struct varve_backend *backend)
{
    (void)backend;
    return DEVICES;
}

/* The device has no events that a program could put on a stream. */
static enum varve_code record(const struct varve_backend *backend,
                              const struct varve_device_place *place,
                              struct varve_device_event *out, int64_t *out_host_ns,
                              struct varve_error *error)
{
    (void)backend, (void)place, (void)out, (void)out_host_ns, (void)error;
    return VARVE_UNSUPPORTED;
}

static enum varve_code query(const struct varve_backend *backend,
                             const struct varve_device_event *event, int *out_is_complete,
                             struct varve_error *error)
{
    (void)backend, (void)event, (void)out_is_complete, (void)error;
    return VARVE_UNSUPPORTED;
}

static enum varve_code elapsed(const struct varve_backend *backend,
                               const struct varve_device_event *from,
                               const struct varve_device_event *to, int64_t *out_ns,
                               struct varve_error *error)
{
    (void)backend, (void)from, (void)to, (void)out_ns, (void)error;
    return VARVE_UNSUPPORTED;
}

static enum varve_code instant(const struct varve_backend *backend,
                               const struct varve_device_event *event, int64_t *out_begin,
                               int64_t *out_end, struct varve_error *error)
{
    (void)backend, (void)event, (void)out_begin, (void)out_end, (void)error;
    return VARVE_UNSUPPORTED;
}

static void release(const struct varve_backend *backend, struct varve_device_event *event)
{
    (void)backend, (void)event;
}

static enum varve_code synchronize(const struct varve_backend *backend, uint32_t device,
                                   struct varve_error *error)
{
    (void)backend, (void)device, (void)error;
    return VARVE_OK;
}

static enum varve_code on_each_device(const struct varve_backend *backend,
                                      void (*visit)(uint32_t device, void *argument),
                                      void *argument, struct varve_error *error)
{
    (void)backend, (void)error;
    for (uint32_t i = 0; i < DEVICES; i++)
        visit(i, argument);
    return VARVE_OK;
}

static enum varve_code read_clock(const struct varve_backend *backend, uint32_t device,
                                  struct varve_clock_reading *out, struct varve_error *error)
{
    (void)backend, (void)device, (void)error;
    uint64_t before = varve_ticks();
    out->value = device_now();
    out->ticks = before + (varve_ticks() - before) / 2;
    out->uncertainty_ns = 200;
    return VARVE_OK;
}

static enum varve_code hand_on(const struct entry *entry, struct varve_error *error)
{
    char name[40];
    uint32_t track;
    const struct varve_device_place place = { entry->device, 0, &streams[entry->stream] };
    name_track(entry, name, sizeof name);
    enum varve_code code = varve_backend_track(backend_number, &place, name, &track, error);
    if (code != VARVE_OK)
        return code;
    if (entry->is_counter) {
        const struct varve_device_counter_info info = { sizeof info, track, "power (W)",
                                                        entry->begin, entry->value };
        varve_device_counter(&info);
        return VARVE_OK;
    }
    const struct varve_activity_info info = { sizeof info, track, "softmax",
                                              VARVE_ACTIVITY_KERNEL, 0, entry->begin, entry->end,
                                              entry->correlation, 0 };
    varve_activity(&info);
    return VARVE_OK;
}

/* The last entry first. */
static enum varve_code flush(const struct varve_backend *backend, int waits,
                             struct varve_error *error)
{
    enum varve_code code = VARVE_OK;
    (void)backend, (void)waits;
    for (; used > 0 && code == VARVE_OK; used--, handed_on++)
        code = hand_on(&buffer[used - 1], error);
    return code;
}

static const struct varve_backend npu = {
    .struct_size = sizeof npu, .device_kind = VARVE_DEVICE_KIND_OTHER, .name = "npu",
    .resolution_ns = 1, .enabled = enabled, .count = count, .record = record, .query = query,
    .elapsed = elapsed, .instant = instant, .release = release, .synchronize = synchronize,
    .on_each_device = on_each_device, .read_clock = read_clock, .flush = flush,
};

/* ---- the program ---- */

static void put(struct entry entry)
{
    char name[40];
    name_track(&entry, name, sizeof name);
    buffer[used++] = entry;
    if (entry.is_counter)
        printf("counter power %s %" PRId64 " %.17g\n", name, entry.begin, entry.value);
    else
        printf("kernel softmax %s %" PRId64 " %" PRId64 "\n", name, entry.begin, entry.end);
}

static void launch(uint32_t device, uint32_t stream, long step)
{
    static uint64_t correlations;
    varve_begin(&op_site);
    varve_launch(++correlations);
    varve_end();
    struct entry kernel = { 0, device, stream, device_now(), 0, 0, correlations };
    kernel.end = kernel.begin + 1000 * (1 + stream);
    put(kernel);
    for (int i = 1; i >= 0; i--) {
        struct entry value = { 1, device, stream, kernel.begin + 100 * i, 0,
                               (double)step + 0.125 * i + 100 * device + 10 * stream, 0 };
        put(value);
    }
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    struct varve_error error;
    if (varve_backend_register(&npu, &backend_number, &error) != VARVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (long step = 0; step < steps; step++) {
        for (uint32_t i = 0; i < DEVICES * STREAMS; i++)
            launch(i / STREAMS, i % STREAMS, step);
        printf("told %zu\n", handed_on);
        if (varve_device_flush(backend_number, &error) != VARVE_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
    }
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    return 0;
}
