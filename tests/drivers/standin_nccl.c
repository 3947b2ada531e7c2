/* SPDX-License-Identifier: Apache-2.0 */
/* standin_nccl.c — stands in for NCCL in programs that the collector `nccl` records. As NCCL does,
 * it opens the library that NCCL_PROFILER_PLUGIN names when a communicator is made, takes the
 * latest interface that both know, and tells of each plan on the thread that launched its kernel:
 * the group, all its tasks, their ends. The kernel is one of the driver's stand-in
 * (standin_driver.c), where the program has loaded that; where it has loaded HIP's (standin_hip.c),
 * this is RCCL. Nothing is communicated. For tests.
 *
 * STANDIN_NCCL says which interface it knows, 1 to 5; 0 none, as NCCL before 2.23. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "standin_nccl.h"

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { GROUP = 1, COLLECTIVE = 2, POINT_TO_POINT = 4, COLLECTIVE_CALL = 512 };
enum { TASKS_MAX = 64 };

/* ---- NCCL's structs: what they share, then by version ---- */

struct numbered_task { const char *name; uint64_t hash, sequence; uint8_t function; const void *in;
    void *out; size_t count; int root; uint8_t dtype; uint32_t op; size_t traffic;
    uint8_t channels, warps, algorithm, protocol; int is_collnet, is_nvls; };
struct numbered_message { const char *name; uint64_t hash; uint8_t function; void *buffer;
    uint8_t dtype; size_t count; int peer; };
struct trafficked_task { const char *name; uint64_t hash, sequence; const char *function;
    const void *in; void *out; size_t count; int root; const char *dtype; size_t traffic;
    uint8_t channels, warps; const char *algorithm, *protocol; };
struct worded_task { const char *name; uint64_t hash, sequence; const char *function;
    const void *in; void *out; size_t count; int root; const char *dtype; uint8_t channels, warps;
    const char *algorithm, *protocol; };
struct worded_message { const char *name; uint64_t hash; const char *function; void *buffer;
    const char *dtype; size_t count; int peer; };
struct plain_task { uint64_t sequence; const char *function; const void *in; void *out;
    size_t count; int root; const char *dtype; uint8_t channels, warps;
    const char *algorithm, *protocol; void *group; };
struct plain_message { const char *function; void *buffer; const char *dtype; size_t count;
    int peer; uint8_t channels; void *group; };
struct plain_call { const char *function; size_t count; const char *dtype; int root; void *stream;
    bool is_captured; };

struct event {
    union { uint8_t byte; uint64_t word; } kind;
    void *parent;
    int rank;
    union {
        struct numbered_task task_v1;
        struct numbered_message message_v1;
        struct trafficked_task task_v2;
        struct worded_message message_v2;
        struct worded_task task_v3;
        struct plain_task task_v4;
        struct plain_message message_v4;
        struct plain_call call_v5;
    };
};

typedef int init_v1(void **, int *);
typedef int init_v4(void **, int *, const char *, uint64_t, int, int, int, void *);
typedef int init_v5(void **, uint64_t, int *, const char *, int, int, int, void *);

struct plugin {
    const char *name;
    union { init_v1 *v1; init_v4 *v4; init_v5 *v5; } init;
    int (*start)(void *context, void **handle, struct event *event);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *values);
    int (*finalize)(void *context);
};

/* ---- what it keeps ---- */

struct task {
    const char *function, *dtype;
    size_t count;
    int peer;
    void *call;   /* handle of the program's call                                                */
    void *handle;
};

struct standin_comm {
    const char *name;
    uint64_t hash, sequences[16];
    int ranks, rank;
    void *context;
    struct task tasks[TASKS_MAX];
    size_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct plugin *plugin;
static void *library;
static unsigned interface, users;
static int mask; /* atomic: one for all communicators, as in NCCL */

static const char *const functions[] = { "Broadcast",     "Reduce",    "AllGather", "ReduceScatter",
                                         "AllReduce",     "SendRecv",  "Send",      "Recv" };
static const char *const dtypes[] = { "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                      "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                      "ncclFloat64", "ncclBfloat16" };
static const unsigned sizes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2 };

static uint8_t number_of(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return (uint8_t)i;
    return 255;
}
#define NUMBER(words, word) number_of(words, sizeof(words) / sizeof *(words), word)

static unsigned known_interface(void)
{
    const char *said = getenv("STANDIN_NCCL");
    return said != NULL ? (unsigned)atoi(said) : 5;
}

int ncclGetVersion(int *out)
{
    static const int versions[] = { 22105, 22304, 22403, 22602, 22703, 22803 };
    *out = versions[known_interface()];
    return 0;
}

/* ---- the plug-in ---- */

static void open_plugin(void)
{
    const char *said = getenv("NCCL_PROFILER_PLUGIN");
    char path[255], symbol[32];
    if (said == NULL || *said == '\0' || strcasecmp(said, "none") == 0)
        return;
    snprintf(path, sizeof path, "%s", said);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (interface = known_interface(); library != NULL && interface > 0; interface--) {
        snprintf(symbol, sizeof symbol, "ncclProfiler_v%u", interface);
        plugin = dlsym(library, symbol);
        if (plugin != NULL)
            return;
    }
}

