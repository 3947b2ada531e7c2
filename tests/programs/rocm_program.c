/* SPDX-License-Identifier: Apache-2.0 */
/* rocm_program.c — a program that works on an AMD GPU, with the stand-in for HIP of
 * tests/drivers/standin_hip.c (LD_LIBRARY_PATH). Prints how much it has launched. Argument: what it
 * does (`modes`). */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked_early.h"
#include "varve/control.h"
#include "varve/varve.h"

#define THREADS 32
#define LAUNCHES 200 /* of a thread */

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(copy_site, "copy_in", VARVE_LAYER_OP);

#define FUNCTIONS(X)                                                       \
    X(standin_launch, (const char *kernel, uint64_t stream, uint32_t device)) \
    X(standin_graph, (const char *kernel, int kernels, uint64_t stream))   \
    X(standin_launch_alone, (const char *kernel))                          \
    X(standin_copy, (uint64_t bytes, uint32_t direction, uint64_t stream)) \
    X(standin_memory, (uint64_t address, uint64_t bytes, int takes))       \
    X(standin_scratch, (uint64_t bytes))                                   \
    X(standin_query, (void))
#define POINTER(name, parameters) static void (*name) parameters;
FUNCTIONS(POINTER)

static void find_functions(void)
{
    void *hip = dlopen("libamdhip64.so.7", RTLD_NOW), *found;
    if (hip == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
#define FIND(name, parameters) \
    found = dlsym(hip, #name); \
    memcpy(&name, &found, sizeof found);
    FUNCTIONS(FIND)
}

/* Two operators: one copies, one launches two kernels. */
static void run_step(void)
{
    varve_begin(&copy_site);
    standin_copy(4096, 2, 1);
    varve_end();
    varve_begin(&forward_site);
    standin_launch("_Z4gemmPfS_S_i", 1, 1);
    standin_launch("relu", 2, 1);
    varve_end();
}

static void plain(void)
{
    for (int i = 0; i < 10; i++)
        run_step();
    printf("kernels 20 copies 10\n");
}

static void kinds(void)
{
    standin_memory(0x7f0000001000, 1 << 20, 1);
    standin_memory(0x7f0000201000, 1 << 21, 1);
    varve_begin(&forward_site);
    standin_launch("relu", 1, 2);
    standin_graph("graph_kernel", 3, 1);
    standin_launch_alone("alone");
    standin_copy(8192, 3, 1);
    standin_copy(256, 4, 1);
    standin_scratch(65536);
    standin_query();
    varve_end();
    standin_memory(0x7f0000001000, 0, 0);
    standin_memory(0x7f0000777000, 0, 0); /* nobody took it */
    printf("done\n");
}

static void *launch_many(void *unused)
{
    for (int i = 0; i < LAUNCHES; i++) {
        varve_begin(&forward_site);
        standin_launch("relu", 1, 1);
        varve_end();
    }
    return unused;
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&all[i], NULL, launch_many, NULL) != 0)
            exit(4);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    printf("kernels %d\n", THREADS * LAUNCHES);
}

static void forks(void)
{
    int status;
    run_step();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        varve_begin(&forward_site);
        standin_launch("in_child", 1, 1);
        varve_end();
        exit(0);
    }
    waitpid(child, &status, 0);
    run_step();
    printf("child %d\n", status);
}

static void *begin(void *unused)
{
    standin_query();
    return unused;
}

static void forks_early(void)
{
    int status = vv_fork_early(begin, "rocm");
    run_step();
    (void)varve_session_stop(NULL);
    printf("child %d\n", status);
}

static void pause_and_go_on(void)
{
    run_step();
    uint32_t former = varve_layers_set(0);
    standin_launch("unseen", 1, 1);
    varve_layers_set(former);
    run_step();
    printf("paused\n");
}

/* Records itself: it asks for the source, does not ask any more, and asks again. */
static void own(void)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = "own.varve";
    if (varve_session_start(&options, &error) != VARVE_OK ||
        varve_collect("rocm", &error) != VARVE_OK) {
        printf("%s\n", error.message);
        exit(5);
    }
    run_step();
    (void)varve_collect("none", NULL);
    standin_launch("unseen", 1, 1);
    (void)varve_collect("rocm", NULL);
    run_step();
    (void)varve_session_stop(NULL);
    printf("own\n");
}

static void ends_quickly(void)
{
    run_step();
    fflush(stdout);
    quick_exit(0);
}

static void killed(void)
{
    run_step();
    fflush(stdout);
    raise(SIGKILL);
}

/* Asks for the source when HIP has begun. */
static void late(void)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = "own.varve";
    standin_query();
    if (varve_session_start(&options, NULL) != VARVE_OK || varve_collect("rocm", NULL) != VARVE_OK)
        exit(5);
    run_step();
    (void)varve_session_stop(NULL);
    printf("late\n");
}

/* Takes and gives back memory, in an order that nobody planned; says how much is left. */
static void memory(void)
{
    enum { BLOCKS = 4000, TURNS = 12000 };
    static uint64_t held[BLOCKS];
    uint64_t random = 88172645463325252u, sum = 0;
    for (int i = 0; i < TURNS; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t block = random % BLOCKS, bytes = held[block] != 0 ? 0 : 1 + random % 100000;
        standin_memory(0x7f0000000000 + block * 256, bytes, bytes != 0);
        sum += bytes - held[block];
        held[block] = bytes;
    }
    printf("%llu\n", (unsigned long long)sum);
}

/* A step with a product of 2e6 FLOP at 16 bits. */
static void product(void)
{
    VARVE_SITE(product_site, "aten::mm", VARVE_LAYER_OP);
    static const int64_t dims[] = { 100, 100 };
    const struct varve_tensor inputs[] = { { VARVE_F16, 2, dims }, { VARVE_F16, 2, dims } };
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    info.input_count = 2;
    info.inputs = inputs;
    varve_step_begin(0);
    varve_begin(&product_site);
    varve_op(&info);
    standin_launch("gemm", 1, 1);
    varve_end();
    varve_step_end();
    printf("product\n");
}

/* Memory that is no file's, after a tenth and at the end, in kB. */
static void many(void)
{
    for (int i = 0; i < 100000; i++) {
        if (i == 10000 || i == 99999) {
            char line[128];
            FILE *status = fopen("/proc/self/status", "re");
            while (status != NULL && fgets(line, sizeof line, status) != NULL)
                if (strncmp(line, "RssAnon:", 8) == 0)
                    printf("%d %ld\n", i, strtol(line + 8, NULL, 10));
            if (status != NULL)
                fclose(status);
        }
        standin_launch("relu", 1, 1);
    }
}

/* HIP is there, and nobody uses it. */
static void idle(void)
{
    printf("idle\n");
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(void); } modes[] = {
        { "plain", plain }, { "kinds", kinds }, { "threads", threads }, { "fork", forks },
        { "pause", pause_and_go_on }, { "own", own }, { "quick", ends_quickly },
        { "kill", killed }, { "idle", idle }, { "late", late }, { "memory", memory },
        { "product", product },
        { "fork_early", forks_early }, { "many", many },
    };
    find_functions();
    for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    return 1;
}
