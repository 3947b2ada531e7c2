/* SPDX-License-Identifier: Apache-2.0 */
/* on_command.c — does what standard input says, a line at a time, and answers each line with "ok"
 * once it is done; for tests that switch recording while a program runs.
 *
 *     pairs N      N ranges "work"            steps N     N steps, each with one range "work"
 *     open         begins a range "left open" close       ends a range
 *     threads N    the same N "work" on each of 4 threads, at once
 *     set N        varve_layers_set(N)        layers      answers "ok MASK"
 *     fork N       a child records N ranges, then waits for "go" on a second line and records N
 *                  more
 *     alloc N      1000 bytes at address N    free N      gives them back
 *     descriptors  no more may be opened      root PATH   chroot
 *     drop         becomes user 65534         other N     N times "other", a site that was not used
 *                                             before
 *     names N         N ranges, each of a name that was not used before
 *     observe N    adds (1) or removes (0) an observer
 *     observed     answers "ok N": ranges and steps that it has seen so far
 *     sleep N      N ms                       kill        SIGKILL */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <varve/observer.h>
#include <varve/varve.h>

VARVE_SITE(work, "work", VARVE_LAYER_OP);
VARVE_SITE(left_open, "left open", VARVE_LAYER_OP);
VARVE_SITE(other, "other", VARVE_LAYER_OP);

static void pairs(long count)
{
    for (long i = 0; i < count; i++) {
        varve_begin(&work);
        varve_end();
    }
}

static void *pairs_of_thread(void *count)
{
    pairs((long)(intptr_t)count);
    return NULL;
}

static void threads(long count)
{
    pthread_t ids[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&ids[i], NULL, pairs_of_thread, (void *)(intptr_t)count) != 0)
            exit(2);
    for (int i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
}

static void steps(long count)
{
    static int64_t index;
    for (long i = 0; i < count; i++) {
        varve_step_begin(index++);
        pairs(1);
        varve_step_end();
    }
}

static void names(long count)
{
    static long made;
    for (long i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %ld", made++);
        varve_begin_name(name, VARVE_LAYER_OP);
        varve_end();
    }
}

static void others(long count)
{
    for (long i = 0; i < count; i++) {
        varve_begin(&other);
        varve_end();
    }
}

/* What the recorder needs to reach its files by their names. */
static bool lose(const char *word, const char *path)
{
    struct rlimit none;
    if (strcmp(word, "drop") == 0)
        return setgid(65534) == 0 && setuid(65534) == 0;
    if (strcmp(word, "root") == 0)
        return chroot(path) == 0 && chdir("/") == 0;
    if (strcmp(word, "descriptors") != 0 || getrlimit(RLIMIT_NOFILE, &none) != 0)
        return false;
    none.rlim_cur = 3;
    return setrlimit(RLIMIT_NOFILE, &none) == 0;
}

/* "ok PID" comes from the child; its second half begins at the next line. */
static void fork_child(long count)
{
    char line[64];
    pid_t child = fork();
    if (child == 0) {
        pairs(count);
        printf("ok %d\n", (int)getpid());
        fflush(stdout);
        if (fgets(line, sizeof line, stdin) != NULL)
            pairs(count);
        printf("ok\n");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static unsigned long seen;

static int see(void *user, const struct varve_observed *what, uint64_t *out_context)
{
    (void)user, (void)what, (void)out_context;
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
    return 0;
}

static void observe(bool is_added)
{
    static uint64_t handle;
    struct varve_observer observer = VARVE_OBSERVER_INIT;
    observer.start = see;
    if ((is_added ? varve_observer_add(&observer, &handle, NULL)
                  : varve_observer_remove(handle, NULL)) != VARVE_OK)
        exit(2);
}

static int obey(const char *word, long number)
{
    if (strcmp(word, "pairs") == 0)
        pairs(number);
    else if (strcmp(word, "threads") == 0)
        threads(number);
    else if (strcmp(word, "steps") == 0)
        steps(number);
    else if (strcmp(word, "open") == 0)
        varve_begin(&left_open);
    else if (strcmp(word, "names") == 0)
        names(number);
    else if (strcmp(word, "other") == 0)
        others(number);
    else if (strcmp(word, "close") == 0)
        varve_end();
    else if (strcmp(word, "set") == 0)
        varve_layers_set((uint32_t)number);
    else if (strcmp(word, "alloc") == 0)
        varve_alloc((void *)(intptr_t)number, 1000, VARVE_DEVICE_CPU);
    else if (strcmp(word, "free") == 0)
        varve_free((void *)(intptr_t)number, VARVE_DEVICE_CPU);
    else if (strcmp(word, "sleep") == 0)
        usleep((useconds_t)number * 1000);
    else if (strcmp(word, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(word, "observe") == 0)
        observe(number != 0);
    else if (strcmp(word, "layers") != 0 && strcmp(word, "observed") != 0)
        return 1;
    return 0;
}

int main(void)
{
    char line[64], word[64];
    setvbuf(stdin, NULL, _IONBF, 0); /* a forked child reads the next line, and no more */
    while (fgets(line, sizeof line, stdin) != NULL) {
        long number = 0;
        char path[64] = "";
        if (sscanf(line, "%63s %ld", word, &number) < 1)
            return 1;
        sscanf(line, "%*s %63s", path);
        if (lose(word, path)) {
            puts("ok");
            fflush(stdout);
            continue;
        }
        if (strcmp(word, "fork") == 0) {
            fork_child(number);
            continue;
        }
        if (obey(word, number) != 0)
            return 1;
        if (strcmp(word, "layers") == 0)
            printf("ok %u\n", varve_layers());
        else if (strcmp(word, "observed") == 0)
            printf("ok %lu\n", seen);
        else
            printf("ok\n");
        fflush(stdout);
    }
    return 0;
}
