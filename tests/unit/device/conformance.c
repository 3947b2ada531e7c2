/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

const char law_skipped[] = "skipped";

#define SAYS(condition, text) \
    if (!(condition))         \
    return (text)
#define NEEDS(function)               \
    if (subject->function == NULL)    \
    return law_skipped

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *stream_of(const struct subject *subject, uint32_t device, uint32_t index)
{
    return subject->stream != NULL ? subject->stream(device, index) : NULL;
}

static bool record_on(const struct subject *subject, uint32_t device, uint32_t index,
                      struct varve_device_event *out)
{
    const struct varve_device_place place = { device, 0, stream_of(subject, device, index) };
    struct varve_error error;
    memset(out, 0, sizeof *out);
    return subject->backend->record(subject->backend, &place, out, NULL, &error) == VARVE_OK;
}

static bool wait_for(const struct subject *subject, struct varve_device_event *event)
{
    int64_t unused;
    return subject->backend->elapsed(subject->backend, event, event, &unused, NULL) == VARVE_OK;
}

static void release(const struct subject *subject, struct varve_device_event *event)
{
    subject->backend->release(subject->backend, event);
}

static int is_complete(const struct subject *subject, const struct varve_device_event *event)
{
    int complete = -1;
    return subject->backend->query(subject->backend, event, &complete, NULL) == VARVE_OK ? complete
                                                                                         : -1;
}

/* ---- devices ---- */

static const char *count_is_true(const struct subject *subject)
{
    struct varve_device_event event;
    uint32_t count = subject->backend->count(subject->backend);
    SAYS(count > 0 && subject->backend->enabled(subject->backend), "no device, or not enabled");
    for (uint32_t i = 0; i < count; i++) {
        const struct varve_device_place place = { i, 0, NULL };
        SAYS(subject->backend->record(subject->backend, &place, &event, NULL, NULL) == VARVE_OK,
             "a device that is counted takes no event");
        release(subject, &event);
    }
    return NULL;
}

static const char *no_other_device(const struct subject *subject)
{
    struct varve_device_event event;
    const struct varve_device_place place = { subject->backend->count(subject->backend) + 1, 0,
                                              NULL };
    enum varve_code code =
        subject->backend->record(subject->backend, &place, &event, NULL, NULL);
    if (code == VARVE_OK)
        release(subject, &event);
    SAYS(code == VARVE_NOT_FOUND, "a device that is not there is not refused as NOT_FOUND");
    SAYS(subject->backend->synchronize(subject->backend, place.device, NULL) == VARVE_NOT_FOUND,
         "a device that is not there is waited for");
    return NULL;
}

struct visits {
    const struct subject *subject;
    uint32_t count;
    bool in_order, is_current;
};

static void visit(uint32_t device, void *argument)
{
    struct visits *visits = argument;
    visits->in_order = visits->in_order && device == visits->count;
    if (visits->subject->current != NULL)
        visits->is_current = visits->is_current && visits->subject->current() == device;
    visits->count++;
}

static const char *each_device_once(const struct subject *subject)
{
    struct visits visits = { subject, 0, true, true };
    uint32_t former = subject->current != NULL ? subject->current() : 0;
    SAYS(subject->backend->on_each_device(subject->backend, visit, &visits, NULL) == VARVE_OK,
         "on_each_device fails");
    SAYS(visits.in_order && visits.count == subject->backend->count(subject->backend),
         "on_each_device does not visit each device once, in order");
    SAYS(visits.is_current, "the device that is visited is not current");
    SAYS(subject->current == NULL || subject->current() == former,
         "on_each_device leaves another device current");
    return NULL;
}

static const char *synchronize_waits(const struct subject *subject)
{
    struct varve_device_event events[8];
    NEEDS(work);
    uint32_t count = subject->backend->count(subject->backend);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        subject->work(stream_of(subject, i, 1), 20000000);
        SAYS(record_on(subject, i, 1, &events[i]), "record fails");
    }
    for (uint32_t i = 0; i < count && i < 8; i++) {
        SAYS(subject->backend->synchronize(subject->backend, i, NULL) == VARVE_OK,
             "synchronize fails");
        SAYS(is_complete(subject, &events[i]) == 1, "synchronize returns before the work is done");
        release(subject, &events[i]);
    }
    return NULL;
}

/* ---- events ---- */