static int begin(struct standin_comm *comm)
{
    const struct plugin *of = plugin;
    if (interface < 4)
        return of->init.v1(&comm->context, &mask);
    if (interface == 4)
        return of->init.v4(&comm->context, &mask, comm->name, comm->hash, 1, comm->ranks,
                           comm->rank, NULL);
    return of->init.v5(&comm->context, comm->hash, &mask, comm->name, 1, comm->ranks, comm->rank,
                       NULL);
}

struct standin_comm *standin_nccl_comm(const char *name, uint64_t hash, int ranks, int rank)
{
    struct standin_comm *comm = calloc(1, sizeof *comm);
    if (comm == NULL)
        exit(7);
    comm->name = name;
    comm->hash = hash;
    comm->ranks = ranks;
    comm->rank = rank;
    pthread_mutex_lock(&lock);
    if (users++ == 0)
        open_plugin();
    if (plugin != NULL && begin(comm) != 0)
        exit(8);
    pthread_mutex_unlock(&lock);
    return comm;
}

void standin_nccl_destroy(struct standin_comm *comm)
{
    pthread_mutex_lock(&lock);
    if (plugin != NULL && comm->context != NULL)
        plugin->finalize(comm->context);
    if (--users == 0 && library != NULL) {
        dlclose(library);
        library = NULL;
        plugin = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(comm);
}

/* ---- events ---- */

static void start(const struct standin_comm *comm, int kind, struct event *event, void **handle)
{
    *handle = NULL;
    if (interface < 5)
        event->kind.byte = (uint8_t)kind;
    else
        event->kind.word = (uint64_t)kind;
    event->rank = comm->rank;
    if (plugin->start(comm->context, handle, event) != 0)
        exit(9);
}

static void fill_message(struct event *event, const struct standin_comm *comm,
                         const struct task *task, void *group)
{
    if (interface == 1)
        event->message_v1 = (struct numbered_message){ comm->name, comm->hash,
            NUMBER(functions, task->function), NULL, NUMBER(dtypes, task->dtype), task->count,
            task->peer };
    else if (interface < 4)
        event->message_v2 = (struct worded_message){ comm->name, comm->hash, task->function, NULL,
                                                     task->dtype, task->count, task->peer };
    else
        event->message_v4 = (struct plain_message){ task->function, NULL, task->dtype, task->count,
                                                    task->peer, 2, group };
}

static void fill_task(struct event *event, const struct standin_comm *comm,
                      const struct task *task, uint64_t sequence, void *group)
{
    if (interface == 1)
        event->task_v1 = (struct numbered_task){ comm->name, comm->hash, sequence,
            NUMBER(functions, task->function), NULL, NULL, task->count, task->peer,
            NUMBER(dtypes, task->dtype), 0, 0, 8, 4, 1, 0, 0, 0 };
    else if (interface == 2)
        event->task_v2 = (struct trafficked_task){ comm->name, comm->hash, sequence,
            task->function, NULL, NULL, task->count, task->peer, task->dtype, 1, 8, 4, "RING",
            "LL" };
    else if (interface == 3)
        event->task_v3 = (struct worded_task){ comm->name, comm->hash, sequence, task->function,
            NULL, NULL, task->count, task->peer, task->dtype, 8, 4, "RING", "LL" };
    else
        event->task_v4 = (struct plain_task){ sequence, task->function, NULL, NULL, task->count,
            task->peer, task->dtype, 8, 4, "RING", "LL", group };
}

static bool is_message(const struct task *task)
{
    return strcmp(task->function, "Send") == 0 || strcmp(task->function, "Recv") == 0;
}

/* NCCL 2.28 passes on the program's calls, too. */
static void tell_call(const struct standin_comm *comm, struct task *task)
{
    struct event event;
    memset(&event, 0xee, sizeof event);
    event.parent = NULL;
    event.call_v5 = (struct plain_call){ task->function, task->count, task->dtype, task->peer, NULL,
                                         false };
    start(comm, COLLECTIVE_CALL, &event, &task->call);
    if (task->call != NULL)
        plugin->stop(task->call);
}

/* Tells of one plan. Fields that a version does not have are filled with 0xee. */
void standin_nccl_tell(struct standin_comm *comm)
{
    struct event event;
    void *group = NULL;
    if (plugin == NULL || __atomic_load_n(&mask, __ATOMIC_RELAXED) == 0)
        return;
    memset(&event, 0xee, sizeof event);
    start(comm, GROUP, &event, &group);
    for (size_t i = 0; i < comm->count && group != NULL; i++) {
        struct task *task = &comm->tasks[i];
        memset(&event, 0xee, sizeof event);
        event.parent = interface < 5 ? group : task->call;
        if (is_message(task)) {
            fill_message(&event, comm, task, group);
            start(comm, POINT_TO_POINT, &event, &task->handle);
        } else {
            uint8_t function = NUMBER(functions, task->function);
            fill_task(&event, comm, task, comm->sequences[function & 15]++, group);
            start(comm, COLLECTIVE, &event, &task->handle);
        }
    }
    for (size_t i = 0; i < comm->count; i++)
        if (comm->tasks[i].handle != NULL)
            plugin->stop(comm->tasks[i].handle);
    if (group != NULL)
        plugin->stop(group);
}

/* ---- what the test program calls ---- */

/* NCCL counts bytes where it need not know a type. */
void standin_nccl_add(struct standin_comm *comm, const char *function, size_t count,
                      const char *dtype, int peer)
{
    struct task *task = &comm->tasks[comm->count++];
    *task = (struct task){ .function = function, .dtype = dtype, .count = count, .peer = peer };
    if (plugin != NULL && interface == 5 && __atomic_load_n(&mask, __ATOMIC_RELAXED) != 0 &&
        !is_message(task))
        tell_call(comm, task);
    if (strcmp(function, "AllGather") == 0 || strcmp(function, "Broadcast") == 0) {
        task->count *= sizes[NUMBER(dtypes, dtype)];
        task->dtype = "ncclInt8";
    }
}

static char kernel_names[16][80]; /* they stay, as a kernel's name does                          */

static void write_kernel_names(void)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        snprintf(kernel_names[i & 15], sizeof kernel_names[0], "ncclDevKernel_%s_RING_LL",
                 functions[i]);
}

