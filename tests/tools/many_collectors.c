/* SPDX-License-Identifier: Apache-2.0 */
/* many_collectors.c — a process with so many sources of records, each third of which could not
 * attach, and a child that says the same of two more: for test_conformance.py, under `varve
 * record`.
 *
 *     many_collectors COUNT [starved]
 *
 * starved: what they say finds no memory to be kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/source_note.h"
#include "varve/varve.h"

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static void say(long first, long end)
{
    for (long number = first; number < end; number++) {
        char name[32];
        bool is_refused = number % 3 == 0;
        snprintf(name, sizeof name, "source%ld", number);
        vv_collector_note(name, is_refused ? VV_COLLECTOR_REFUSED : VV_COLLECTOR_ATTACHED,
                          is_refused ? "too old" : "");
    }
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    struct rlimit former, limit;
    getrlimit(RLIMIT_AS, &former);
    limit = former;
    limit.rlim_cur = 1 << 20;
    if (argc > 2 && strcmp(argv[2], "starved") == 0)
        setrlimit(RLIMIT_AS, &limit);
    say(0, count);
    setrlimit(RLIMIT_AS, &former);
    varve_begin(&work);
    varve_end();
    pid_t child = fork();
    if (child == 0) {
        say(count, count + 2);
        varve_begin(&work);
        varve_end();
        _exit(0);
    }
    return child > 0 && waitpid(child, NULL, 0) == child ? 0 : 1;
}
