/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.c — prints how many descriptors and threads the process has, at each stage of a
 * recording.
 *
 * descriptors FOLDER: records itself into FOLDER, from 8 threads one after the other, twice. A line
 * a stage: its name, the number of descriptors, the number of threads; "child" is what an executed
 * program has. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "varve/varve.h"

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static int entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2;
}

/* Linux wakes pthread_join before it takes the thread out of /proc: one that stays is there after a
 * second, too. */
static int threads(void)
{
    int count = entries("/proc/self/task");
    for (int tries = 0; count != 1 && tries < 1000; tries++) {
        usleep(1000);
        count = entries("/proc/self/task");
    }
    return count;
}

static void say(const char *stage)
{
    printf("%s %d %d\n", stage, entries("/proc/self/fd") - 1, threads());
    fflush(stdout);
}

static void *record(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        varve_begin(&work);
        varve_begin_name("a name", VARVE_LAYER_OP);
        varve_end();
        varve_end();
    }
    return unused;
}

static void record_in_threads(void)
{
    pthread_t thread;
    for (int i = 0; i < 8; i++)
        if (pthread_create(&thread, NULL, record, NULL) == 0)
            pthread_join(thread, NULL);
}

static void say_of_child(const char *program)
{
    pid_t child = fork();
    if (child == 0) {
        record(NULL);
        execl(program, program, "--child", (char *)NULL);
        _exit(99);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "--child") == 0) {
        say("child");
        return 0;
    }
    options.output = argv[1];
    for (int session = 0; session < 2; session++) {
        say("before");
        if (varve_session_start(&options, NULL) != VARVE_OK)
            return 1;
        record(NULL);
        record_in_threads();
        say("while");
        say_of_child(argv[0]);
        varve_session_stop(NULL);
    }
    say("after");
    return 0;
}
