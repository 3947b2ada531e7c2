/* SPDX-License-Identifier: Apache-2.0 */
/* analyse.c — how long each table takes on a large trace, once that is read, and how much memory.
 *
 *     build/bench/analyse [-s MEGABYTES] [-r ROUNDS] [TRACE]         from the folder of the sources
 *
 * TRACE is written again and again by bench/make_kineto.py until the file has the size (1850: 4 M
 * events of the standard trace); it is read once, and every table of src/analyse/tables.c is made
 * of it in a child process of its own. Of some rounds the fastest counts; memory is the pages that
 * the child touched. On the trace itself, as it is: HTA's answer and ours, each a process that
 * reads the file. Wanted: every table in less than a second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyse/tables.h"
#include "import/importer.h"
#include "question/question.h"

#define STANDARD_TRACE "../shared/traces/kineto/resnet50_workers0.json.gz"
#define HTA_TRACE "../shared/traces/hta/ns_resolution.json.gz"
#define FOLDER "build/bench/traces"
#define CLIENTS "build/venv-clients/bin/python"
#define HTA                                                          \
    "import sys; from hta.trace_analysis import TraceAnalysis as T;" \
    "t = T(trace_files={0: sys.argv[1]}, trace_dir='');"             \
    "t.get_temporal_breakdown(visualize=False)"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- one table, in a child ---- */

struct result {
    double seconds, busy_seconds, megabytes; /* busy: of processors, all threads together       */
    unsigned long rows;
    bool is_done;
};

static double busy(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

static struct result make_table(const struct vv_model *model, vv_analyse_fn *analyse)
{
    const struct vv_question question = VV_QUESTION_ALL;
    struct result result = { 0 };
    struct rusage before, after;
    struct varve_error error;
    struct vv_sheet sheet;
    getrusage(RUSAGE_SELF, &before);
    double begin = now();
    result.is_done = vv_analyse(analyse, model, &question, &sheet, &error) == VARVE_OK;
    result.seconds = now() - begin;
    getrusage(RUSAGE_SELF, &after);
    result.busy_seconds = busy(&after) - busy(&before);
    result.megabytes =
        (double)(after.ru_minflt - before.ru_minflt) * (double)sysconf(_SC_PAGESIZE) * 1e-6;
    result.rows = result.is_done ? sheet.row_count : 0;
    if (!result.is_done)
        fprintf(stderr, "%s\n", error.message);
    return result;
}

static struct result measure(const struct vv_model *model, vv_analyse_fn *analyse)
{
    struct result result = { 0 };
    int ends[2];
    if (pipe(ends) != 0)
        return result;
    pid_t child = fork();
    if (child == 0) {
        result = make_table(model, analyse);
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &result, sizeof result) != sizeof result)
        result.is_done = false;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return result;
}

static void print_tables(const struct vv_model *model, int rounds)
{
    printf("%-18s %9s %9s %9s %9s\n", "table", "ms", "CPU ms", "MB", "rows");
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++) {
        struct result best = { 0 };
        for (int round = 0; round < rounds; round++) {
            struct result result = measure(model, table->analyse);
            if (result.is_done && (!best.is_done || result.seconds < best.seconds))
                best = result;
        }
        if (best.is_done)
            printf("%-18s %9.1f %9.1f %9.1f %9lu%s\n", table->name, best.seconds * 1e3,
                   best.busy_seconds * 1e3, best.megabytes, best.rows,
                   best.seconds > 1 ? "  over a second" : "");
        else
            printf("%-18s    failed\n", table->name);
        fflush(stdout);
    }
}

/* ---- whole processes, on the trace as it is ---- */

static double run(char *const *command)
{
    int status = 1;
    double begin = now();
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL && freopen("/dev/null", "w", stderr) != NULL)
            execvp(command[0], command);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return -1;
    return now() - begin;
}

static void compare_with_hta(int rounds)
{
    char *hta[] = { CLIENTS, "-c", HTA, HTA_TRACE, NULL };
    char *ours[] = { "build/varve", "report", "--no-cache", "--table", "devices", HTA_TRACE, NULL };
    double hta_seconds = -1, our_seconds = -1;
    if (access(HTA_TRACE, R_OK) != 0 || access(CLIENTS, X_OK) != 0) {
        puts("HTA beside it: needs the shared traces and make build/venv-clients/ready");
        return;
    }
    for (int round = 0; round < rounds; round++) {
        double seconds = run(hta);
        hta_seconds =
            seconds > 0 && (hta_seconds < 0 || seconds < hta_seconds) ? seconds : hta_seconds;
        seconds = run(ours);
        our_seconds =
            seconds > 0 && (our_seconds < 0 || seconds < our_seconds) ? seconds : our_seconds;
    }
    if (hta_seconds > 0 && our_seconds > 0)
        printf("%s, read and broken down: HTA %.2f s, varve %.3f s: %.0f times\n", HTA_TRACE,
               hta_seconds, our_seconds, hta_seconds / our_seconds);
}

static int measure_trace(const char *trace, const char *megabytes, int rounds)
{
    static char path[4096];
    const char *name = strrchr(trace, '/') != NULL ? strrchr(trace, '/') + 1 : trace;
    struct vv_model *model;
    struct varve_error error;
    struct stat status;
    snprintf(path, sizeof path, FOLDER "/%s.%s.json", name, megabytes);
    mkdir("build/bench", 0777);
    mkdir(FOLDER, 0777);
    char *command[] = { "python3", "bench/make_kineto.py", (char *)trace, path, (char *)megabytes,
                        NULL };
    if (stat(path, &status) != 0 && run(command) < 0) {
        fprintf(stderr, "analyse: python3 bench/make_kineto.py %s %s %s failed\n", trace, path,
                megabytes);
        return 1;
    }
    double begin = now();
    if (vv_import_all((const char *const[]){ path }, 1, NULL, &model, &error) != VARVE_OK) {
        fprintf(stderr, "analyse: %s\n", error.message);
        return 1;
    }
    printf("%s of %s MB: %llu events, %llu slices, read in %.1f s\n", name, megabytes,
           (unsigned long long)model->run.events, (unsigned long long)model->slices.table.count,
           now() - begin);
    print_tables(model, rounds);
    vv_model_destroy(model);
    unlink(path);
    return 0;
}

int main(int argc, char **argv)
{
    const char *megabytes = "1000", *trace = STANDARD_TRACE;
    int rounds = 3, option;
    while ((option = getopt(argc, argv, "s:r:")) != -1) {
        if (option == 's')
            megabytes = optarg;
        else if (option == 'r')
            rounds = atoi(optarg);
        else
            return 2;
    }
    if (optind < argc)
        trace = argv[optind];
    if (access(trace, R_OK) != 0) {
        printf("analyse: no %s: name a Kineto trace:  build/bench/analyse TRACE\n", trace);
        return 0;
    }
    int status = measure_trace(trace, megabytes, rounds);
    if (status == 0)
        compare_with_hta(rounds);
    return status;
}