static const char *events_say_whose_they_are(const struct subject *subject)
{
    struct varve_device_event event;
    uint32_t last = subject->backend->count(subject->backend) - 1;
    SAYS(record_on(subject, last, 1, &event), "record fails");
    bool is_right = event.backend == subject->backend && event.device == last &&
                    event.stream == stream_of(subject, last, 1);
    SAYS(is_right, "an event does not say its backend, device and stream");
    release(subject, &event);
    return NULL;
}

static const char *host_time_is_of_the_call(const struct subject *subject)
{
    struct varve_device_event event;
    const struct varve_device_place place = { 0, 0, stream_of(subject, 0, 0) };
    int64_t host_ns = -1, before_ns = now_ns();
    SAYS(subject->backend->record(subject->backend, &place, &event, &host_ns, NULL) == VARVE_OK,
         "record fails");
    int64_t after_ns = now_ns();
    release(subject, &event);
    SAYS(before_ns <= host_ns && host_ns <= after_ns, "the host's time is not of the call");
    return NULL;
}

struct recording {
    const struct subject *subject;
    struct varve_device_event event;
    bool is_done, is_recorded;
};

static void *record_in_thread(void *argument)
{
    struct recording *recording = argument;
    bool is_recorded = record_on(recording->subject, 0, 0, &recording->event);
    recording->is_recorded = is_recorded;
    __atomic_store_n(&recording->is_done, true, __ATOMIC_RELEASE);
    return NULL;
}

static const char *record_never_waits(const struct subject *subject)
{
    struct recording recording = { .subject = subject };
    pthread_t thread;
    NEEDS(hold);
    subject->hold(stream_of(subject, 0, 0));
    SAYS(pthread_create(&thread, NULL, record_in_thread, &recording) == 0, "no thread");
    int64_t until_ns = now_ns() + 2000000000;
    while (!__atomic_load_n(&recording.is_done, __ATOMIC_ACQUIRE) && now_ns() < until_ns)
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    bool is_done = __atomic_load_n(&recording.is_done, __ATOMIC_ACQUIRE);
    int complete = is_done && recording.is_recorded ? is_complete(subject, &recording.event) : 0;
    subject->let_go(stream_of(subject, 0, 0));
    pthread_join(thread, NULL);
    SAYS(recording.is_recorded, "record fails");
    bool is_waited = wait_for(subject, &recording.event);
    int later = is_complete(subject, &recording.event);
    release(subject, &recording.event);
    SAYS(is_done, "record waits for the stream");
    SAYS(complete == 0, "an event of a stream that is held is complete");
    SAYS(is_waited && later == 1, "elapsed does not wait for its events");
    return NULL;
}

static const char *streams_are_independent(const struct subject *subject)
{
    struct varve_device_event held, free_one;
    NEEDS(hold);
    subject->hold(stream_of(subject, 0, 0));
    bool are_recorded = record_on(subject, 0, 0, &held) && record_on(subject, 0, 1, &free_one);
    bool is_waited = are_recorded && wait_for(subject, &free_one);
    int complete = are_recorded ? is_complete(subject, &held) : -1;
    subject->let_go(stream_of(subject, 0, 0));
    SAYS(are_recorded && is_waited, "a stream waits for another that is held");
    SAYS(complete == 0, "an event of a stream that is held is complete");
    release(subject, &held); /* before it is complete, perhaps */
    release(subject, &free_one);
    return NULL;
}

/* Two events with work between them. */
static const char *measure(const struct subject *subject, struct varve_device_event pair[2],
                           int64_t *out_there, int64_t *out_back)
{
    const struct varve_backend *backend = subject->backend;
    SAYS(record_on(subject, 0, 1, &pair[0]), "record fails");
    if (subject->work != NULL)
        subject->work(stream_of(subject, 0, 1), 3000000);
    SAYS(record_on(subject, 0, 1, &pair[1]), "record fails");
    SAYS(backend->elapsed(backend, &pair[0], &pair[1], out_there, NULL) == VARVE_OK &&
             backend->elapsed(backend, &pair[1], &pair[0], out_back, NULL) == VARVE_OK,
         "elapsed fails");
    return NULL;
}

