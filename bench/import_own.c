/* SPDX-License-Identifier: Apache-2.0 */
/* import_own.c — how fast a trace of ours becomes a finished model, with one thread and with two.
 *
 * A child records RANGES ranges (20 million) of one site. Each reading is a process of its own, so
 * that its peak memory is its own too; readings with one thread and with two take turns. Floors are
 * measured with them (own_floor.h), whose sum no reader of one thread goes below: the streams are
 * copied, their records found, nested and known again, and as much memory as one thread needed is
 * written.
 * Of two threads the table shows the processor time of what both share and of what one alone does.
 * The bound is that of two idle cores: one thread / (alone + shared / 2). Beside it, once, how long
 * babeltrace2 takes to read the same trace and drop what it has read.
 * Usage: import_own [RANGES | TRACE] */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "import/importer.h"
#include "own_floor.h"
#include "sampling.h"
#include "varve/varve.h"

#define RANGES 20000000
#define ROUNDS 9
#define READERS 2

VARVE_SITE(work, "work", VARVE_LAYER_OP);

/* What a child says of itself, and what the system says of it. */
struct reading {
    uint64_t events;
    double seconds;
    double alone_s, shared_s; /* processor time of the first thread alone, and of all others     */
    double peak_bytes;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double process_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void record(const char *path, long ranges)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = path;
    if (varve_session_start(&options, &error) != VARVE_OK) {
        fprintf(stderr, "import_own: %s\n", error.message);
        _exit(1);
    }
    for (long i = 0; i < ranges; i++) {
        varve_begin(&work);
        varve_end();
    }
    _exit(varve_session_stop(&error) == VARVE_OK ? 0 : 1);
}

static struct reading import(const char *path, unsigned threads)
{
    const struct vv_import_options options = { .threads = threads };
    struct reading reading = { 0 };
    struct varve_error error;
    struct vv_model *model;
    double begin = now_s(), thread_s = bench_thread_s();
    if (vv_import_all(&path, 1, &options, &model, &error) == VARVE_OK) {
        reading.seconds = now_s() - begin;
        reading.alone_s = bench_thread_s() - thread_s - bench_shared_s;
        reading.shared_s = process_s() - thread_s - reading.alone_s;
        reading.events = model->run.events;
    } else {
        fprintf(stderr, "import_own: %s\n", error.message);
    }
    return reading;
}

/* Without its events where the child failed. */
static struct reading import_in_child(const char *path, unsigned threads)
{
    struct reading reading = { 0 };
    struct rusage usage;
    int ends[2], status;
    if (pipe(ends) != 0)
        return reading;
    pid_t child = fork();
    if (child == 0) {
        reading = import(path, threads);
        _exit(write(ends[1], &reading, sizeof reading) == (ssize_t)sizeof reading ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &reading, sizeof reading) != (ssize_t)sizeof reading)
        reading.events = 0;
    close(ends[0]);
    if (child > 0 && wait4(child, &status, 0, &usage) == child)
        reading.peak_bytes = (double)usage.ru_maxrss * 1024;
    return reading;
}

/* Seconds in which the system gives so much zeroed memory; 0: it does not. */
static double take_memory(double bytes)
{
    size_t size = (size_t)bytes;
    double begin = now_s(), end = begin;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    madvise(memory, size, MADV_HUGEPAGE);
    if (madvise(memory, size, MADV_POPULATE_WRITE) == 0)
        end = now_s();
    munmap(memory, size);
    return end - begin;
}

/* Seconds; 0 where it cannot be run. */
static double run_babeltrace(const char *path)
{
    double begin = now_s();
    int status;
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        execlp("babeltrace2", "babeltrace2", "-o", "dummy", path, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0)
        return 0;
    return now_s() - begin;
}

/* The floors, of one thread. */
enum floor { PAGES, COPY, WALK, KNOW, WRITE, SUM, FLOORS };

