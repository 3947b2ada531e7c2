/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c — see watch.h. Several threads may call what is called here. */
#include "watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <varve/observer.h>

#include "message.h"

#define CALLS_MAX 32

struct call {
    const char *name; /* a site's; NULL = no more */
    uint64_t count;
    uint64_t total_ns;
};

static struct {
    pthread_mutex_t mutex; /* guards what follows */
    struct call calls[CALLS_MAX + 1];
    uint64_t observer;
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

bool watch_start(void)
{
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    struct varve_error error;
    observer.scopes = VARVE_LAYER_API;
    observer.start = on_start;
    observer.end = on_end;
    if (varve_observer_add(&observer, &watch.observer, &error) != VARVE_OK)
        return refuse("cannot watch: %s", error.message);
    return true;
}

void watch_stop(void)
{
    (void)varve_observer_remove(watch.observer, NULL);
}

void watch_print(FILE *file)
{
    for (const struct call *call = watch.calls; call->name != NULL; call++)
        fprintf(file, "call %s: %" PRIu64 " times, %" PRIu64 " ns\n", call->name, call->count,
                call->total_ns);
}
