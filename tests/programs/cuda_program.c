/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_program.c — a program that works on a GPU, with the stand-in driver of
 * tests/drivers/standin_driver.c (LD_LIBRARY_PATH). Prints how much it has launched, and what each
 * call was numbered. Argument: what it does (`modes`). */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../drivers/standin_cuda.h"
#include "forked_early.h"
#include "varve/control.h"
#include "varve/varve.h"

#define THREADS 64
#define LAUNCHES 200 /* of a thread */

VARVE_SITE(forward_site, "forward", VARVE_LAYER_OP);
VARVE_SITE(copy_site, "copy_in", VARVE_LAYER_OP);

#define FUNCTIONS(X)                                                          \
    X(cuInit, (unsigned))                                                     \
    X(standin_launch, (int domain, const char *name, uint32_t stream))        \
    X(standin_copy, (uint64_t bytes, uint32_t sort, uint32_t stream))         \
    X(standin_peer_copy, (uint64_t bytes, uint32_t stream))                   \
    X(standin_set, (uint64_t bytes, uint32_t stream))                         \
    X(standin_event, (uint32_t stream))                                       \
    X(standin_wait, (uint32_t sort, uint32_t stream))                         \
    X(standin_memory, (uint64_t bytes, int takes))                            \
    X(standin_graph, (uint32_t kernels, uint32_t stream))                     \
    X(standin_reset, (void))                                                  \
    X(standin_unified, (uint64_t bytes, uint32_t sort))                       \
    X(standin_pool, (uint64_t bytes, uint32_t sort))                          \
    X(standin_name, (const char *name, uint32_t sort, uint32_t stream))       \
    X(standin_replay, (const char *function, uint32_t correlation,            \
                       const struct standin_piece *piece))                    \
    X(standin_query, (void))                                                  \
    X(standin_overhead, (uint32_t sort))
#define POINTER(name, parameters) static int (*name) parameters;
FUNCTIONS(POINTER)

static void find_functions(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found;
    if (driver == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
#define FIND(name, parameters)       \
    found = dlsym(driver, #name);    \
    memcpy(&name, &found, sizeof found);
    FUNCTIONS(FIND)
}

static void launch(int domain, const char *name, uint32_t stream)
{
    if (standin_launch(domain, name, stream) != 0) {
        printf("launch failed\n");
        exit(3);
    }
}

/* Two operators: one copies, one launches two kernels, of the runtime and of the driver. */
static void run_step(void)
{
    varve_begin(&copy_site);
    standin_copy(4096, 1, 7);
    varve_end();
    varve_begin(&forward_site);
    launch(2, "_Z4gemmPfS_S_i", 7);
    launch(1, "relu", 13);
    varve_end();
}

static void plain(void)
{
    for (int i = 0; i < 10; i++)
        run_step();
    printf("kernels 20 copies 10\n");
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
    launch(1, "gemm", 7);
    varve_end();
    standin_wait(3, 7);
    varve_step_end();
    printf("product\n");
}

static void kinds(void)
{
    standin_memory(1 << 20, 1);
    standin_memory(1 << 21, 1);
    varve_begin(&forward_site);
    standin_set(512, 7);
    launch(1, "relu", 7);
    standin_event(7);
    standin_wait(2, 13);
    launch(1, "add", 13);
    standin_graph(4, 13);
    standin_peer_copy(256, 13);
    standin_copy(8192, 2, 13);
    standin_wait(3, 13);
    standin_query();
    varve_end();
    standin_memory(1 << 20, 0);
    printf("done\n");
}

static void *launch_many(void *unused)
{
    for (int i = 0; i < LAUNCHES; i++) {
        varve_begin(&forward_site);
        launch(2, "relu", 7);
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

/* Of CUPTI, where it is loaded; or NULL. */
static void *function_of_cupti(const char *name)
{
    void *library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
    return library != NULL ? dlsym(library, name) : NULL;
}

/* What the library still has, as its own thread or handler may do at any time. */
static void hand_over(void)
{
    void *found = function_of_cupti("cuptiActivityFlushAll");
    int (*flush)(uint32_t);
    memcpy(&flush, &found, sizeof flush);
    if (flush != NULL)
        flush(1);
}

/* A quarter of all numbers lies between two calls, so each comes again after four. */
static void wraps(void)
{
    static const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8" };
    for (uint32_t i = 0; i < 9; i++) {
        const struct standin_piece piece = { STANDIN_KERNEL, 0, 1, 7, names[i], 0, 0 };
        VARVE_SITE(odd, "odd", VARVE_LAYER_OP);
        VARVE_SITE(even, "even", VARVE_LAYER_OP);
        varve_begin(i % 8 < 4 ? &even : &odd);
        standin_replay("cuLaunchKernel", 5 + (i << 30), &piece);
        varve_end();
        hand_over();
    }
    printf("wrapped\n");
}

/* The program gives both libraries back, as often as they may have been opened. */
static void gives_back(void)
{
    run_step();
    for (int i = 0; i < 16; i++) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        void *cupti = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
        for (int j = 0; j < 2; j++) {
            if (cupti != NULL)
                dlclose(cupti);
            if (driver != NULL && cupti != NULL)
                dlclose(driver);
        }
    }
    if (dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD) != NULL)
        run_step();
    printf("closed\n");
}

static uint64_t told_to_another;

static void another(void *user, int domain, uint32_t id, const void *call)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)call;
    told_to_another++;
}

