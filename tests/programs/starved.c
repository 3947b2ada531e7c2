/* SPDX-License-Identifier: Apache-2.0 */
/* starved.c — records while a resource of the process is used up, and when there is some again.
 *
 * starved FILE descriptors|memory|start COUNT
 *   descriptors  no file can be opened        memory  no memory can be mapped
 *   start        no file can be opened from before the first record on
 * Slot 0 (ctf/count_records.h) is told COUNT times by the main thread before, while, and after;
 * slot 1 likewise by a thread that begins to record while there is none, and slot 2 by one that
 * begins after. After = at least 2 s later. */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tally.h"

static uint64_t count;
static struct rlimit former;
static int resource;

static void take_away(rlim_t left)
{
    getrlimit(resource, &former);
    struct rlimit none = { left, former.rlim_max };
    if (setrlimit(resource, &none) != 0)
        exit(98);
}

static void give_back(void)
{
    const struct timespec long_enough = { 2, 500000000 };
    setrlimit(resource, &former);
    nanosleep(&long_enough, NULL);
}

/* A turn of the thread's: the main thread counts them up, and waits until it is over. */
static unsigned turn, turns_done;

static void *tell_in_turns(void *unused)
{
    for (unsigned i = 1; i <= 2; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) < i)
            sched_yield();
        tally_tell_times(1, count);
        __atomic_store_n(&turns_done, i, __ATOMIC_RELEASE);
    }
    return unused;
}

static void let_thread_tell(void)
{
    __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&turns_done, __ATOMIC_ACQUIRE) < turn)
        sched_yield();
}

static void *tell_two(void *unused)
{
    tally_tell_times(2, count);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t early, late;
    if (argc != 4)
        return 2;
    tally_open(argv[1]);
    count = strtoull(argv[3], NULL, 10);
    if (pthread_create(&early, NULL, tell_in_turns, NULL) != 0)
        return 99;
    resource = strcmp(argv[2], "memory") == 0 ? RLIMIT_AS : RLIMIT_NOFILE;
    if (strcmp(argv[2], "start") != 0)
        tally_tell_times(0, count);
    take_away(resource == RLIMIT_AS ? 1 << 20 : 3);
    tally_tell_times(0, count);
    let_thread_tell();
    give_back();
    tally_tell_times(0, count);
    let_thread_tell();
    if (pthread_create(&late, NULL, tell_two, NULL) != 0)
        return 99;
    pthread_join(early, NULL);
    pthread_join(late, NULL);
    return 0;
}
