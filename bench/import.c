/* SPDX-License-Identifier: Apache-2.0 */
/* import.c — how fast a large Kineto or XSpace trace becomes a finished model, and how much memory
 * that takes.
 *
 *     build/bench/import [-s MEGABYTES] [-r ROUNDS] [-k] [-o] [TRACE...]  from the folder of the
 *     sources
 *
 * Each TRACE is written again and again by bench/make_kineto.py, a .xplane.pb by
 * bench/make_xspace.py, until the file has the size (1000); -k keeps that file in
 * build/bench/traces for the next time, -o leaves other programs out. Without a TRACE: some that
 * lie beside the sources, or else a made one, and 100 MB. Every reading is a process of its own,
 * so that its memory is its own; all take turns. On the same JSON: parts of reading alone
 * (floors.h), and the first screen; once, Python's json, and HTA's loader where make check-clients
 * has installed it; and the same JSON compressed, against decompressing it and no more. Of an
 * XSpace: the floor of one core (xspace_floor.h), and what each column takes. Wanted of one
 * thread: 2 GB/s of JSON, of two 4; of .gz 0.8 and 0.95 of inflation alone; 0.6 s for the first
 * screen of 1 GB; memory: at most the file's size. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "floors.h"
#include "import/importer.h"
#include "xspace_floor.h"

#define FOLDER "build/bench/traces"
#define PYTHON "build/venv-clients/bin/python"
#define SCREEN "build/varve" /* its first screen                                            */
#define JSON "import json, sys; json.load(open(sys.argv[1]), strict=False)"
#define HTA                                                  \
    "import sys; from hta.common.trace import Trace;"        \
    "t = Trace(trace_files={0: sys.argv[1]}, trace_dir='');" \
    "t.parse_traces(use_multiprocessing=False)"
#define MADE "made" /* to bench/make_kineto.py                                                */
#define ROUNDS_MAX 99
#define PATH_BYTES 512

static const char *const standard_traces[] = {
    "../shared/traces/kineto/resnet50_workers0.json.gz",
    "../shared/traces/hta/ns_resolution.json.gz",
    "../shared/traces/tracelens/h100_timesformer.json.gz",
};

/* What is measured, each of one of the files; the first of each file is what the others are held
 * against. Ours stand first. */
static const struct variant {
    const char *name, *ending;
    unsigned threads;    /* of ours; 0: decompressing alone, or                                 */
    const char *program; /* Python's                                                            */
    enum floor floor;    /* no model, but this part of reading alone, or                        */
    int (*alone)(const char *path); /* this                                                     */
} json_variants[] = {
    { "one thread", "", 1, NULL, FLOOR_NONE, NULL },
    { "two threads", "", 2, NULL, FLOOR_NONE, NULL },
    { "as many pages, one", "", 1, NULL, FLOOR_PAGES, NULL },
    { "copied alone, one", "", 1, NULL, FLOOR_COPY, NULL },
    { "copied alone, two", "", 2, NULL, FLOOR_COPY, NULL },
    { "tokens alone, one", "", 1, NULL, FLOOR_TOKENS, NULL },
    { "tokens alone, two", "", 2, NULL, FLOOR_TOKENS, NULL },
    { "events taken apart, one", "", 1, NULL, FLOOR_EVENTS, NULL },
    { "events taken apart, two", "", 2, NULL, FLOOR_EVENTS, NULL },
    { "first screen, two", "", 0, SCREEN, FLOOR_NONE, NULL },
    { "Python's json", "", 0, JSON, FLOOR_NONE, NULL },
    { "HTA's loader", "", 0, HTA, FLOOR_NONE, NULL },
    { "inflation alone", ".gz", 0, NULL, FLOOR_NONE, NULL },
    { "one thread", ".gz", 1, NULL, FLOOR_NONE, NULL },
    { "two threads", ".gz", 2, NULL, FLOOR_NONE, NULL },
    { "decompression alone", ".zst", 0, NULL, FLOOR_NONE, NULL },
    { "one thread", ".zst", 1, NULL, FLOOR_NONE, NULL },
    { "two threads", ".zst", 2, NULL, FLOOR_NONE, NULL },
};
static const struct variant xspace_variants[] = {
    { "one thread", "", 1, NULL, FLOOR_NONE, NULL },
    { "two threads", "", 2, NULL, FLOOR_NONE, NULL },
    { "walking alone", "", 0, NULL, FLOOR_NONE, bench_floor_walk },
    { "rows alone, not kept", "", 0, NULL, FLOOR_NONE, bench_floor_nest },
    { "writing columns alone", "", 0, NULL, FLOOR_NONE, bench_floor_write },
};
#define COUNT(variants) (sizeof variants / sizeof variants[0])
#define VARIANTS COUNT(json_variants)

