/* SPDX-License-Identifier: Apache-2.0 */
/* stopped.c — a program whose processor another one takes. */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "turns.h"

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(backward_site, "backward", VARVE_LAYER_OP);
VARVE_SITE(update_site, "update", VARVE_LAYER_OP);

/* ---- stopped: during step 9 a child works for 40 ms on the processor of the steps, and comes
 *      before them where it may. Mended: there is none. ---- */

static void *begin_stopped(int is_mended)
{
    int *state = begin_block(sizeof *state), cpu = sched_getcpu();
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu < 0 ? 0 : cpu, &own);
    if (sched_setaffinity(0, sizeof own, &own) != 0)
        abort();
    *state = is_mended;
    return state;
}

static pid_t begin_child(void)
{
    struct sched_param first = { .sched_priority = 2 }; /* the steps may have 1: conftest.py */
    pid_t child = fork();
    if (child == 0) {
        compute_us(40000);
        _exit(0);
    }
    if (child > 0)
        (void)sched_setscheduler(child, SCHED_RR, &first);
    return child;
}

static void step_of_stopped(void *state, int number)
{
    const int *is_mended = state;
    struct varve_site *const parts[] = { &forward_site, &backward_site, &update_site };
    pid_t child = number == 9 && !*is_mended ? begin_child() : -1;
    for (int i = 0; i < 3; i++) {
        varve_begin(parts[i]);
        compute_us(4000);
        varve_end();
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    static const struct plant plants[] = { { "stopped", begin_stopped, step_of_stopped } };
    return take_turns(argc, argv, plants, 1);
}
