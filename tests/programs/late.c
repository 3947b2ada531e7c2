/* SPDX-License-Identifier: Apache-2.0 */
/* late.c — records after main has returned.
 *
 * late FILE: main tells slot 0 (ctf/count_records.h), the main thread's thread-local objects slot
 * 1, functions of atexit and on_exit slots 2 and 3, the program's destructor slot 4: 10 times each.
 * The destructor of another thread's key, which runs while the process ends, tells slot 5 as long
 * as the process lasts. modules/last_words.c, where it is preloaded or linked, has its say too. */
#include <pthread.h>

#include "tally.h"

extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *module);
extern void *__dso_handle;

static pthread_key_t key;

static void tell_at_object_end(void *unused)
{
    (void)unused;
    tally_tell_times(1, 10);
}

static void tell_at_exit(void)
{
    tally_tell_times(2, 10);
}

static void tell_on_exit(int status, void *unused)
{
    (void)status;
    (void)unused;
    tally_tell_times(3, 10);
}

__attribute__((destructor)) static void on_end(void)
{
    if (tally != NULL)
        tally_tell_times(4, 10);
}

static void tell_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        tally_tell(5);
}

static void *end_at_once(void *unused)
{
    pthread_setspecific(key, &key);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 2)
        return 2;
    tally_open(argv[1]);
    __cxa_thread_atexit_impl(tell_at_object_end, NULL, &__dso_handle);
    atexit(tell_at_exit);
    on_exit(tell_on_exit, NULL);
    pthread_key_create(&key, tell_for_ever);
    if (pthread_create(&thread, NULL, end_at_once, NULL) != 0)
        return 99;
    tally_wait(5, 1000);
    tally_tell_times(0, 10);
    return 0;
}
