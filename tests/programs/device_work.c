/* SPDX-License-Identifier: Apache-2.0 */
/* device_work.c — a program whose device tells of its work with times of its own clock.
 * tests/import records it and compares the trace with what it prints.
 *
 * The device's clock is CLOCK_MONOTONIC in eighths of a microsecond, far from our zero. Each step
 * launches a kernel and a copy. A second thread reports them later, the newest first. For each
 * piece of work there is one line: name, begin and end in ns of CLOCK_MONOTONIC, its correlation.
 * Arguments: number of steps; "kill" to die by SIGKILL at the end, "fork" to let a child report a
 * last kernel, "twice" to record in two sessions of its own. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "varve/device.h"

#define VALUES_PER_US 8
#define FAR INT64_C(-4000000000000000000)

VARVE_SITE(conv_site, "conv", VARVE_LAYER_OP);
VARVE_SITE(launch_site, "launch", VARVE_LAYER_RUNTIME);

struct work {
    int64_t begin_ns, end_ns;
    uint64_t correlation;
    uint32_t track;
};

static uint32_t device_clock, tracks[2];
static struct work *works;
static long work_count;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t value_at(int64_t time_ns)
{
    return FAR + time_ns / (1000 / VALUES_PER_US);
}

/* The closest of many readings of both clocks: between two of ours the thread may have to wait. */
static void pair(void)
{
    uint64_t least = UINT64_MAX, ticks = 0;
    int64_t value = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t before = varve_ticks();
        int64_t now = value_at(now_ns());
        uint64_t taken = varve_ticks() - before;
        if (taken >= least)
            continue;
        least = taken;
        ticks = before + taken / 2;
        value = now;
    }
    varve_clock_pair(device_clock, value, ticks, 200);
}

static int add_device(void)
{
    struct varve_clock_info clock = { sizeof clock, 0, "toy clock", VALUES_PER_US * 1000000, 125 };
    if (varve_clock_add(&clock, &device_clock, NULL) != VARVE_OK)
        return 0;
    const uint32_t clocks[] = { device_clock, VARVE_CLOCK_MONOTONIC };
    const char *names[] = { "compute", "copy" };
    for (int i = 0; i < 2; i++) {
        struct varve_track_info track = { sizeof track, clocks[i], names[i],
                                          VARVE_DEVICE(VARVE_DEVICE_KIND_OPENCL, 1), 0, 3, i };
        if (varve_track_add(&track, &tracks[i], NULL) != VARVE_OK)
            return 0;
    }
    return 1;
}

static void report(const struct work *work)
{
    int is_copy = work->track == tracks[1];
    struct varve_activity_info info = {
        sizeof info, work->track, is_copy ? "Memcpy HtoD" : "conv_kernel",
        is_copy ? VARVE_ACTIVITY_COPY : VARVE_ACTIVITY_KERNEL, 0,
        is_copy ? work->begin_ns : value_at(work->begin_ns),
        is_copy ? work->end_ns : value_at(work->end_ns), work->correlation, is_copy ? 4096 : 0
    };
    varve_activity(&info);
}

static void *report_all(void *unused)
{
    for (long i = work_count - 1; i >= 0; i--)
        report(&works[i]);
    return unused;
}

static void run_step(long index)
{
    varve_step_begin(index);
    varve_begin(&conv_site);
    for (int i = 0; i < 2; i++) {
        struct work *work = &works[work_count++];
        varve_begin(&launch_site);
        work->correlation = (uint64_t)work_count;
        varve_launch(work->correlation);
        varve_end();
        work->track = tracks[i];
        work->begin_ns = now_ns() + 5000;
        work->end_ns = work->begin_ns + 20000;
    }
    varve_end();
    while (now_ns() < works[work_count - 1].end_ns)
        continue;
    varve_step_end();
}

static void run(long steps)
{
    pthread_t thread;
    work_count = 0;
    pair();
    for (long i = 0; i < steps; i++)
        run_step(i);
    pair();
    if (pthread_create(&thread, NULL, report_all, NULL) == 0)
        pthread_join(thread, NULL);
    for (long i = 0; i < work_count; i++)
        printf("%s %" PRId64 " %" PRId64 " %" PRIu64 "\n",
               works[i].track == tracks[1] ? "copy" : "kernel", works[i].begin_ns, works[i].end_ns,
               works[i].correlation);
}

static void run_session(long steps, const char *name)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = name;
    if (varve_session_start(&options, NULL) == VARVE_OK) {
        run(steps);
        if (varve_session_stop(NULL) != VARVE_OK)
            puts("not stopped");
    }
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 5;
    const char *how = argc > 2 ? argv[2] : "";
    works = calloc((size_t)steps * 2, sizeof *works);
    if (works == NULL || !add_device())
        return 99;
    if (strcmp(how, "twice") == 0) {
        run_session(steps, "first.varve");
        run_session(steps, "second.varve");
        return 0;
    }
    run(steps);
    if (strcmp(how, "fork") == 0) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            report(&works[0]);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    fflush(stdout);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    return 0;
}