static const char *events_come_in_order(const struct subject *subject)
{
    struct varve_device_event pair[2];
    int64_t there = 0, back = 0, nothing = -1;
    const char *wrong = measure(subject, pair, &there, &back);
    SAYS(wrong == NULL, wrong);
    SAYS(subject->backend->elapsed(subject->backend, &pair[0], &pair[0], &nothing, NULL) ==
                 VARVE_OK &&
             nothing == 0,
         "the time from an event to itself is not 0");
    release(subject, &pair[0]);
    release(subject, &pair[1]);
    SAYS(there == -back, "the way back is not as long as the way there");
    SAYS(there >= 0, "a later event of the stream comes earlier: elapsed is negative");
    SAYS(subject->work == NULL || there >= 3000000, "work between two events takes too little");
    return NULL;
}

static const char *instants_agree_with_elapsed(const struct subject *subject)
{
    struct varve_device_event pair[2];
    int64_t there = 0, back = 0, at[2][2] = { { 0 } };
    const struct varve_backend *backend = subject->backend;
    int64_t margin = 2 * (int64_t)backend->resolution_ns;
    const char *wrong = measure(subject, pair, &there, &back);
    SAYS(wrong == NULL, wrong);
    for (int i = 0; i < 2; i++) {
        SAYS(backend->instant(backend, &pair[i], &at[i][0], &at[i][1], NULL) == VARVE_OK,
             "instant fails");
        SAYS(at[i][0] == at[i][1], "an event that is no work has a duration");
        release(subject, &pair[i]);
    }
    int64_t apart = at[1][0] - at[0][0] - there;
    SAYS(-margin <= apart && apart <= margin, "elapsed is not the difference of the instants");
    SAYS(backend->resolution_ns != 0, "the resolution is not stated");
    return NULL;
}

static const char *foreign_events_are_refused(const struct subject *subject)
{
    struct varve_device_event own, foreign;
    const struct varve_backend *backend = subject->backend;
    int64_t ns, at[2];
    int complete;
    SAYS(record_on(subject, 0, 0, &own) && wait_for(subject, &own), "record fails");
    foreign = own;
    foreign.backend = subject->other;
    bool is_refused = backend->query(backend, &foreign, &complete, NULL) == VARVE_INVALID &&
                      backend->elapsed(backend, &own, &foreign, &ns, NULL) == VARVE_INVALID &&
                      backend->elapsed(backend, &foreign, &own, &ns, NULL) == VARVE_INVALID &&
                      backend->instant(backend, &foreign, &at[0], &at[1], NULL) == VARVE_INVALID;
    release(subject, &own);
    SAYS(is_refused, "an event of another backend is not refused as INVALID");
    return NULL;
}

static const char *release_gives_back(const struct subject *subject)
{
    struct varve_device_event events[50];
    NEEDS(live_events);
    int before = subject->live_events();
    for (int i = 0; i < 50; i++)
        SAYS(record_on(subject, 0, (uint32_t)i % 2, &events[i]), "record fails");
    for (int i = 0; i < 50; i++)
        release(subject, &events[i]);
    SAYS(subject->backend->synchronize(subject->backend, 0, NULL) == VARVE_OK, "synchronize fails");
    SAYS(subject->live_events() == before, "an event that was released is still there");
    return NULL;
}

/* ---- clocks ---- */

