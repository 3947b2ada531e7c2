/* SPDX-License-Identifier: Apache-2.0 */
#include "toy.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "simulated_stream.h"

struct toy_state toy;

static struct sim_stream streams[TOY_DEVICES][TOY_STREAMS];
static uint32_t current;

static enum toy_break break_of(const struct varve_backend *backend)
{
    return (enum toy_break)(uintptr_t)backend->context;
}

static bool is(const struct varve_backend *backend, enum toy_break how)
{
    return break_of(backend) == how;
}

static struct sim_event *event_of(const struct varve_device_event *event)
{
    return (struct sim_event *)(uintptr_t)event->words[0];
}

static struct sim_stream *stream_of(const struct varve_device_event *event)
{
    return (struct sim_stream *)(uintptr_t)event->words[1];
}

#define FAIL_IF_ASKED                                                                              \
    if (__atomic_load_n(&toy.fails, __ATOMIC_RELAXED))                                             \
    VV_FAIL(error, VARVE_IO, "toy: the driver says 13")

static int enabled(const struct varve_backend *backend)
{
    (void)backend;
    return !toy.is_off;
}

static uint32_t count(const struct varve_backend *backend)
{
    return TOY_DEVICES + is(backend, TOY_COUNT_LIES);
}

static enum varve_code check(const struct varve_backend *backend,
                             const struct varve_device_event *event, struct varve_error *error)
{
    FAIL_IF_ASKED;
    if (event->backend != backend && !is(backend, TOY_TAKES_FOREIGN) && !is(backend, TOY_NO_OWNER))
        VV_FAIL(error, VARVE_INVALID, "toy: the event is another backend's");
    return VARVE_OK;
}

static enum varve_code record(const struct varve_backend *backend,
                              const struct varve_device_place *place,
                              struct varve_device_event *out, int64_t *out_host_ns,
                              struct varve_error *error)
{
    FAIL_IF_ASKED;
    uint32_t device = place->device == VARVE_DEVICE_ANY ? current : place->device;
    struct sim_stream *stream = place->stream;
    if (place->device == VARVE_DEVICE_ANY && stream != NULL)
        device = stream->device;
    if ((device >= TOY_DEVICES && !is(backend, TOY_TAKES_GONE)) ||
        __atomic_load_n(&toy.is_gone, __ATOMIC_RELAXED))
        VV_FAIL(error, VARVE_NOT_FOUND, "toy: there is no device %u", device);
    if (stream == NULL)
        stream = &streams[device % TOY_DEVICES][0];
    if (out_host_ns != NULL)
        *out_host_ns = is(backend, TOY_HOST_TIME_LIES) ? 0 : sim_now_ns();
    struct sim_event *event = sim_event_new();
    if (is(backend, TOY_DISORDERED)) {
        event->at_ns = sim_now_ns();
        event->is_done = true;
    } else {
        sim_event_record(event, stream);
    }
    int64_t unused;
    while (is(backend, TOY_BLOCKS) && !sim_event_is_done(event, stream, &unused))
        sim_nap();
    *out = (struct varve_device_event){ is(backend, TOY_NO_OWNER) ? NULL : backend, device, 0,
                                        place->stream,
                                        { (uintptr_t)event, (uintptr_t)stream, 0, 0 } };
    return VARVE_OK;
}


static enum varve_code query(const struct varve_backend *backend,
                             const struct varve_device_event *event, int *out_is_complete,
                             struct varve_error *error)
{
    int64_t unused;
    VV_TRY(check(backend, event, error));
    *out_is_complete =
        is(backend, TOY_IS_HASTY) || sim_event_is_done(event_of(event), stream_of(event), &unused);
    return VARVE_OK;
}

static int64_t wait_for(const struct varve_device_event *event)
{
    int64_t at_ns;
    while (!sim_event_is_done(event_of(event), stream_of(event), &at_ns))
        sim_nap();
    return at_ns;
}

static enum varve_code elapsed(const struct varve_backend *backend,
                               const struct varve_device_event *from,
                               const struct varve_device_event *to, int64_t *out_ns,
                               struct varve_error *error)
{
    VV_TRY(check(backend, from, error));
    VV_TRY(check(backend, to, error));
    if (is(backend, TOY_TAKES_FOREIGN) && (from->backend != backend || to->backend != backend)) {
        *out_ns = 0;
        return VARVE_OK;
    }
    int64_t ns = wait_for(from);
    ns = wait_for(to) - ns;
    *out_ns = is(backend, TOY_NEGATIVE)       ? -ns
              : is(backend, TOY_MICROSECONDS) ? ns / 1000
                                              : ns;
    return VARVE_OK;
}

static enum varve_code instant(const struct varve_backend *backend,
                               const struct varve_device_event *event, int64_t *out_begin,
                               int64_t *out_end, struct varve_error *error)
{
    int64_t at_ns;
    VV_TRY(check(backend, event, error));
    if (is(backend, TOY_TAKES_FOREIGN) && event->backend != backend)
        return VARVE_OK;
    if (!sim_event_is_done(event_of(event), stream_of(event), &at_ns))
        VV_FAIL(error, VARVE_STATE, "toy: the event is not complete");
    *out_begin = *out_end = at_ns - TOY_BACK_NS;
    return VARVE_OK;
}

