/* SPDX-License-Identifier: Apache-2.0 */
/* homeless.c — loses what makes a folder in the trace possible, and records then.
 *
 * homeless WHAT COUNT CHILDREN [TRACE]
 *   umask         nothing that it makes may be used by anybody     root    it becomes another user
 *   descriptors   no file can be opened                            none    it loses nothing
 * Then it and CHILDREN forked children make COUNT ranges each, the last child in a thread more; all
 * end by SIGKILL, which leaves no time for a word. With TRACE it records itself, and has a folder
 * from before. Prints the number of records. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "varve/varve.h"

VARVE_SITE(work, "work", VARVE_LAYER_OP);
static uint64_t count;

static void lose(const char *what)
{
    const struct rlimit three = { 3, 3 };
    if (strcmp(what, "umask") == 0)
        umask(0777);
    if (strcmp(what, "root") == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        exit(98);
    if (strcmp(what, "descriptors") == 0 && setrlimit(RLIMIT_NOFILE, &three) != 0)
        exit(98);
}

static void *record(void *unused)
{
    for (uint64_t i = 0; i < count; i++) {
        varve_begin(&work);
        varve_end();
    }
    return unused;
}

static void make_children(unsigned children)
{
    for (unsigned i = 1; i <= children; i++) {
        pthread_t thread;
        pid_t pid = fork();
        if (pid < 0)
            exit(99);
        if (pid > 0)
            continue;
        bool has_thread = i == children && pthread_create(&thread, NULL, record, NULL) == 0;
        record(NULL);
        if (has_thread)
            pthread_join(thread, NULL);
        raise(SIGKILL);
    }
}

int main(int argc, char **argv)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    if (argc < 4)
        return 2;
    count = strtoull(argv[2], NULL, 10);
    unsigned children = (unsigned)strtoul(argv[3], NULL, 10);
    options.output = argc > 4 ? argv[4] : NULL;
    if (options.output != NULL && varve_session_start(&options, NULL) != VARVE_OK)
        return 97;
    if (options.output != NULL)
        record(NULL);
    printf("%llu\n",
           (unsigned long long)(2 * count *
                                (1 + children + (children > 0) + (options.output != NULL))));
    fflush(stdout);
    lose(argv[1]);
    make_children(children);
    record(NULL);
    while (wait(NULL) > 0)
        continue;
    raise(SIGKILL);
    return 0;
}
