/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c — see watch.h. Several threads may call what is called here. */
#include "watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <varve/exec.h>
#include <varve/observer.h>

#include "message.h"

#define CALLS_MAX 32

struct call {
    const char *name; /* a site's; NULL = no more */
    uint64_t count;
    uint64_t total_ns;
};

static const struct {
    uint32_t event;
    const char *text;
} kinds[] = {
    { VARVE_EXECUTOR_LOAD_BEGIN, "load begin" },
    { VARVE_EXECUTOR_LOAD_END, "load end" },
    { VARVE_EXECUTOR_UNLOAD, "unload" },
    { VARVE_EXECUTOR_MODEL_BEGIN, "model begin" },
    { VARVE_EXECUTOR_MODEL_END, "model end" },
    { VARVE_EXECUTOR_EXECUTE_BEGIN, "execute begin" },
    { VARVE_EXECUTOR_EXECUTE_END, "execute end" },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static struct {
    pthread_mutex_t mutex; /* guards what follows */
    struct call calls[CALLS_MAX + 1];
    uint64_t events[KINDS];
    uint64_t observer;
    uint32_t subscriber;
} watch = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int on_start(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    (void)user, (void)what;
    *out_context = now_ns();
    return 0;
}

static int on_end(void *user, const struct varve_observed *what, uint64_t context)
{
    (void)user;
    uint64_t taken_ns = now_ns() - context;
    if (what->site == NULL)
        return 0;
    pthread_mutex_lock(&watch.mutex);
    struct call *call = watch.calls;
    while (call < watch.calls + CALLS_MAX && call->name != NULL &&
           strcmp(call->name, what->site->name) != 0)
        call++;
    if (call < watch.calls + CALLS_MAX) {
        call->name = what->site->name;
        call->count++;
        call->total_ns += taken_ns;
    }
    pthread_mutex_unlock(&watch.mutex);
    return 0;
}

static void on_event(void *context, const struct varve_executor_event *event)
{
    (void)context;
    pthread_mutex_lock(&watch.mutex);
    for (size_t i = 0; i < KINDS; i++)
        watch.events[i] += event->kind == kinds[i].event;
    pthread_mutex_unlock(&watch.mutex);
}

bool watch_start(void)
{
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    struct varve_error error;
    observer.scopes = VARVE_LAYER_API;
    observer.start = on_start;
    observer.end = on_end;
    if (varve_observer_add(&observer, &watch.observer, &error) != VARVE_OK ||
        varve_subscriber_add(VARVE_EXECUTOR_ALL, on_event, NULL, &watch.subscriber,
                             &error) != VARVE_OK)
        return refuse("cannot watch: %s", error.message);
    return true;
}

void watch_stop(void)
{
    varve_subscriber_remove(watch.subscriber);
    (void)varve_observer_remove(watch.observer, NULL);
}

void watch_print(FILE *file)
{
    for (const struct call *call = watch.calls; call->name != NULL; call++)
        fprintf(file, "call %s: %" PRIu64 " times, %" PRIu64 " ns\n", call->name, call->count,
                call->total_ns);
    for (size_t i = 0; i < KINDS; i++)
        fprintf(file, "event %s: %" PRIu64 "\n", kinds[i].text, watch.events[i]);
}
