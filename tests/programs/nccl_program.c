/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_program.c — a program that communicates, with the stand-ins for NCCL and for NVIDIA's driver
 * (tests/drivers, LD_LIBRARY_PATH). Argument: what it does (`modes`). RANK is its rank of two. With
 * NO_CUDA there is no driver; with WITH_HIP too the kernels are of the stand-in for AMD's HIP. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../drivers/standin_nccl.h"
#include "varve/control.h"
#include "varve/varve.h"

#define THREADS 16
#define ROUNDS 50 /* of a thread */
#define HASH UINT64_C(0x5f21b8ac93d07e44)

VARVE_SITE(step_site, "backward", VARVE_LAYER_OP);

#define POINTER(name, type, parameters) static type(*name) parameters;
STANDIN_NCCL_FUNCTIONS(POINTER)
static int (*standin_launch)(int domain, const char *name, uint32_t stream);
static int rank;

static void *find(void *library, const char *name)
{
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return found;
}

static void find_functions(void)
{
    void *nccl = dlopen("libnccl.so.2", RTLD_NOW), *found;
#define FIND(name, type, parameters) \
    found = find(nccl, #name);       \
    memcpy(&name, &found, sizeof found);
    STANDIN_NCCL_FUNCTIONS(FIND)
}

static void initialise_cuda(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found = find(driver, "cuInit");
    int (*init)(unsigned);
    memcpy(&init, &found, sizeof found);
    init(0);
    found = find(driver, "standin_launch");
    memcpy(&standin_launch, &found, sizeof found);
}

static void collective(struct standin_comm *comm, const char *function, size_t count,
                       const char *dtype, int root)
{
    varve_begin(&step_site);
    standin_nccl_add(comm, function, count, dtype, root);
    standin_nccl_run(comm);
    varve_end();
}

/* Each sort of collective, and kernels that run several. */
static void plain(void)
{
    struct standin_comm *comm = standin_nccl_comm("world", HASH, 2, rank);
    for (int i = 0; i < 10; i++)
        collective(comm, "AllReduce", 1000, "ncclFloat32", 0);
    collective(comm, "AllGather", 100, "ncclBfloat16", 0);
    collective(comm, "ReduceScatter", 100, "ncclFloat16", 0);
    collective(comm, "Broadcast", 30, "ncclInt64", 1);
    standin_nccl_add(comm, "Send", 64, "ncclFloat64", 1 - rank);
    standin_nccl_add(comm, "Recv", 32, "ncclFloat64", 1 - rank);
    standin_nccl_run(comm);
    for (int i = 0; i < 3; i++)
        standin_nccl_add(comm, "AllReduce", 500, "ncclUint8", 0);
    standin_nccl_run(comm);
    standin_nccl_destroy(comm);
    printf("plain\n");
}

static void *reduce_often(void *number)
{
    struct standin_comm *comm =
        standin_nccl_comm("", HASH + (uint64_t)(uintptr_t)number, 2, rank);
    for (int i = 0; i < ROUNDS; i++)
        collective(comm, "AllReduce", 8, "ncclFloat32", 0);
    standin_nccl_destroy(comm);
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&all[i], NULL, reduce_often, (void *)i) != 0)
            exit(4);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    printf("threads\n");
}

/* The child makes a communicator of its own. */
static void forks(void)
{
    struct standin_comm *comm = standin_nccl_comm("parent", HASH, 2, rank);
    int status;
    collective(comm, "AllReduce", 1000, "ncclFloat32", 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct standin_comm *own = standin_nccl_comm("child", HASH + 1, 2, rank);
        collective(own, "AllGather", 10, "ncclFloat32", 0);
        exit(0);
    }
    waitpid(child, &status, 0);
    collective(comm, "AllReduce", 1000, "ncclFloat32", 0);
    printf("child %d\n", status);
}

static void killed(void)
{
    collective(standin_nccl_comm("world", HASH, 2, rank), "AllReduce", 1000, "ncclFloat32", 0);
    fflush(stdout);
    raise(SIGKILL);
}

static void *tell(void *comm)
{
    standin_nccl_tell(comm);
    return NULL;
}

/* As with a CUDA graph: NCCL tells on another thread, of a kernel that another call launched. */
static void elsewhere(void)
{
    struct standin_comm *comm = standin_nccl_comm("world", HASH, 2, rank);
    pthread_t thread;
    standin_nccl_add(comm, "AllReduce", 1000, "ncclFloat32", 0);
    standin_nccl_launch(comm);
    if (pthread_create(&thread, NULL, tell, comm) != 0)
        exit(4);
    pthread_join(thread, NULL);
    printf("elsewhere\n");
}

/* A kernel of the program's own between the launch and what NCCL tells. */
static void between(void)
{
    struct standin_comm *comm = standin_nccl_comm("world", HASH, 2, rank);
    standin_nccl_add(comm, "AllReduce", 1000, "ncclFloat32", 0);
    standin_nccl_launch(comm);
    standin_launch(1, "relu", 7);
    standin_nccl_tell(comm);
    printf("between\n");
}

static void pause_and_go_on(void)
{
    struct standin_comm *comm = standin_nccl_comm("world", HASH, 2, rank);
    collective(comm, "AllReduce", 1000, "ncclFloat32", 0);
    uint32_t former = varve_layers_set(0);
    collective(comm, "AllReduce", 77, "ncclFloat32", 0);
    varve_layers_set(former);
    collective(comm, "AllReduce", 1000, "ncclFloat32", 0);
    printf("paused\n");
}

/* More communicators than are kept at once. */
static void many(void)
{
    for (int i = 0; i < 600; i++)
        collective(standin_nccl_comm("", HASH + (uint64_t)i, 2, rank), "AllReduce", 8,
                   "ncclFloat32", 0);
    printf("many\n");
}

static const struct { const char *name; void (*run)(void); } modes[] = {
    { "plain", plain },     { "threads", threads }, { "fork", forks },
    { "kill", killed },     { "many", many },       { "elsewhere", elsewhere },
    { "between", between }, { "pause", pause_and_go_on },
};

int main(int argc, char **argv)
{
    const char *said = getenv("RANK");
    rank = said != NULL ? atoi(said) : 0;
    if (getenv("NO_CUDA") == NULL)
        initialise_cuda();
    else if (getenv("WITH_HIP") != NULL && dlopen("libamdhip64.so.7", RTLD_NOW) == NULL)
        return 2;
    find_functions();
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argv[1]) == 0)
            modes[i].run();
    return 0;
}