static void release(const struct varve_backend *backend, struct varve_device_event *event)
{
    if (!is(backend, TOY_FORGETS))
        sim_event_free(event_of(event));
    event->backend = NULL;
}

static enum varve_code synchronize(const struct varve_backend *backend, uint32_t device,
                                   struct varve_error *error)
{
    FAIL_IF_ASKED;
    if (device >= TOY_DEVICES)
        VV_FAIL(error, VARVE_NOT_FOUND, "toy: there is no device %u", device);
    __atomic_fetch_add(&toy.synchronized[device], 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < TOY_STREAMS && !is(backend, TOY_DOES_NOT_WAIT); i++)
        while (!sim_is_idle(&streams[device][i]))
            sim_nap();
    return VARVE_OK;
}

static enum varve_code on_each_device(const struct varve_backend *backend,
                                      void (*visit)(uint32_t device, void *argument),
                                      void *argument, struct varve_error *error)
{
    FAIL_IF_ASKED;
    uint32_t former = current;
    for (uint32_t i = is(backend, TOY_SKIPS_DEVICE); i < TOY_DEVICES; i++) {
        current = i;
        __atomic_fetch_add(&toy.visited[i], 1, __ATOMIC_RELAXED);
        visit(i, argument);
    }
    if (!is(backend, TOY_STAYS))
        current = former;
    return VARVE_OK;
}

static enum varve_code read_clock(const struct varve_backend *backend, uint32_t device,
                                  struct varve_clock_reading *out, struct varve_error *error)
{
    (void)device;
    FAIL_IF_ASKED;
    int64_t before_ns = sim_now_ns();
    uint64_t ticks = varve_ticks();
    int64_t after_ns = sim_now_ns();
    *out = (struct varve_clock_reading){ before_ns + (after_ns - before_ns) / 2 - TOY_BACK_NS,
                                         ticks, (uint64_t)(after_ns - before_ns) / 2 + 1 };
    if (is(backend, TOY_CLOCK_IS_OFF))
        out->value += 1000000000;
    return VARVE_OK;
}

static enum varve_code flush(const struct varve_backend *backend, int waits,
                             struct varve_error *error)
{
    (void)backend;
    (void)waits;
    FAIL_IF_ASKED;
    toy.flushed++;
    return VARVE_OK;
}

static void mark(const struct varve_backend *backend, const char *name)
{
    (void)backend;
    toy.marked += strcmp(name, "here") == 0;
}

static void push(const struct varve_backend *backend, const char *name)
{
    (void)backend;
    toy.pushed += strcmp(name, "range") == 0;
}

static void pop(const struct varve_backend *backend)
{
    (void)backend;
    toy.popped++;
}

static struct varve_backend tables[TOY_BREAK_COUNT];

static void make_tables(void)
{
    static char names[TOY_BREAK_COUNT][16];
    for (uint32_t i = 0; i < TOY_DEVICES * TOY_STREAMS; i++)
        streams[i / TOY_STREAMS][i % TOY_STREAMS].device = i / TOY_STREAMS;
    for (int how = 0; how < TOY_BREAK_COUNT; how++) {
        snprintf(names[how], sizeof names[how], how == TOY_WHOLE ? "toy" : "toy %d", how);
        tables[how] = (struct varve_backend){
            .struct_size = sizeof tables[how],
            .device_kind = VARVE_DEVICE_KIND_OTHER,
            .name = names[how],
            .resolution_ns = how == TOY_NO_RESOLUTION ? 0 : 1,
            .context = (void *)(uintptr_t)how,
            .enabled = enabled,
            .count = count,
            .record = record,
            .query = query,
            .elapsed = elapsed,
            .instant = instant,
            .release = release,
            .synchronize = synchronize,
            .on_each_device = on_each_device,
            .read_clock = read_clock,
            .flush = flush,
            .mark = mark,
            .push = push,
            .pop = pop,
        };
    }
}

const struct varve_backend *toy_backend(enum toy_break how)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_tables);
    return &tables[how];
}

void *toy_stream(uint32_t device, uint32_t index)
{
    return &streams[device][index];
}

void toy_work(void *stream, int64_t ns)
{
    sim_enqueue(stream, ns, false, NULL);
}

void toy_hold(void *stream)
{
    sim_hold(stream);
}

void toy_let_go(void *stream)
{
    sim_let_go(stream);
}

int toy_live_events(void)
{
    return __atomic_load_n(&sim_live_events, __ATOMIC_RELAXED);
}

void toy_forget_live_events(void)
{
    __atomic_store_n(&sim_live_events, 0, __ATOMIC_RELAXED);
}

uint32_t toy_current(void)
{
    return current;
}
