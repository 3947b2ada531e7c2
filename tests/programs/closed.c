/* SPDX-License-Identifier: Apache-2.0 */
/* closed.c — a program without some of its first three descriptors, whose log lines go to them all
 * the same.
 *
 * closed FILE NUMBERS COUNT: closes the descriptors of NUMBERS ("02": 0 and 2). A thread writes to
 * them without a pause while the main thread tells slot 0 (ctf/count_records.h) COUNT times, makes
 * a dump now and then, and begins other threads that tell slot 1. Exit 1:
 * one of those writes succeeded. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "tally.h"

static const char *numbers;
static bool is_over; /* atomic */

static void *log_to_closed(void *unused)
{
    static const char line[] =
        "a line of a log that nobody reads, longer than the header of a packet is, "
        "so that nothing would be left of it\n";
    long succeeded = 0;
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        for (const char *number = numbers; *number != '\0'; number++)
            succeeded += write(*number - '0', line, sizeof line - 1) >= 0 || errno != EBADF;
    return (void *)(intptr_t)succeeded;
}

static void *tell_one(void *unused)
{
    tally_tell(1);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t log, other;
    void *succeeded;
    if (argc != 4)
        return 2;
    tally_open(argv[1]);
    numbers = argv[2];
    for (const char *number = numbers; *number != '\0'; number++)
        close(*number - '0');
    if (pthread_create(&log, NULL, log_to_closed, NULL) != 0)
        return 99;
    uint64_t count = strtoull(argv[3], NULL, 10);
    for (uint64_t i = 0; i < count; i++) {
        tally_tell(0);
        if (i % (count / 8) != 0)
            continue;
        if (pthread_create(&other, NULL, tell_one, NULL) != 0)
            return 99;
        pthread_join(other, NULL);
        varve_session_dump(NULL, NULL);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    pthread_join(log, &succeeded);
    return succeeded != NULL;
}
