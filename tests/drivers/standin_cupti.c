/* SPDX-License-Identifier: Apache-2.0 */
/* standin_cupti.c — stands in for NVIDIA's CUPTI: hands over records of the work that the stand-in
 * driver tells of, in structs declared here, as long as those of the version in STANDIN_VERSION.
 * STANDIN_CUPTI has words that make it misbehave:
 *
 *   drops      three records were dropped          taken      there is another subscriber
 *   unknown    records of an unknown kind, too     larger     records have 64 bytes more
 *   short      kernels end after 64 bytes          disorder   the newest record first
 *   late       a buffer comes after the exit       noclock    no clock of ours is taken
 *   nodevice   no kind can be enabled              nobuffer   asks for memory and drops it all
 *   untimed    kernels have no times               future     a version that nobody knows
 *   hands      a thread of its own hands over what is there, each 5 ms
 *   denied     kernels are for root alone          nomemory   there is no memory for kernels
 *   nounified  unified memory is not told of       slow       subscribing takes 300 ms
 *   zeros      buffers come back as zeros          cut        100 bytes of the last record are gone
 *   stuck      each record is followed by itself   beyond     … by one outside of its buffer
 *   backward   kernels end before they begin
 *
 * STANDIN_CORRELATION is the number before the first call's. STANDIN_FOLDER is where the buffers
 * are written as they are handed over. For tests. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "standin_records.h"

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { SUCCESS = 0, INVALID = 1, END = 12, NOT_INITIALIZED = 15, TAKEN = 39, UNKNOWN = 999 };

/* Bytes of a record since a version: the manual's structs. */
static const struct { uint32_t kind, since, bytes; } lengths[] = {
    { KERNEL, 18, 200 },     { KERNEL, 19, 208 },     { KERNEL, 130000, 216 },
    { KERNEL, 130200, 224 }, { KERNEL, 130500, 248 }, { COPY, 18, 88 },
    { COPY, 28, 96 },        { COPY, 130500, 112 },   { PEER_COPY, 18, 96 },
    { SET, 18, 88 },         { SET, 130500, 104 },    { WAIT, 18, 40 },
    { WAIT, 28, 56 },        { EVENT, 18, 24 },       { EVENT, 28, 56 },
    { EVENT, 130500, 80 },   { MEMORY, 18, 120 },     { MEMORY, 24, 128 },
    { GRAPH, 18, 48 },       { GRAPH, 22, 56 },       { CONTEXT, 18, 16 },
    { CONTEXT, 22, 24 },     { CONTEXT, 24, 32 },     { CONTEXT, 130200, 40 },
    { UNIFIED, 18, 64 },     { UNIFIED, 130000, 104 }, { POOL, 18, 64 },
    { POOL, 22, 72 },        { POOL, 130000, 80 },    { NAME, 18, 32 },
    { OVERHEAD, 18, 40 },    { OVERHEAD, 22, 56 },    { STRANGE, 18, 32 },
};

/* Functions of the two domains; a function's number is its place, from 1 on. */
static const char *const functions[2][24] = {
    { "cuInit", "cuCtxCreate", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
      "cuMemcpyPeerAsync", "cuMemsetD8Async", "cuStreamSynchronize", "cuEventRecord",
      "cuStreamWaitEvent", "cuMemAlloc_v2", "cuMemFree_v2", "cuGraphLaunch",
      "cuDevicePrimaryCtxReset_v2", "cuCtxGetDevice", "cuDeviceGetAttribute",
      "cuDriverGetVersion" },
    { "cudaLaunchKernel_v7000", "cudaDeviceSynchronize_v3020", "cudaMemcpyAsync_v3020",
      "cudaMemsetAsync_v3020", "cudaStreamSynchronize_v3020", "cudaLaunchKernelExC_v11060" },
};

