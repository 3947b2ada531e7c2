/* SPDX-License-Identifier: Apache-2.0 */
/* import.c — how fast a large Kineto or XSpace trace becomes a finished model, and how much memory that takes.
 *
 *     build/bench/import [-s MEGABYTES] [-r ROUNDS] [TRACE...]       from the folder of the sources
 *
 * Each TRACE is written again and again by bench/make_kineto.py, a .xplane.pb by bench/make_xspace.py, until the file has the size (1000). Every reading is a process
 * of its own, so that its memory is its own; of some rounds the fastest counts. On the same file: Python's json, and
 * HTA's loader where it is installed. Wanted: 800 MB/s by one thread, 1.7 times that by two, memory at most the file's size. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "import/importer.h"

#define FOLDER "build/bench/traces"
#define PYTHON_JSON "import json, sys; json.load(open(sys.argv[1]), strict=False)"
#define PYTHON_HTA                                                                                  \
    "import sys; from hta.common.trace import Trace; t = Trace(trace_files={0: sys.argv[1]}, trace_dir='');" \
    "t.parse_traces(use_multiprocessing=False)"

static const char *const standard_traces[] = {
    "../shared/traces/kineto/resnet50_workers0.json.gz",
    "../shared/traces/hta/ns_resolution.json.gz",
    "../shared/traces/tracelens/h100_timesformer.json.gz",
};

struct result {
    double seconds, memory_bytes;
    bool is_done;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- one reading, in the child ---- */

static int read_trace(const char *path, unsigned threads)
{
    const struct vv_import_options options = { .threads = threads };
    struct vv_model *model;
    struct varve_error error;
    if (vv_import_all(&path, 1, &options, &model, &error) != VARVE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    return 0; /* the process ends: freeing is not reading                                       */
}

static void run_python(const char *program, const char *path)
{
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
        _exit(1);
    execlp("python3", "python3", "-c", program, path, (char *)NULL);
    _exit(127);
}

/* ---- and in the parent ---- */

static struct result measure(const char *path, unsigned threads, const char *program)
{
    struct rusage usage;
    int status = 1;
    double begin = now();
    pid_t child = fork();
    if (child == 0) {
        if (program != NULL)
            run_python(program, path);
        _exit(read_trace(path, threads));
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return (struct result){ 0 };
    return (struct result){ now() - begin, (double)usage.ru_maxrss * 1024,
                            WIFEXITED(status) && WEXITSTATUS(status) == 0 };
}

static struct result best_of(const char *path, unsigned threads, const char *program, int rounds)
{
    struct result best = { 0 };
    for (int i = 0; i < rounds; i++) {
        struct result one = measure(path, threads, program);
        if (one.is_done && (!best.is_done || one.seconds < best.seconds))
            best = one;
    }
    return best;
}

static void print_row(const char *what, const struct result *result, double bytes, double one_thread_s)
{
    if (!result->is_done) {
        printf("%-26s not installed, or failed\n", what);
        return;
    }
    printf("%-26s %9.0f %10.2f %9.2f %9.2f\n", what, bytes / result->seconds / 1e6,
           one_thread_s / result->seconds, result->seconds, result->memory_bytes / bytes);
    fflush(stdout);
}

static bool is_xspace(const char *path)
{
    return strstr(path, ".xplane.pb") != NULL;
}

static void compare(const char *path, int rounds)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return;
    double bytes = (double)status.st_size;
    printf("%s, %.0f MB\n%-26s %9s %10s %9s %9s\n", path, bytes / 1e6, "", "MB/s", "x one", "s", "RSS/file");
    struct result one = best_of(path, 1, NULL, rounds), two = best_of(path, 2, NULL, rounds);
    print_row("varve, one thread", &one, bytes, one.seconds);
    print_row("varve, two threads", &two, bytes, one.seconds);
    if (is_xspace(path))
        return;
    struct result json = best_of(path, 0, PYTHON_JSON, 1), hta = best_of(path, 0, PYTHON_HTA, 1);
    print_row("Python's json", &json, bytes, one.seconds);
    print_row("HTA's loader", &hta, bytes, one.seconds);
}

/* ---- the files ---- */

static bool make_trace(const char *source, const char *path, const char *megabytes)
{
    const char *program = is_xspace(source) ? "bench/make_xspace.py" : "bench/make_kineto.py";
    int status;
    pid_t child = fork();
    if (child == 0) {
        execlp("python3", "python3", program, source, path, megabytes, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int bench_trace(const char *source, const char *megabytes, int rounds)
{
    char path[512];
    const char *name = strrchr(source, '/');
    snprintf(path, sizeof path, FOLDER "/%.*s.%s.%s", (int)strcspn(name != NULL ? name + 1 : source, "."),
             name != NULL ? name + 1 : source, megabytes, is_xspace(source) ? "xplane.pb" : "json");
    if (access(source, R_OK) != 0) {
        printf("%s: %s\n", source, strerror(errno));
        return 0;
    }
    if (access(path, R_OK) != 0 && !make_trace(source, path, megabytes)) {
        fprintf(stderr, "import: cannot make %s\n", path);
        return 1;
    }
    compare(path, rounds);
    return 0;
}

int main(int argc, char **argv)
{
    const char *megabytes = "1000";
    int rounds = 3, option, failed = 0;
    while ((option = getopt(argc, argv, "s:r:")) != -1) {
        if (option == 's')
            megabytes = optarg;
        else if (option == 'r')
            rounds = atoi(optarg);
        else
            return 2;
    }
    if (mkdir(FOLDER, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "import: cannot make " FOLDER ": %s; run it in the folder of the sources\n", strerror(errno));
        return 1;
    }
    for (int i = optind; i < argc; i++)
        failed |= bench_trace(argv[i], megabytes, rounds);
    for (size_t i = 0; optind == argc && i < sizeof standard_traces / sizeof standard_traces[0]; i++)
        failed |= bench_trace(standard_traces[i], megabytes, rounds);
    return failed;
}