/* Another tool of this process ends CUPTI. */
static void end_cupti(void)
{
    void *found = function_of_cupti("cuptiFinalize");
    int (*finalize)(void);
    memcpy(&finalize, &found, sizeof finalize);
    if (finalize != NULL)
        finalize();
}

/* As another tool does that ends. */
static void finalized(void)
{
    run_step();
    end_cupti();
    launch(1, "unseen", 7);
    printf("finalized\n");
}

/* Before CUPTI has handed over. */
static void becomes_another(void)
{
    run_step();
    fflush(stdout);
    (void)execl("/proc/self/exe", "cuda_program", "plain", (char *)NULL);
}

/* Nothing of the program's keeps the driver. */
static void closes(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    run_step();
    for (int i = 0; i < 2 && driver != NULL; i++)
        dlclose(driver);
    printf("closed\n");
}

/* … and begins it for itself: it hears of each launch until it ends. */
static void taken(void)
{
    const uint32_t launch_id = 3; /* of the stand-in                                             */
    void *first = function_of_cupti("cuptiSubscribe"), *handle = NULL;
    void *second = function_of_cupti("cuptiEnableCallback");
    int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
    int (*enable)(uint32_t, void *, int, uint32_t);
    memcpy(&subscribe, &first, sizeof subscribe);
    memcpy(&enable, &second, sizeof enable);
    run_step();
    end_cupti();
    if (subscribe == NULL || subscribe(&handle, another, NULL) != 0)
        exit(9);
    (void)enable(1, handle, 1, launch_id);
    launch(1, "unseen", 7);
    (void)varve_session_dump("dumped.varve", NULL);
    launch(1, "unseen", 7);
    (void)varve_session_stop(NULL);
    launch(1, "unseen", 7);
    printf("the other heard %llu\n", (unsigned long long)told_to_another);
}

/* … and leaves it. */
static void ended(void)
{
    run_step();
    end_cupti();
    launch(1, "unseen", 7);
    (void)varve_session_dump("dumped.varve", NULL);
    run_step();
    end_cupti();
    launch(1, "unseen", 7);
    printf("ended\n");
}

/* The child has the buffer that the parent will hand over, too. */
static void forks(void)
{
    int status;
    run_step();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        varve_begin(&forward_site);
        standin_launch(1, "in_child", 7);
        varve_end();
        hand_over();
        exit(0);
    }
    waitpid(child, &status, 0);
    run_step();
    printf("child %d\n", status);
}

static void *begin(void *unused)
{
    cuInit(0);
    return unused;
}

static void forks_early(void)
{
    int status = vv_fork_early(begin, "cuda");
    run_step();
    (void)varve_session_stop(NULL);
    printf("child %d\n", status);
}

static void reset(void)
{
    run_step();
    standin_reset();
    run_step();
    printf("reset\n");
}

#define STREAMS 3000u
#define CONTEXTS 1500u

