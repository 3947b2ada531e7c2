/* SPDX-License-Identifier: Apache-2.0 */
/* nothing.c — what `varve record` costs a program in which there is nothing to record: bare, with
 * the library loaded, and by the command, in turns. Times are of the whole process, with its
 * children. */
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "sampling.h"

#define ROUNDS 100
#define WORDS_MAX 12

extern char **environ;

struct variant {
    char *words[WORDS_MAX];
    char **environment;
    struct bench_samples wall_ms, cpu_ms;
};

static double cpu_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return 1e3 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void run(struct variant *variant)
{
    pid_t pid;
    int status = 1;
    double cpu = cpu_ms();
    int64_t begin_ns = vv_clock_monotonic_ns();
    if (posix_spawn(&pid, variant->words[0], NULL, NULL, variant->words, variant->environment) !=
            0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "nothing: %s failed\n", variant->words[0]);
        exit(1);
    }
    bench_add(&variant->wall_ms, 1e-6 * (double)(vv_clock_monotonic_ns() - begin_ns));
    bench_add(&variant->cpu_ms, cpu_ms() - cpu);
}

/* The environment with one variable more. */
static char **with(char *setting)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **more = calloc(count + 2, sizeof *more);
    if (more == NULL)
        exit(1);
    memcpy(more, environ, count * sizeof *more);
    more[count] = setting;
    return more;
}

static void measure(char *varve, char *preload, char *const program[4])
{
    static char trace[] = "/tmp/varve-bench-nothing.varve";
    static const char *const names[] = { "bare", "library loaded", "varve record" };
    char *words[] = { varve, "record", "--quiet", "-o", trace, "--" };
    struct variant variants[3] = { { .environment = environ }, { .environment = with(preload) },
                                   { .environment = environ } };
    memcpy(variants[2].words, words, sizeof words);
    for (size_t i = 0; i < 3; i++)
        memcpy(variants[i].words + (i == 2 ? sizeof words / sizeof *words : 0), program,
               4 * sizeof *program);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < 3; i++)
            run(&variants[i]);
    free(variants[1].environment);
    printf("\n%s %s, ms   wall least, quarter   cpu least, quarter\n", program[0],
           program[1] != NULL ? program[1] : "");
    for (size_t i = 0; i < 3; i++)
        printf("  %-16s %8.2f %8.2f %12.2f %8.2f\n", names[i],
               bench_quantile(&variants[i].wall_ms, 0), bench_quantile(&variants[i].wall_ms, 0.25),
               bench_quantile(&variants[i].cpu_ms, 0), bench_quantile(&variants[i].cpu_ms, 0.25));
}

int main(void)
{
    static char varve[PATH_MAX], preload[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", varve, sizeof varve - 16);
    char *slash = length > 0 ? strrchr(varve, '/') : NULL;
    if (slash == NULL)
        return 1;
    strcpy(slash, "/../varve");
    snprintf(preload, sizeof preload, "LD_PRELOAD=%.*s/../libvarve.so", (int)(slash - varve),
             varve);
    measure(varve, preload, (char *const[4]){ "/bin/true" });
    if (access("/usr/bin/python3", X_OK) == 0)
        measure(varve, preload, (char *const[4]){ "/usr/bin/python3", "-c", "pass" });
    return 0;
}
