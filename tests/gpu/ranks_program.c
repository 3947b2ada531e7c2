/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_program.c — one rank of a program that communicates by NCCL: tests/gpu/run records two.
 * Prints how many collectives of each sort it has asked for.
 *
 *     ranks_program RANK RANKS FILE ROUNDS    rank 0 writes the communicator's id to FILE
 *
 * Two ranks may have one GPU: NCCL is told that they are on two machines, and then communicates by
 * sockets. VARVE_NCCL names NCCL's library; without it the loader looks for libnccl.so.2. Exit code
 * 77: no GPU, or no NCCL. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "varve/varve.h"

#define NOTHING_HERE 77
#define BYTES (UINT64_C(16) << 20)
#define WAIT_MS 60000
enum { INT64 = 4, FLOAT16 = 6, FLOAT32 = 7, FLOAT64 = 8, BFLOAT16 = 9, SUM = 0 };

VARVE_SITE(reduce_site, "reduce_gradients", VARVE_LAYER_OP);

struct unique_id { char bytes[128]; };
typedef uint64_t address;

#define DRIVER(X)                                                                               \
    X(init, "cuInit", (unsigned))                                                               \
    X(count, "cuDeviceGetCount", (int *))                                                       \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                       \
    X(set_context, "cuCtxSetCurrent", (void *))                                                 \
    X(allocate, "cuMemAlloc_v2", (address *, size_t))                                           \
    X(stream, "cuStreamCreate", (void **, unsigned))                                            \
    X(wait, "cuStreamSynchronize", (void *))
#define NCCL(X)                                                                                 \
    X(unique_id, "ncclGetUniqueId", (struct unique_id *))                                       \
    X(begin, "ncclCommInitRank", (void **, int, struct unique_id, int))                         \
    X(end, "ncclCommDestroy", (void *))                                                         \
    X(group_start, "ncclGroupStart", (void))                                                    \
    X(group_end, "ncclGroupEnd", (void))                                                        \
    X(all_reduce, "ncclAllReduce", (address, address, size_t, int, int, void *, void *))        \
    X(reduce_scatter, "ncclReduceScatter", (address, address, size_t, int, int, void *, void *))\
    X(broadcast, "ncclBroadcast", (address, address, size_t, int, int, void *, void *))         \
    X(all_gather, "ncclAllGather", (address, address, size_t, int, void *, void *))             \
    X(send, "ncclSend", (address, size_t, int, int, void *, void *))                            \
    X(receive, "ncclRecv", (address, size_t, int, int, void *, void *))
#define MEMBER(name, symbol, parameters) int(*name) parameters;
static struct { DRIVER(MEMBER) } cu;
static struct { NCCL(MEMBER) } nccl;

static void check(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: error %d\n", what, result);
    exit(1);
}

static void leave(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(NOTHING_HERE);
}

static void find_functions(void)
{
    const char *named = getenv("VARVE_NCCL");
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *found;
#define FIND(of, name, symbol)                  \
    found = dlsym(library, symbol);             \
    if (found == NULL)                          \
        leave("no " symbol);                    \
    memcpy(&of.name, &found, sizeof found);
#define FIND_DRIVER(name, symbol, parameters) FIND(cu, name, symbol)
#define FIND_NCCL(name, symbol, parameters) FIND(nccl, name, symbol)
    if (library == NULL)
        leave("no NVIDIA driver (libcuda.so.1)");
    DRIVER(FIND_DRIVER)
    library = dlopen(named != NULL ? named : "libnccl.so.2", RTLD_NOW);
    if (library == NULL)
        leave("no NCCL (libnccl.so.2): name it in VARVE_NCCL");
    NCCL(FIND_NCCL)
}

/* Written beside and renamed, so that nobody reads a part. */
static struct unique_id share_id(int rank, const char *path)
{
    struct unique_id id;
    char beside[4096];
    snprintf(beside, sizeof beside, "%s.part", path);
    FILE *file = NULL;
    if (rank == 0) {
        check(nccl.unique_id(&id), "ncclGetUniqueId");
        file = fopen(beside, "w");
        if (file == NULL || fwrite(&id, sizeof id, 1, file) != 1 || fclose(file) != 0 ||
            rename(beside, path) != 0)
            check(-1, path);
        return id;
    }
    for (int i = 0; i < WAIT_MS && (file = fopen(path, "r")) == NULL; i++)
        usleep(1000);
    if (file == NULL || fread(&id, sizeof id, 1, file) != 1)
        check(-1, path);
    fclose(file);
    return id;
}

/* NCCL wants a GPU for each rank of a machine. */
static void choose_device(int rank, int ranks)
{
    char host[20];
    void *context;
    int count = 0;
    if (cu.init(0) != 0 || cu.count(&count) != 0 || count == 0)
        leave("no GPU");
    if (count < ranks) {
        snprintf(host, sizeof host, "rank%d", rank);
        setenv("NCCL_HOSTID", host, 1);
        setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    }
    check(cu.retain(&context, rank % count), "cuDevicePrimaryCtxRetain");
    check(cu.set_context(context), "cuCtxSetCurrent");
}

int main(int argc, char **argv)
{
    void *comm, *stream;
    address in, out;
    if (argc != 5)
        return 2;
    int rank = atoi(argv[1]), ranks = atoi(argv[2]), rounds = atoi(argv[4]);
    find_functions();
    choose_device(rank, ranks);
    check(cu.allocate(&in, BYTES), "cuMemAlloc");
    check(cu.allocate(&out, BYTES), "cuMemAlloc");
    check(cu.stream(&stream, 1), "cuStreamCreate");
    check(nccl.begin(&comm, ranks, share_id(rank, argv[3]), rank), "ncclCommInitRank");
    for (int i = 0; i < rounds; i++) {
        varve_begin(&reduce_site);
        check(nccl.all_reduce(in, out, 1 << 20, FLOAT32, SUM, comm, stream), "ncclAllReduce");
        varve_end();
        check(nccl.all_gather(in, out, 1 << 16, BFLOAT16, comm, stream), "ncclAllGather");
        check(nccl.reduce_scatter(in, out, 1 << 16, FLOAT16, SUM, comm, stream),
              "ncclReduceScatter");
        check(nccl.broadcast(in, out, 1000, INT64, ranks - 1, comm, stream), "ncclBroadcast");
        check(nccl.group_start(), "ncclGroupStart");
        check(nccl.send(in, 1 << 16, FLOAT64, (rank + 1) % ranks, comm, stream), "ncclSend");
        check(nccl.receive(out, 1 << 16, FLOAT64, (rank + ranks - 1) % ranks, comm, stream),
              "ncclRecv");
        check(nccl.group_end(), "ncclGroupEnd");
    }
    check(cu.wait(stream), "cuStreamSynchronize");
    check(nccl.end(comm), "ncclCommDestroy");
    printf("all_reduce %d all_gather %d reduce_scatter %d broadcast %d send_recv %d\n", rounds,
           rounds, rounds, rounds, rounds);
    return 0;
}