static int64_t known_clock_ns(uint32_t clock)
{
    struct timespec now;
    clock_gettime(clock == VARVE_CLOCK_REALTIME        ? CLOCK_REALTIME
                  : clock == VARVE_CLOCK_MONOTONIC_RAW ? CLOCK_MONOTONIC_RAW
                                                       : CLOCK_MONOTONIC,
                  &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A time of CLOCK_MONOTONIC and the ticks, to within margin_ns: a thread that has to wait for a
 * processor between its readings widens the margin. */
struct pair {
    int64_t ns, margin_ns;
    uint64_t ticks;
};

static struct pair pair_now(void)
{
    int64_t before_ns = now_ns();
    uint64_t ticks = varve_ticks();
    int64_t half_ns = (now_ns() - before_ns) / 2 + 1;
    return (struct pair){ before_ns + half_ns, half_ns, ticks };
}

static bool read_clock(const struct subject *subject, struct varve_clock_reading *out)
{
    const struct varve_backend *backend = subject->backend;
    if (backend->clock == 0)
        return backend->read_clock(backend, 0, out, NULL) == VARVE_OK;
    int64_t before_ns = now_ns();
    out->value = known_clock_ns(backend->clock);
    out->ticks = varve_ticks();
    out->uncertainty_ns = (uint64_t)(now_ns() - before_ns);
    return true;
}

/* offset->ns: the device's clock less CLOCK_MONOTONIC; its ticks are the reading's. The reading
 * lies on the straight line between two pairs. */
static const char *read_offset(const struct subject *subject, struct pair *offset)
{
    struct varve_clock_reading reading = { 0, 0, 0 };
    struct pair before = pair_now();
    SAYS(read_clock(subject, &reading), "read_clock fails");
    struct pair after = pair_now();
    SAYS(before.ticks <= reading.ticks && reading.ticks <= after.ticks,
         "the ticks of the clock's reading are not of the call");
    double part = after.ticks > before.ticks ? (double)(reading.ticks - before.ticks) /
                                                   (double)(after.ticks - before.ticks)
                                             : 0;
    int64_t at_ns = before.ns + (int64_t)(part * (double)(after.ns - before.ns));
    int64_t margin_ns = before.margin_ns > after.margin_ns ? before.margin_ns : after.margin_ns;
    *offset = (struct pair){ reading.value - at_ns, margin_ns + (int64_t)reading.uncertainty_ns + 1,
                             reading.ticks };
    return NULL;
}

static const char *clock_places_events(const struct subject *subject)
{
    struct varve_device_event event;
    const struct varve_backend *backend = subject->backend;
    struct pair offset = { 0, INT64_MAX, 0 };
    int64_t at[2] = { 0, 0 };
    for (int turn = 0; turn < 100 && offset.margin_ns > 100000; turn++) { /* the closest */
        struct pair one;
        const char *wrong = read_offset(subject, &one);
        SAYS(wrong == NULL, wrong);
        offset = one.margin_ns < offset.margin_ns ? one : offset;
    }
    int64_t before_ns = now_ns();
    SAYS(record_on(subject, 0, 1, &event) && wait_for(subject, &event), "record fails");
    int64_t after_ns = now_ns();
    SAYS(backend->instant(backend, &event, &at[0], &at[1], NULL) == VARVE_OK, "instant fails");
    release(subject, &event);
    int64_t margin_ns = offset.margin_ns + 2 * (int64_t)backend->resolution_ns;
    SAYS(before_ns + offset.ns - margin_ns <= at[0] && at[0] <= after_ns + offset.ns + margin_ns,
         "by the clock's reading the event lies outside of the call");
    return NULL;
}

/* ---- threads ---- */

static void *measure_often(void *argument)
{
    const struct subject *subject = argument;
    const struct varve_backend *backend = subject->backend;
    for (int i = 0; i < 100; i++) {
        struct varve_device_event pair[2];
        int64_t ns = -1;
        if (!record_on(subject, 0, (uint32_t)i % 2, &pair[0]) ||
            !record_on(subject, 0, (uint32_t)i % 2, &pair[1]) ||
            backend->elapsed(backend, &pair[0], &pair[1], &ns, NULL) != VARVE_OK || ns < 0)
            return argument;
        release(subject, &pair[0]);
        release(subject, &pair[1]);
    }
    return NULL;
}

static const char *threads_may_call(const struct subject *subject)
{
    pthread_t threads[4];
    bool is_well = true;
    for (int i = 0; i < 4; i++)
        SAYS(pthread_create(&threads[i], NULL, measure_often, (void *)(uintptr_t)subject) == 0,
             "no thread");
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        is_well = is_well && wrong == NULL;
    }
    SAYS(is_well, "of several threads one gets a failure or a negative time");
    return NULL;
}

const struct law laws[] = {
    { "count is true", count_is_true },
    { "no other device", no_other_device },
    { "each device once", each_device_once },
    { "synchronize waits", synchronize_waits },
    { "events say whose they are", events_say_whose_they_are },
    { "host time is of the call", host_time_is_of_the_call },
    { "record never waits", record_never_waits },
    { "streams are independent", streams_are_independent },
    { "events come in order", events_come_in_order },
    { "instants agree with elapsed", instants_agree_with_elapsed },
    { "foreign events are refused", foreign_events_are_refused },
    { "release gives back", release_gives_back },
    { "clock places events", clock_places_events },
    { "threads may call", threads_may_call },
};
const size_t law_count = sizeof laws / sizeof laws[0];