struct readings {
    double seconds[ROUNDS_MAX]; /* rising                                                       */
    int count;
    double memory_bytes;        /* the most                                                     */
    double processor_s;         /* user and system, the least                                   */
};

/* What the command line says. */
struct wish {
    const char *megabytes;
    int rounds;
    bool is_kept, is_ours_only;
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- one reading, in the child ---- */

static enum varve_code unpack(const char *path, struct varve_error *error)
{
    static char buffer[512 << 10];
    struct vv_source *source;
    size_t got = 1;
    enum varve_code code = vv_source_open(path, &source, error);
    while (code == VARVE_OK && got > 0)
        code = vv_source_read(source, buffer, sizeof buffer, &got, error);
    return code;
}

static int read_trace(const char *path, const struct variant *variant)
{
    const struct vv_import_options options = { .threads = variant->threads };
    struct vv_model *model;
    struct varve_error error;
    enum varve_code code;
    if (variant->floor != FLOOR_NONE)
        code = floor_read(path, variant->floor, variant->threads, &error);
    else if (variant->threads == 0)
        code = unpack(path, &error);
    else
        code = vv_import_all(&path, 1, &options, &model, &error);
    if (code == VARVE_OK)
        return 0; /* the process ends: freeing is not reading                                   */
    fprintf(stderr, "import: %s\n", error.message);
    return 1;
}

static void run_program(const char *program, const char *path)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    /* also argv[0]: it tells Python its packages */
    const char *python = access(PYTHON, X_OK) == 0 ? PYTHON : "python3";
    if (strcmp(program, SCREEN) == 0)
        execl(SCREEN, SCREEN, "report", "--no-cache", path, (char *)NULL);
    else
        execlp(python, python, "-c", program, path, (char *)NULL);
    _exit(127);
}

/* ---- and in the parent ---- */

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void add(struct readings *readings, double seconds, const struct rusage *usage)
{
    double memory_bytes = (double)usage->ru_maxrss * 1024;
    double processor_s = seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime);
    if (readings->count == 0 || processor_s < readings->processor_s)
        readings->processor_s = processor_s;
    int at = readings->count++;
    for (; at > 0 && readings->seconds[at - 1] > seconds; at--)
        readings->seconds[at] = readings->seconds[at - 1];
    readings->seconds[at] = seconds;
    if (memory_bytes > readings->memory_bytes)
        readings->memory_bytes = memory_bytes;
}

/* A host takes back the pages that a guest does not use, and gives them slowly. So a process before
 * one that makes a model gets such pages; the next gets the same. */
static void warm_pages(const char *path)
{
    struct varve_error error;
    pid_t child = fork();
    if (child == 0)
        _exit(floor_read(path, FLOOR_PAGES, 1, &error) != VARVE_OK);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void measure(const char *path, const struct variant *variant, struct readings *readings)
{
    struct rusage usage;
    int status = 1;
    double begin_s = now_s();
    pid_t child = fork();
    if (child == 0) {
        if (variant->program != NULL)
            run_program(variant->program, path);
        _exit(variant->alone != NULL ? variant->alone(path) : read_trace(path, variant));
    }
    if (child > 0 && wait4(child, &status, 0, &usage) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == 0)
        add(readings, now_s() - begin_s, &usage);
}

static bool run(const char *const *words)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool is_xspace(const char *path)
{
    return strstr(path, ".xplane.pb") != NULL;
}

static void print_rows(const struct variant *variants, const struct readings *all, size_t count,
                       double bytes)
{
    printf("%-28s %9s %9s %9s %9s %9s %9s\n", "MB/s, not compressed", "best", "median", "x first",
           "s", "CPU s", "RSS/file");
    const struct readings *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct readings *one = &all[i];
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", variants[i].ending,
                 *variants[i].ending != '\0' ? ", " : "", variants[i].name);
        if (i == 0 || strcmp(variants[i].ending, variants[i - 1].ending) != 0)
            first = one;
        if (one->count == 0) {
            printf("%-28s not installed here, or failed\n", name);
            continue;
        }
        printf("%-28s %9.0f %9.0f %9.2f %9.3f %9.3f %9.2f\n", name, bytes / one->seconds[0] / 1e6,
               bytes / one->seconds[one->count / 2] / 1e6,
               first->count > 0 ? one->seconds[0] / first->seconds[0] : 0, one->seconds[0],
               one->processor_s, one->memory_bytes / bytes);
    }
    fflush(stdout);
}