/* A new stream for each kernel, as servers have for each request. */
static void streams(void)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        launch(1, "relu", 100 + i);
    printf("kernels %u\n", STREAMS);
}

/* One context after the other; each has a kernel and a wait. */
static void contexts(void)
{
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        launch(1, "relu", 7);
        standin_wait(3, 7);
        standin_reset();
    }
    printf("kernels %u\n", CONTEXTS);
}

static void killed(void)
{
    run_step();
    fflush(stdout);
    raise(SIGKILL);
}

/* As PyTorch's profiler begins and ends: by functions that the recorder has, too. */
static void aside(void)
{
    void *begin = dlsym(RTLD_DEFAULT, "_ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler"
                        "4impl14ProfilerConfigERKSt3setINS3_12ActivityTypeESt4lessIS8_ESaIS8_EE");
    void *end = dlsym(RTLD_DEFAULT, "_ZN5torch8autograd8profiler15disableProfilerEv");
    void (*prepare)(const void *, const void *);
    void *(*disable)(void *);
    memcpy(&prepare, &begin, sizeof begin);
    memcpy(&disable, &end, sizeof end);
    run_step();
    if (prepare != NULL)
        prepare(NULL, NULL);
    launch(1, "unseen", 7);
    if (disable != NULL)
        disable(NULL);
    run_step();
    printf("aside\n");
}

static void pause_and_go_on(void)
{
    run_step();
    uint32_t former = varve_layers_set(0);
    launch(1, "unseen", 7);
    varve_layers_set(former);
    run_step();
    printf("paused\n");
}

/* Records itself, when CUDA is initialised already; and then collects nothing any more. */
static void own(void)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = "own.varve";
    if (varve_session_start(&options, &error) != VARVE_OK ||
        varve_collect("cuda", &error) != VARVE_OK) {
        printf("%s\n", error.message);
        exit(5);
    }
    run_step();
    (void)varve_collect("none", NULL);
    launch(1, "unseen", 7);
    (void)varve_session_stop(NULL);
    printf("own\n");
}

/* The driver is there, and nobody initialises it. */
static void idle(void)
{
    printf("idle\n");
}

static void ends_quickly(void)
{
    run_step();
    fflush(stdout);
    quick_exit(0);
}

/* Stops its own session, and goes on. */
static void stops(void)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = "own.varve";
    if (varve_session_start(&options, NULL) != VARVE_OK ||
        varve_collect("cuda", NULL) != VARVE_OK)
        exit(5);
    run_step();
    (void)varve_session_stop(NULL);
    launch(1, "unseen", 7);
    printf("stopped\n");
    fflush(stdout);
    raise(SIGKILL);
}

/* Says when its work is done; then calls on, as a program does, until it is told to end. */
static void waits(void)
{
    const struct timespec pause = { 0, 1000000 };
    char word;
    run_step();
    printf("ready\n");
    fflush(stdout);
    (void)!fcntl(0, F_SETFL, O_NONBLOCK);
    while (read(0, &word, 1) != 0) {
        standin_query();
        launch(1, "relu", 7);
        nanosleep(&pause, NULL);
    }
    raise(SIGKILL);
}

static void dumps(void)
{
    struct varve_error error;
    run_step();
    if (varve_session_dump("own.varve", &error) != VARVE_OK)
        printf("%s\n", error.message);
    fflush(stdout);
    raise(SIGKILL);
}

static void overhead(void)
{
    run_step();
    standin_overhead(4u << 16); /* a module is loaded                                            */
    standin_overhead(5u << 16); /* a function                                                    */
    standin_overhead(1);        /* the compiler                                                  */
    printf("done\n");
}

/* Pages of unified memory move and are missed. */
static void unified(void)
{
    launch(1, "touch", 7);
    standin_unified(65536, 1);
    standin_unified(4096, 2);
    standin_unified(32, 4); /* faults of the device                                              */
    standin_unified(16, 4);
    standin_unified(1, 3);  /* of the host                                                       */
    standin_unified(1, 3);
    standin_unified(4096, 6);
    standin_unified(4096, 77);
    printf("unified\n");
}

