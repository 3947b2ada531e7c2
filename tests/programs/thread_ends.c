/* SPDX-License-Identifier: Apache-2.0 */
/* thread_ends.c — all the ways in which a thread ends while it records.
 *
 * thread_ends FILE WAY ROUNDS [SEED]: round r (less than 50) makes a thread that tells slot r
 * (ctf/count_records.h) and ends the WAY:
 *     return, pthread_exit     after 100
 *     deferred                 cancelled at a random instant, where it asks for it
 *     asynchronous             cancelled at a random instant, wherever it is
 *     destructors              after 10; its destructors of thread-local data tell slots 60 (of C++
 *                              objects, run before the library's own) and 61 (of a key, four times,
 *                              run after it), 10 each
 * When a cancelled thread is cleaned up it tells slot 62 once. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "tally.h"

#define ROUNDS_MAX 50
#define OBJECT_SLOT 60u
#define KEY_SLOT 61u
#define CLEANUP_SLOT 62u

extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *module);
extern void *__dso_handle;

static pthread_key_t key;

static void tell_at_cleanup(void *unused)
{
    (void)unused;
    tally_tell(CLEANUP_SLOT);
}

static void tell_at_object_end(void *slot)
{
    tally_tell_times((unsigned)(uintptr_t)slot, 10);
}

static void tell_at_key_end(void *again)
{
    tally_tell_times(KEY_SLOT, 10);
    if ((uintptr_t)again > 1)
        pthread_setspecific(key, (void *)((uintptr_t)again - 1));
}

static void *run_return(void *slot)
{
    tally_tell_times((unsigned)(uintptr_t)slot, 100);
    return NULL;
}

static void *run_pthread_exit(void *slot)
{
    tally_tell_times((unsigned)(uintptr_t)slot, 100);
    pthread_exit(NULL);
}

static void *run_deferred(void *slot)
{
    pthread_cleanup_push(tell_at_cleanup, NULL);
    for (;;) {
        tally_tell((unsigned)(uintptr_t)slot);
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void *run_asynchronous(void *slot)
{
    pthread_cleanup_push(tell_at_cleanup, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        tally_tell((unsigned)(uintptr_t)slot);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *run_destructors(void *slot)
{
    __cxa_thread_atexit_impl(tell_at_object_end, (void *)(uintptr_t)OBJECT_SLOT, &__dso_handle);
    pthread_setspecific(key, (void *)(uintptr_t)4); /* PTHREAD_DESTRUCTOR_ITERATIONS of them are
                                                       granted */
    tally_tell_times((unsigned)(uintptr_t)slot, 10);
    return NULL;
}

static const struct way {
    const char *name;
    void *(*run)(void *);
    bool cancelled;
} ways[] = {
    { "return", run_return, false },
    { "pthread_exit", run_pthread_exit, false },
    { "deferred", run_deferred, true },
    { "asynchronous", run_asynchronous, true },
    { "destructors", run_destructors, false },
};

static int end_one(const struct way *way, unsigned slot)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, way->run, (void *)(uintptr_t)slot) != 0)
        return 99;
    if (way->cancelled) {
        const struct timespec moment = { 0, rand() % 50000 };
        tally_wait(slot, 1);
        nanosleep(&moment, NULL);
        pthread_cancel(thread);
    }
    pthread_join(thread, &result);
    return way->cancelled == (result == PTHREAD_CANCELED) ? 0 : 98;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc >= 4 ? (unsigned)atoi(argv[3]) : 0;
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    tally_open(argv[1]);
    srand(argc > 4 ? (unsigned)atoi(argv[4]) : 1);
    pthread_key_create(&key, tell_at_key_end);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].name, argv[2]) != 0)
            continue;
        int failure = 0;
        for (unsigned round = 0; round < rounds && failure == 0; round++)
            failure = end_one(&ways[i], round);
        return failure;
    }
    return 2;
}