void standin_nccl_launch(struct standin_comm *comm)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int (*launch)(int, const char *, uint32_t);
    void (*launch_by_hip)(const char *, uint64_t, uint32_t);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *hip = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver != NULL || hip != NULL
                      ? dlsym(hip != NULL ? hip : driver, "standin_launch") : NULL;
    pthread_once(&once, write_kernel_names);
    const char *name = kernel_names[NUMBER(functions, comm->tasks[0].function) & 15];
    memcpy(&launch, &found, sizeof found);
    memcpy(&launch_by_hip, &found, sizeof found);
    if (found != NULL && hip != NULL)
        launch_by_hip(name, 1, 1);
    else if (found != NULL)
        launch(1, name, 20);
}

void standin_nccl_run(struct standin_comm *comm)
{
    standin_nccl_launch(comm);
    standin_nccl_tell(comm);
    comm->count = 0;
}

/* ---- NCCL's own functions, for tests/gpu/ranks_program.c ---- */

struct unique_id { char bytes[128]; };
static __thread struct standin_comm *grouped; /* whose tasks a group holds                       */
static __thread int depth;

int ncclGetUniqueId(struct unique_id *out)
{
    memset(out, 7, sizeof *out);
    return 0;
}

int ncclCommInitRank(struct standin_comm **out, int ranks, struct unique_id id, int rank)
{
    *out = standin_nccl_comm(NULL, UINT64_C(0x1234) + (unsigned char)id.bytes[0], ranks, rank);
    return 0;
}

int ncclCommDestroy(struct standin_comm *comm)
{
    standin_nccl_destroy(comm);
    return 0;
}

const char *ncclGetErrorString(int result)
{
    return result == 0 ? "no error" : "an error";
}

static int enqueue(struct standin_comm *comm, const char *function, size_t count, int dtype,
                   int peer)
{
    standin_nccl_add(comm, function, count, dtypes[dtype], peer);
    grouped = comm;
    if (depth == 0)
        standin_nccl_run(comm);
    return 0;
}

int ncclGroupStart(void)
{
    depth++;
    return 0;
}

int ncclGroupEnd(void)
{
    if (--depth == 0 && grouped != NULL)
        standin_nccl_run(grouped);
    return 0;
}

#define OF_CALL const void *in, void *out, size_t count, int dtype, int op
int ncclAllReduce(OF_CALL, struct standin_comm *comm, void *stream)
{
    (void)in, (void)out, (void)op, (void)stream;
    return enqueue(comm, "AllReduce", count, dtype, 0);
}

int ncclReduceScatter(OF_CALL, struct standin_comm *comm, void *stream)
{
    (void)in, (void)out, (void)op, (void)stream;
    return enqueue(comm, "ReduceScatter", count, dtype, 0);
}

int ncclBroadcast(OF_CALL, struct standin_comm *comm, void *stream)
{
    (void)in, (void)out, (void)stream;
    return enqueue(comm, "Broadcast", count, dtype, op); /* op: the root                          */
}

int ncclAllGather(const void *in, void *out, size_t count, int dtype, struct standin_comm *comm,
                  void *stream)
{
    (void)in, (void)out, (void)stream;
    return enqueue(comm, "AllGather", count, dtype, 0);
}

int ncclSend(const void *in, size_t count, int dtype, int peer, struct standin_comm *comm,
             void *stream)
{
    (void)in, (void)stream;
    return enqueue(comm, "Send", count, dtype, peer);
}

int ncclRecv(void *out, size_t count, int dtype, int peer, struct standin_comm *comm, void *stream)
{
    (void)out, (void)stream;
    return enqueue(comm, "Recv", count, dtype, peer);
}