static void measure_floors(struct bench_samples *floors, const char *path, double peak_bytes,
                           double events)
{
    const double seconds[SUM] = { take_memory(peak_bytes), bench_own_copy_s(path),
                                  bench_own_walk_s(path), bench_own_know_s(path),
                                  bench_own_write_s(peak_bytes) };
    for (int i = 0; i < SUM; i++)
        bench_add(&floors[i], seconds[i] * 1e9 / events);
    bench_add(&floors[SUM], (seconds[COPY] + seconds[KNOW] + seconds[WRITE]) * 1e9 / events);
}

static void print_floors(struct bench_samples *floors, double one)
{
    for (int i = 0; i < SUM; i++)
        bench_print(&floors[i], one, i == PAGES ? "a part of writing it" : "");
    bench_print(&floors[SUM], one, "copied + known + written; the aim is 10 ns");
}

/* What two threads can gain if no core is ever taken from them. */
static void print_bound(struct bench_samples *alone, struct bench_samples *shared,
                        struct bench_samples *one_processor)
{
    double one = bench_median(one_processor), bound_ns = bench_median(alone) +
                                                         bench_median(shared) / 2;
    char note[80];
    bench_print(one_processor, one, "processor time");
    bench_print(alone, one, "processor time");
    snprintf(note, sizeof note, "processor time of both; so at most %.2f times as fast",
             one / bound_ns);
    bench_print(shared, one, note);
}

static int measure(const char *path)
{
    static struct bench_samples samples[READERS] = { { .name = "one thread" },
                                                     { .name = "two threads" } };
    static struct bench_samples floors[FLOORS] = {
        [PAGES] = { .name = "its memory, not written" },
        [COPY] = { .name = "its streams, copied" },
        [WALK] = { .name = "its records, found, nested" },
        [KNOW] = { .name = "the same, and known again" },
        [WRITE] = { .name = "its memory, written" },
        [SUM] = { .name = "the floor of one thread" },
    };
    static struct bench_samples processor = { .name = "one thread, processor" },
                                alone = { .name = "two threads, one alone" },
                                shared = { .name = "two threads, shared" };
    double peak_bytes[READERS] = { 0 };
    uint64_t events = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < READERS; i++) {
            struct reading reading = import_in_child(path, i + 1);
            if (reading.events == 0)
                return 1;
            events = reading.events;
            double scale = 1e9 / (double)events;
            bench_add(&samples[i], reading.seconds * scale);
            bench_add(i == 0 ? &processor : &alone,
                      (reading.alone_s + (i == 0 ? reading.shared_s : 0)) * scale);
            if (i > 0)
                bench_add(&shared, reading.shared_s * scale);
            if (reading.peak_bytes > peak_bytes[i])
                peak_bytes[i] = reading.peak_bytes;
        }
        measure_floors(floors, path, peak_bytes[0], (double)events);
    }
    double one = bench_median(&samples[0]), babeltrace_s = run_babeltrace(path);
    bench_print_head("ns an event of ours, read", "x one", "min");
    for (int i = 0; i < READERS; i++) {
        char note[80];
        snprintf(note, sizeof note, "%.0f to %.0f M events/s, %.1f bytes an event at most",
                 1e3 / bench_median(&samples[i]), 1e3 / bench_quantile(&samples[i], 0),
                 peak_bytes[i] / (double)events);
        bench_print(&samples[i], one, note);
    }
    print_floors(floors, one);
    print_bound(&alone, &shared, &processor);
    struct bench_samples other = { .name = "babeltrace2 -o dummy" };
    if (babeltrace_s > 0) {
        bench_add(&other, babeltrace_s * 1e9 / (double)events);
        bench_print(&other, one, "once");
    } else {
        bench_print_absent(other.name, "it cannot be run here");
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strspn(argv[1], "0123456789") < strlen(argv[1]))
        return measure(argv[1]);
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    long ranges = argc > 1 ? strtol(argv[1], NULL, 10) : RANGES;
    int status = 1;
    snprintf(path, sizeof path, "%s/varve-bench-XXXXXX", folder != NULL ? folder : "/tmp");
    if (ranges < 1 || mkdtemp(path) == NULL) {
        fprintf(stderr, "import_own: %s\n",
                ranges < 1 ? "usage: import_own [RANGES]" : strerror(errno));
        return 2;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        record(path, ranges);
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
        status = measure(path);
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status == 0 ? 0 : 1;
}
