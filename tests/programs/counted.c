/* SPDX-License-Identifier: Apache-2.0 */
/* counted.c — for tests: three operators in each of three steps. "touch" takes 64 fresh pages,
 * "nap" sleeps, and "work" uses the processor for 2 ms, with an operator "inner" inside it.
 *
 *     counted [options TEXT | settings GROUP]    without arguments: `varve record` decides
 *     counted before                             a thread without records works before the steps,
 *     counted beside                             or while they run; then the process ends by _exit
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "varve/control.h"
#include "varve/varve.h"

#define PAGES 64

VARVE_SITE(touch_site, "touch", VARVE_LAYER_OP);
VARVE_SITE(nap_site, "nap", VARVE_LAYER_OP);
VARVE_SITE(work_site, "work", VARVE_LAYER_OP);
VARVE_SITE(inner_site, "inner", VARVE_LAYER_OP);
VARVE_SITE(phase_site, "forward", VARVE_LAYER_STEP);

static void touch(void)
{
    char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    if (pages == MAP_FAILED)
        exit(3);
    madvise(pages, PAGES * 4096, MADV_NOHUGEPAGE);
    varve_begin(&touch_site);
    for (int i = 0; i < PAGES; i++)
        ((volatile char *)pages)[i * 4096] = 1;
    varve_end();
    munmap(pages, PAGES * 4096);
}

static void use_processor(long ns)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
}

static void run_step(int step)
{
    const struct timespec nap = { 0, 1000000 };
    varve_step_begin(step);
    varve_begin(&phase_site); /* ends with the step */
    touch();
    varve_begin(&nap_site);
    nanosleep(&nap, NULL);
    varve_next(&work_site);
    use_processor(2000000);
    varve_begin(&inner_site);
    use_processor(1000000);
    varve_end();
    varve_end();
    varve_step_end();
}

static void *work_silently(void *argument)
{
    bool *goes_on = argument;
    do
        use_processor(50000000);
    while (__atomic_load_n(goes_on, __ATOMIC_RELAXED));
    return NULL;
}

/* The first range is outside the steps: from there on the process tells what its threads use. */
static void run_beside(bool goes_on)
{
    pthread_t thread;
    touch();
    if (pthread_create(&thread, NULL, work_silently, &goes_on) != 0)
        exit(4);
    if (!goes_on)
        pthread_join(thread, NULL);
    for (int step = 0; step < 12; step++)
        run_step(step);
    for (int i = 0; i < 1000; i++) { /* more than a packet */
        varve_begin(&inner_site);
        varve_end();
    }
    _exit(0);
}

static void fail(const struct varve_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(2);
}

int main(int argc, char **argv)
{
    struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
    struct varve_profiling_config *config = NULL;
    struct varve_error error;
    if (argc == 2)
        run_beside(strcmp(argv[1], "beside") == 0);
    bool has_options = argc > 2 && strcmp(argv[1], "options") == 0;
    if (has_options && varve_profiling_init_options(argv[2], &error) != VARVE_OK)
        fail(&error);
    if (argc > 2 && !has_options) {
        settings.metrics = argv[2];
        if (varve_profiling_init(argv[1], &error) != VARVE_OK ||
            varve_profiling_config_create(&settings, &config, &error) != VARVE_OK ||
            varve_profiling_start(config, &error) != VARVE_OK)
            fail(&error);
    }
    for (int step = 0; step < 3; step++)
        run_step(step);
    if (has_options)
        puts(varve_profiling_option("aic_metrics"));
    if (config != NULL && varve_profiling_stop(config, &error) != VARVE_OK)
        fail(&error);
    if (argc > 2 && varve_profiling_finalize(&error) != VARVE_OK)
        fail(&error);
    return 0;
}
