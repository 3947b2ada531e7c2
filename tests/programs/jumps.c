/* SPDX-License-Identifier: Apache-2.0 */
/* jumps.c — signal handlers that record and then leave by siglongjmp, wherever they came.
 *
 * jumps FILE COUNT: the program tells slot 0 (ctf/count_records.h) until its handlers, which tell
 * slot 1, have jumped COUNT times. */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "tally.h"

static sigjmp_buf back;
static volatile uint64_t jumps;

static void on_alarm(int signal)
{
    (void)signal;
    tally_tell(1);
    jumps++;
    siglongjmp(back, 1);
}

int main(int argc, char **argv)
{
    const struct sigaction action = { .sa_handler = on_alarm };
    const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
    if (argc != 3)
        return 2;
    const uint64_t count = strtoull(argv[2], NULL, 10);
    tally_open(argv[1]);
    tally_tell(0);
    tally_tell(1);
    sigaction(SIGALRM, &action, NULL);
    sigsetjmp(back, 1);
    setitimer(ITIMER_REAL, &often, NULL);
    while (jumps < count)
        tally_tell(0);
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}