/* These take long, so once is enough. */
static bool is_others(const struct variant *variant)
{
    return variant->program != NULL && strcmp(variant->program, SCREEN) != 0;
}

/* `path` has room for the ending of a compressed file. */
static void compare(char *path, const struct wish *wish)
{
    static struct readings all[VARIANTS];
    struct stat status;
    bool of_xspace = is_xspace(path);
    const struct variant *variants = of_xspace ? xspace_variants : json_variants;
    size_t length = strlen(path), count = of_xspace ? COUNT(xspace_variants) : VARIANTS;
    if (stat(path, &status) != 0)
        return;
    memset(all, 0, sizeof all);
    if (of_xspace && bench_floor_columns(path, (double)status.st_size) != 0)
        fprintf(stderr, "import: cannot count the columns of %s\n", path);
    if (!of_xspace) {
        run((const char *const[]){ "gzip", "-kf", path, NULL });
        run((const char *const[]){ "zstd", "-qkf", path, NULL });
    }
    for (int round = 0; round < wish->rounds; round++)
        for (size_t i = 0; i < count; i++) {
            path[length] = '\0';
            if (!is_others(&variants[i]))
                warm_pages(path);
            strcpy(path + length, variants[i].ending);
            bool is_wanted = !is_others(&variants[i]) || (round == 0 && !wish->is_ours_only);
            if (is_wanted && access(path, R_OK) == 0)
                measure(path, &variants[i], &all[i]);
        }
    for (size_t i = 0; i < count; i++) {
        strcpy(path + length, variants[i].ending);
        if (path[length] != '\0')
            unlink(path);
    }
    path[length] = '\0';
    printf("%s, %.0f MB\n", path, (double)status.st_size / 1e6);
    print_rows(variants, all, count, (double)status.st_size);
}

/* ---- the files ---- */

static int bench_trace(const char *source, const struct wish *wish)
{
    char path[PATH_BYTES];
    const char *slash = strrchr(source, '/'), *name = slash != NULL ? slash + 1 : source;
    const char *program = is_xspace(source) ? "bench/make_xspace.py" : "bench/make_kineto.py";
    const char *const words[] = { "python3", program, source, path, wish->megabytes, NULL };
    snprintf(path, sizeof path - 8, FOLDER "/%.*s.%s.%s", (int)strcspn(name, "."), name,
             wish->megabytes, is_xspace(source) ? "xplane.pb" : "json");
    if (strcmp(source, MADE) != 0 && access(source, R_OK) != 0) {
        fprintf(stderr, "import: cannot read %s: %s\n", source, strerror(errno));
        return 1;
    }
    if (access(path, R_OK) != 0 && !run(words)) {
        fprintf(stderr, "import: cannot make %s of %s\n", path, source);
        unlink(path);
        return 1;
    }
    compare(path, wish);
    if (!wish->is_kept)
        unlink(path);
    return 0;
}

int main(int argc, char **argv)
{
    struct wish wish = { .rounds = 3 };
    int option, failed = 0, standard = 0;
    while ((option = getopt(argc, argv, "s:r:ko")) != -1) {
        if (option == 's')
            wish.megabytes = optarg;
        else if (option == 'r')
            wish.rounds = atoi(optarg) < ROUNDS_MAX ? atoi(optarg) : ROUNDS_MAX;
        else if (option == 'k')
            wish.is_kept = true;
        else if (option == 'o')
            wish.is_ours_only = true;
        else
            return 2;
    }
    if (mkdir(FOLDER, 0777) != 0 && errno != EEXIST) {
        printf("import: cannot make " FOLDER ": %s; run it in the folder of the sources\n",
               strerror(errno));
        return 0;
    }
    if (wish.megabytes == NULL)
        wish.megabytes = optind < argc ? "1000" : "100";
    for (int i = optind; i < argc; i++)
        failed |= bench_trace(argv[i], &wish);
    for (size_t i = 0; optind == argc && i < sizeof standard_traces / sizeof standard_traces[0];
         i++)
        if (access(standard_traces[i], R_OK) == 0) {
            standard++;
            failed |= bench_trace(standard_traces[i], &wish);
        }
    return optind == argc && standard == 0 ? bench_trace(MADE, &wish) : failed;
}