/* A pool of the driver's; and PyTorch's allocator, which tells c10 of each block. */
static void pools(void)
{
    void *found = dlsym(RTLD_DEFAULT, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
    void (*report)(void *, int64_t, size_t, size_t, uint16_t);
    static const uint16_t devices[] = { 0x0001, 0x0101 }; /* type CUDA, index 0 and 1             */
    memcpy(&report, &found, sizeof report);
    standin_pool(1 << 20, 1);
    standin_pool(1 << 21, 3);
    standin_pool(1 << 21, 2);
    varve_begin(&forward_site);
    for (uintptr_t i = 0; i < 4 && report != NULL; i++)
        report((void *)(0x7f0000010000 + i * 4096), 4096, (i / 2 + 1) * 4096,
               (i / 2 + 1) << 20, devices[i % 2]);
    varve_end();
    for (uintptr_t i = 0; i < 3 && report != NULL; i++)
        report((void *)(0x7f0000010000 + i * 4096), -4096, i < 2 ? 4096 : 0, 1 << 20,
               devices[i % 2]);
    if (report != NULL)
        report(&found, 64, 64, 64, 0xff00); /* on the CPU: told of by alloc_cpu                   */
    printf("pools\n");
}

static void named(void)
{
    standin_name("training", 4, 0);
    standin_name("copies", 5, 7);
    run_step();
    printf("named\n");
}

/* The calls and the work in the file REPLAY. A line is FUNCTION CORRELATION WORK STREAM BYTES SORT
 * FROM TO NAME, with numbers as enum standin_work and CUPTI count; WORK 0: the call has none. */
static void replay(void)
{
    static char line[1 << 16], names[1 << 22];
    char function[64], *name = names;
    const char *path = getenv("REPLAY");
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    long calls = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned correlation, work, stream, sort, from, to;
        unsigned long long bytes;
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%63s %u %u %u %llu %u %u %u %n", function, &correlation, &work, &stream,
                   &bytes, &sort, &from, &to, &at) != 8 ||
            name + strlen(line + at) + 1 > names + sizeof names)
            exit(7);
        strcpy(name, line + at); /* CUPTI keeps the address                                      */
        const struct standin_piece piece = { work, 0, 1, stream, name, bytes,
                                             sort | from << 8 | to << 16 };
        name += strlen(name) + 1;
        standin_replay(function, correlation, work != 0 ? &piece : NULL);
        calls++;
    }
    if (file != NULL)
        fclose(file);
    printf("%ld calls\n", calls);
}

/* Memory that is no file's, after a tenth and at the end, in kB. */
static void million(void)
{
    for (int i = 0; i < 1000000; i++) {
        if (i == 100000 || i == 999999) {
            char line[128];
            FILE *status = fopen("/proc/self/status", "re");
            while (status != NULL && fgets(line, sizeof line, status) != NULL)
                if (strncmp(line, "RssAnon:", 8) == 0)
                    printf("%d %ld\n", i, strtol(line + 8, NULL, 10));
            if (status != NULL)
                fclose(status);
        }
        launch(1, "relu", 7);
    }
}

static const struct { const char *name; void (*run)(void); } modes[] = {
    { "quick", ends_quickly }, { "stops", stops }, { "waits", waits }, { "dumps", dumps },
    { "overhead", overhead }, { "million", million }, { "product", product },
    { "wraps", wraps }, { "gives_back", gives_back }, { "taken", taken },
    { "ended", ended },
    { "replay", replay }, { "unified", unified }, { "pools", pools }, { "named", named },
    { "plain", plain }, { "kinds", kinds },   { "threads", threads },       { "fork", forks },
    { "streams", streams }, { "contexts", contexts }, { "reset", reset }, { "kill", killed },
    { "aside", aside }, { "pause", pause_and_go_on },
    { "finalized", finalized }, { "exec", becomes_another }, { "closes", closes },
    { "own", own }, { "idle", idle }, { "fork_early", forks_early },
};

int main(int argc, char **argv)
{
    const char *library = getenv("LOADS");
    if (library != NULL && dlopen(library, RTLD_NOW) == NULL)
        return 6;
    find_functions();
    if (argc > 1 && strcmp(argv[1], "idle") != 0 && strcmp(argv[1], "fork_early") != 0)
        cuInit(0);
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argv[1]) == 0)
            modes[i].run();
    return 0;
}