struct call {
    int site;
    const char *function;
    const void *parameters;
    void *value;
    const char *kernel;
    void *context;
    uint32_t context_number;
    uint64_t *data;
    uint32_t correlation;
};
typedef void callback(void *user, int domain, uint32_t id, const struct call *call);
typedef void request(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static callback *subscriber;
static uintptr_t handle; /* of the subscriber that is there                                      */
static bool is_told[2][24], is_enabled[KINDS];
static request *ask;
static complete *give;
static uint64_t (*clock_now)(void);
static uint8_t *buffer;
static size_t buffer_bytes, used;
static uint32_t correlations;
static __thread uint32_t next_correlation;
static size_t dropped;

static bool does(const char *word)
{
    static const char *words;
    if (words == NULL)
        words = getenv("STANDIN_CUPTI") != NULL ? getenv("STANDIN_CUPTI") : "";
    return words[0] != '\0' && strstr(words, word) != NULL;
}

bool standin_does(const char *word)
{
    return does(word);
}

bool standin_is_enabled(uint32_t kind)
{
    return is_enabled[kind];
}

static uint32_t version(void)
{
    static uint32_t is;
    const char *said = is == 0 ? getenv("STANDIN_VERSION") : NULL;
    if (is == 0)
        is = does("future") ? 140000 : said != NULL ? (uint32_t)atoi(said) : 28;
    return is;
}

uint64_t standin_now(void)
{
    struct timespec time;
    if (clock_now != NULL)
        return clock_now();
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static size_t find_length(uint32_t kind)
{
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (lengths[i].kind == kind && lengths[i].since <= version())
            bytes = lengths[i].bytes;
    if (kind == KERNEL && does("short"))
        return 64;
    return bytes + (does("larger") ? 64 : 0);
}

static size_t length_of(uint32_t kind)
{
    static size_t known[KINDS]; /* atomic */
    if (kind >= KINDS)
        return find_length(kind);
    size_t bytes = __atomic_load_n(&known[kind], __ATOMIC_RELAXED);
    if (bytes == 0) {
        bytes = find_length(kind);
        __atomic_store_n(&known[kind], bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

/* ---- buffers ---- */

/* The records in the other order. */
static void turn_round(void)
{
    uint8_t *turned = malloc(used);
    size_t left = used;
    for (size_t at = 0; turned != NULL && at < used;) {
        uint32_t kind;
        memcpy(&kind, buffer + at, sizeof kind);
        size_t bytes = length_of(kind);
        left -= bytes;
        memcpy(turned + left, buffer + at, bytes);
        at += bytes;
    }
    if (turned != NULL)
        memcpy(buffer, turned, used);
    free(turned);
}

static void keep_file(void)
{
    static int number;
    const char *folder = getenv("STANDIN_FOLDER");
    char path[4096];
    if (folder == NULL)
        return;
    snprintf(path, sizeof path, "%s/buffer.%d", folder, number++);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fwrite(buffer, 1, used, file);
        fclose(file);
    }
}

/* With the lock, which is given back meanwhile: the collector may call back. */
static void hand_over(void)
{
    uint8_t *full = buffer;
    size_t bytes = buffer_bytes, valid = used;
    if (full == NULL)
        return;
    if (does("disorder"))
        turn_round();
    if (does("zeros"))
        memset(full, 0, valid);
    if (does("cut") && valid > 100)
        valid -= 100;
    keep_file();
    buffer = NULL;
    used = 0;
    pthread_mutex_unlock(&lock);
    give(NULL, 0, full, bytes, valid);
    pthread_mutex_lock(&lock);
}

void standin_put(const void *record, size_t bytes)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (give == NULL || (kind < KINDS && kind != STRANGE && !is_enabled[kind]))
        return;
    size_t length = length_of(kind);
    pthread_mutex_lock(&lock);
    if (buffer != NULL && used + length > buffer_bytes)
        hand_over();
    if (buffer == NULL) {
        size_t records = 0;
        ask(&buffer, &buffer_bytes, &records);
        used = 0;
    }
    if (buffer != NULL && !does("nobuffer")) {
        memset(buffer + used, 0, length);
        memcpy(buffer + used, record, bytes < length ? bytes : length);
        used += length;
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- what the driver tells ---- */

static const char *(*kernel_now)(void); /* that this thread launches; or NULL                    */

static uint32_t id_of(int domain, const char *function)
{
    for (uint32_t i = 0; i < 24 && functions[domain - 1][i] != NULL; i++)
        if (strncmp(functions[domain - 1][i], function, strlen(function)) == 0)
            return i + 1;
    return 0;
}

static void tell(int domain, const char *function, uint64_t *shared, uint32_t correlation, int site)
{
    uint32_t id = id_of(domain, function);
    callback *told = __atomic_load_n(&subscriber, __ATOMIC_ACQUIRE);
    struct call call = { .site = site, .function = function, .data = shared,
                         .kernel = kernel_now != NULL ? kernel_now() : NULL,
                         .correlation = correlation };
    if (told != NULL && id != 0 && is_told[domain - 1][id - 1])
        told(NULL, domain, id, &call);
}

static void number_next(uint32_t correlation)
{
    next_correlation = correlation;
}

static uint32_t begin(int domain, const char *function, uint64_t *shared)
{
    uint32_t correlation = next_correlation != 0
                               ? next_correlation
                               : __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
    next_correlation = 0;
    tell(domain, function, shared, correlation, 0);
    return correlation;
}

static void end(int domain, const char *function, uint64_t *shared, uint32_t correlation)
{
    tell(domain, function, shared, correlation, 1);
}

/* ---- CUPTI's interface ---- */

int cuptiGetVersion(uint32_t *out)
{
    *out = version();
    return SUCCESS;
}

int cuptiSubscribe(void **out, callback *told, void *user)
{
    const struct timespec while_others_fork = { 0, 300000000 };
    (void)user;
    if (does("slow"))
        nanosleep(&while_others_fork, NULL);
    if (does("taken") || subscriber != NULL)
        return TAKEN;
    *out = (void *)++handle;
    __atomic_store_n(&subscriber, told, __ATOMIC_RELEASE);
    return SUCCESS;
}

struct asks { size_t bytes; const char *name; char *holder; size_t holder_bytes; };

int cuptiSubscribe_v2(void **out, callback *told, void *user, struct asks *asks)
{
    int result = cuptiSubscribe(out, told, user);
    if (result == TAKEN)
        snprintf(asks->holder, asks->holder_bytes, "%s", "CUPTI for Other Profiler");
    return result;
}

int cuptiUnsubscribe(void *of)
{
    if (of != (void *)handle)
        return INVALID;
    __atomic_store_n(&subscriber, NULL, __ATOMIC_RELEASE);
    memset(is_told, 0, sizeof is_told);
    return SUCCESS;
}

int cuptiEnableCallback(uint32_t enable, void *of, int domain, uint32_t id)
{
    if (of != (void *)handle)
        return INVALID;
    is_told[domain - 1][id - 1] = enable != 0;
    return SUCCESS;
}

int cuptiGetCallbackName(int domain, uint32_t id, const char **out)
{
    if (id == 0 || id > 24 || functions[domain - 1][id - 1] == NULL)
        return INVALID;
    *out = functions[domain - 1][id - 1];
    return SUCCESS;
}

/* As it never was: numbers of calls begin anew, too. */
int cuptiFinalize(void)
{
    (void)cuptiUnsubscribe((void *)handle);
    memset(is_enabled, 0, sizeof is_enabled);
    pthread_mutex_lock(&lock);
    hand_over();
    ask = NULL;
    give = NULL;
    clock_now = NULL;
    pthread_mutex_unlock(&lock);
    __atomic_store_n(&correlations, 0, __ATOMIC_RELAXED);
    return SUCCESS;
}

int cuptiActivityRegisterCallbacks(request *asks, complete *gives)
{
    ask = asks;
    give = gives;
    return SUCCESS;
}

int cuptiActivityEnable(int kind)
{
    if (does("nodevice"))
        return UNKNOWN;
    if (kind == KERNEL && (does("denied") || does("nomemory")))
        return does("denied") ? 35 : 8;
    is_enabled[kind] = true;
    return SUCCESS;
}

/* Scope, kind, device, on or off: each of `count`. */
int cuptiActivityConfigureUnifiedMemoryCounter(const uint32_t *asked, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (asked[4 * i] != 1 || asked[4 * i + 3] != 1) /* one device alone, as old versions      */
            return INVALID;
    return does("nounified") ? 28 : SUCCESS;
}

int cuptiActivityDisable(int kind)
{
    is_enabled[kind] = false;
    return SUCCESS;
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, void **record)
{
    uint8_t *at = *record;
    uint32_t kind;
    if (at == NULL) {
        at = from;
    } else {
        memcpy(&kind, at, sizeof kind);
        at += does("stuck") ? 0 : does("beyond") ? valid + 4096 : length_of(kind);
        *record = at;
        if (does("beyond"))
            return SUCCESS;
    }
    if (at >= from + valid)
        return END;
    *record = at;
    return SUCCESS;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out)
{
    static bool is_asked;
    (void)context;
    (void)stream;
    *out = dropped;
    if (does("drops") && !is_asked)
        *out += 3;
    is_asked = true;
    dropped = 0;
    return SUCCESS;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&lock);
    hand_over();
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

static void *hand_over_now_and_then(void *unused)
{
    const struct timespec pause = { 0, 5000000 };
    for (;;) {
        nanosleep(&pause, NULL);
        (void)cuptiActivityFlushAll(0);
    }
    return unused;
}

int cuptiActivityFlushPeriod(uint32_t ms)
{
    pthread_t thread;
    if (ms != 0 && does("hands") &&
        pthread_create(&thread, NULL, hand_over_now_and_then, NULL) == 0)
        pthread_detach(thread);
    return SUCCESS;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*now_of)(void))
{
    if (does("noclock"))
        return NOT_INITIALIZED;
    clock_now = now_of;
    return SUCCESS;
}

int cuptiGetTimestamp(uint64_t *out)
{
    *out = standin_now();
    return SUCCESS;
}

int cuptiSetThreadIdType(int type)
{
    (void)type;
    return SUCCESS;
}

int cuptiGetResultString(int result, const char **out)
{
    static const struct { int result; const char *name; } names[] = {
        { UNKNOWN, "CUPTI_ERROR_UNKNOWN" }, { 8, "CUPTI_ERROR_OUT_OF_MEMORY" },
        { 35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" },
        { 28, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED" },
    };
    *out = "CUPTI_ERROR_OTHER";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].result == result)
            *out = names[i].name;
    return SUCCESS;
}

/* Registered before the collector's handler, and so called after it. */
static void on_exit_of_program(void)
{
    const struct standin_piece piece = { STANDIN_KERNEL, 0, 1, 7, "late_kernel", 0, 0 };
    if (!does("late"))
        return;
    const uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
    standin_put_kernel(&piece, correlation, piece.name, 0);
    (void)cuptiActivityFlushAll(1);
}

__attribute__((constructor)) static void connect(void)
{
    static const struct standin_tools tools = { begin, end, standin_did, number_next };
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = driver != NULL ? dlsym(driver, "standin_driver_connect") : NULL;
    standin_connect *connect_to;
    memcpy(&connect_to, &found, sizeof found);
    if (connect_to != NULL)
        connect_to(&tools);
    found = driver != NULL ? dlsym(driver, "standin_kernel") : NULL;
    memcpy(&kernel_now, &found, sizeof found);
    (void)!atexit(on_exit_of_program);
    if (getenv("STANDIN_CORRELATION") != NULL)
        correlations = (uint32_t)strtoul(getenv("STANDIN_CORRELATION"), NULL, 10);
}
