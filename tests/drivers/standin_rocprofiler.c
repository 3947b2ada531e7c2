/* SPDX-License-Identifier: Apache-2.0 */
/* standin_rocprofiler.c — stands in for AMD's rocprofiler-sdk: the version that STANDIN_VERSION
 * says (400, 600, 10000 …), with the records of that version, one client, one context, one buffer.
 * STANDIN_ROCM has words of what it is to do wrong. Layouts are those of the public headers:
 * rocm-6.2.x and amd-staging of ROCm/rocprofiler-sdk (0.4, 0.5), 0.6.0 and 1.0.0 in
 * ROCm/rocm-systems; standin_rocm_records.h has them. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "standin_rocm.h"
#include "standin_rocm_records.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions are looked up by their names */
#define API __attribute__((visibility("default")))
#define RECORDS_MAX 4096
#define KERNELS_MAX 64
#define DEPTH_MAX 8
#define KINDS 33

struct tool_result {
    size_t size;
    int (*initialize)(void *finalize, void *data);
    void (*finalize)(void *data);
    void *data;
};
typedef struct tool_result *configure_tool(uint32_t version, const char *text, uint32_t priority,
                                           void *client);
typedef void complete(uint64_t context, uint64_t buffer, void **headers, size_t count, void *data,
                      uint64_t dropped);
typedef int request(uint64_t thread, uint64_t context, int kind, int32_t operation,
                    uint64_t internal, uint64_t *external, void *data);

static const char *const call_names[STANDIN_CALLS] = {
    "hipApiName", "hipLaunchKernel", "hipModuleLaunchKernel", "hipMemcpyAsync", "hipMemcpy",
    "hipMalloc", "hipFree", "hipStreamSynchronize", "hipGetDevice", "hipGraphLaunch",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tool_result *tool;
static void *call_back[KINDS];
static char is_call[STANDIN_CALLS], is_buffered[KINDS];
static complete *on_complete;
static size_t buffer_bytes, used_bytes;
static request *on_request;
static int is_started, is_initialized; /* 0: not yet, -1: now, 1: done                           */
static uint64_t next_internal, dropped;
static const char *kernels[KERNELS_MAX];
static struct { struct record_header header; union standin_record record; } records[RECORDS_MAX];
static size_t record_count;

static _Thread_local uint64_t open_calls[DEPTH_MAX];
static _Thread_local int depth;

static uint32_t asked_version;
static const char *asked_words = "";

__attribute__((constructor)) static void ask_how_to_behave(void)
{
    const char *text = getenv("STANDIN_VERSION"), *words = getenv("STANDIN_ROCM");
    asked_version = text != NULL ? (uint32_t)atoi(text) : 10000;
    asked_words = words != NULL ? words : "";
}

static uint32_t version(void)
{
    return asked_version;
}

static int does(const char *word)
{
    return asked_words[0] != '\0' && strstr(asked_words, word) != NULL;
}

/* A system call takes longer than all that the tool does. */
static uint64_t thread_number(void)
{
    static _Thread_local uint64_t number;
    if (number == 0)
        number = (uint64_t)gettid();
    return number;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- the library's functions ---- */

API int rocprofiler_create_context(uint64_t *out)
{
    const struct timespec while_others_fork = { 0, 300000000 };
    *out = 77;
    if (does("slow"))
        nanosleep(&while_others_fork, NULL);
    return does("refuse") ? 1 : 0;
}
API int rocprofiler_start_context(uint64_t context)
{
    is_started = context == 77;
    return context == 77 ? 0 : 2;
}
API int rocprofiler_stop_context(uint64_t context)
{
    is_started = 0;
    return context == 77 ? 0 : 2;
}
API int rocprofiler_is_initialized(int *status) { *status = is_initialized; return 0; }
API int rocprofiler_get_timestamp(uint64_t *out) { *out = now(); return 0; }
API const char *rocprofiler_get_status_string(int status)
{
    return status == 1 ? "Generalized error" : "another error";
}

#define BUFFER /* as the header has it */                                                    \
    uint64_t context, size_t size, size_t mark, int policy, complete *callback, void *data, \
        uint64_t *out
API int rocprofiler_create_buffer(BUFFER)
{
    (void)data;
    on_complete = callback;
    buffer_bytes = size;
    *out = 5;
    return context == 77 && mark <= size && policy == 2 && is_initialized == -1 ? 0 : 1;
}

static const char *kind_name(int kind, int is_buffer)
{
    static const char *const alike[] = {
        "NONE", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
        "HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API", "MARKER_CONTROL_API",
        "MARKER_NAME_API",
    };
    const struct standin_kinds *numbers = standin_kinds_of(version());
    if (kind < 0 || kind >= KINDS)
        return NULL;
    if (kind < 10)
        return alike[kind];
    if (!is_buffer)
        return kind == 10 ? "CODE_OBJECT" : kind == numbers->stream ? "HIP_STREAM" : "OTHER";
    return kind == 10                   ? "MEMORY_COPY"
           : kind == 11                 ? "KERNEL_DISPATCH"
           : kind == numbers->scratch   ? "SCRATCH_MEMORY"
           : kind == numbers->allocation ? "MEMORY_ALLOCATION" : "OTHER";
}

static int tell_name(const char *name, const char **out, uint64_t *out_length)
{
    *out = name;
    *out_length = name != NULL ? strlen(name) : 0;
    return name != NULL ? 0 : 4;
}

API int rocprofiler_query_buffer_tracing_kind_name(int kind, const char **out, uint64_t *length)
{
    return tell_name(kind_name(kind, 1), out, length);
}

API int rocprofiler_query_callback_tracing_kind_name(int kind, const char **out, uint64_t *length)
{
    return tell_name(kind_name(kind, 0), out, length);
}

API int rocprofiler_query_callback_tracing_kind_operation_name(int kind, int32_t operation,
                                                               const char **out, uint64_t *length)
{
    int is_known = kind == 5 && operation >= 0 && operation < STANDIN_CALLS;
    return tell_name(is_known ? call_names[operation] : NULL, out, length);
}

API int rocprofiler_configure_callback_tracing_service(uint64_t context, int kind,
                                                       const int32_t *operations, size_t count,
                                                       void *callback, void *data)
{
    (void)data;
    if (context != 77 || kind <= 0 || kind >= KINDS || is_initialized != -1)
        return 1;
    call_back[kind] = callback;
    for (size_t i = 0; kind == 5 && i < count; i++)
        is_call[operations[i]] = 1;
    return 0;
}

API int rocprofiler_configure_buffer_tracing_service(uint64_t context, int kind,
                                                     const int32_t *operations, size_t count,
                                                     uint64_t buffer)
{
    (void)operations;
    if (context != 77 || kind <= 0 || kind >= KINDS || count != 0 || buffer != 5)
        return 1;
    is_buffered[kind] = 1;
    return 0;
}

API int rocprofiler_configure_external_correlation_id_request_service(uint64_t context,
                                                                      const int *kinds,
                                                                      size_t count,
                                                                      request *callback,
                                                                      void *data)
{
    (void)data;
    on_request = callback;
    return context == 77 && count == 2 && kinds[0] == 10 && kinds[1] == 11 ? 0 : 1;
}

API int rocprofiler_query_available_agents(int of, int (*callback)(int, const void **, size_t,
                                                                    void *),
                                           size_t bytes, void *data)
{
    const void *agents[3];
    for (uint32_t i = 0; i < 3; i++)
        agents[i] = standin_agent(version(), i);
    return bytes <= sizeof(struct agent_6_2) ? callback(of, agents, 3, data) : 17;
}

/* ---- records ---- */

static void *hand_over(void *unused)
{
    static void *headers[RECORDS_MAX];
    size_t count = record_count;
    for (size_t i = 0; i < count; i++)
        headers[i] = &records[i].header;
    if (count > 0 && on_complete != NULL)
        on_complete(77, 5, headers, count, NULL, dropped);
    record_count = used_bytes = 0;
    return unused;
}

/* On a thread of its own, and the caller waits. */
static void flush(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, hand_over, NULL) == 0)
        pthread_join(thread, NULL);
}

API int rocprofiler_flush_buffer(uint64_t buffer)
{
    pthread_mutex_lock(&lock);
    flush();
    pthread_mutex_unlock(&lock);
    return buffer == 5 ? 0 : 3;
}

static void put(int kind, const union standin_record *record, size_t bytes)
{
    if (!is_buffered[kind])
        return;
    if (record_count == RECORDS_MAX || used_bytes + bytes > buffer_bytes)
        flush();
    used_bytes += bytes;
    records[record_count].record = *record;
    records[record_count].header.category = does("category") ? 3 : 1;
    records[record_count].header.kind = does("unknown") ? 31 : (uint32_t)kind;
    records[record_count].header.payload = &records[record_count].record;
    if (does("short"))
        records[record_count].record.size = 40;
    if (does("long"))
        records[record_count].record.size += 64;
    if (does("null"))
        records[record_count].header.payload = NULL;
    record_count++;
    dropped += does("drop") ? 2 : 0;
}

/* ---- events ---- */

static void tell(int kind, int32_t operation, uint32_t phase, uint64_t internal, void *payload,
                 uint64_t *shared)
{
    const struct event_7_0 new = { 77, thread_number(), internal, 0, 0, (uint32_t)kind,
                                   operation, phase, payload };
    const struct event_6_2 old = { 77, thread_number(), internal, 0, (uint32_t)kind, operation,
                                   phase, payload };
    void (*take_new)(struct event_7_0, uint64_t *, void *);
    void (*take_old)(struct event_6_2, uint64_t *, void *);
    if (call_back[kind] == NULL || !is_started)
        return;
    memcpy(&take_new, &call_back[kind], sizeof take_new);
    memcpy(&take_old, &call_back[kind], sizeof take_old);
    if (version() >= 10000)
        take_new(new, shared, NULL);
    else
        take_old(old, shared, NULL);
}

static void tell_stream(uint64_t stream, uint32_t phase)
{
    struct { uint64_t size, stream, value; } payload = { sizeof payload, stream, 0 };
    uint64_t shared = 0;
    if (standin_kinds_of(version())->stream >= 0 && stream != UINT64_MAX)
        tell(standin_kinds_of(version())->stream, 3, phase, 0, &payload, &shared);
}

/* Numbers are counted up from 1; the code object is told of with its first launch. */
static uint64_t kernel_of(const char *name)
{
    uint64_t number = 0, shared = 0;
    pthread_mutex_lock(&lock);
    while (number < KERNELS_MAX && kernels[number] != NULL && strcmp(kernels[number], name) != 0)
        number++;
    int is_new = number < KERNELS_MAX && kernels[number] == NULL;
    if (is_new)
        kernels[number] = name;
    pthread_mutex_unlock(&lock);
    if (is_new) {
        char symbol[256];
        snprintf(symbol, sizeof symbol, "%s.kd", name);
        struct symbol_6_2 payload = { sizeof payload, number + 1, 1, symbol, 0, 0, 0, 512, 0, 96,
                                      32, 8 };
        tell(10, 2, 1, 0, &payload, &shared);
    }
    return number + 1;
}

static void begin(int call, uint64_t stream, uint64_t *shared)
{
    tell_stream(stream, 1);
    if (!is_call[call] || call_back[5] == NULL || !is_started || depth == DEPTH_MAX)
        return;
    uint64_t internal = __atomic_add_fetch(&next_internal, 1, __ATOMIC_RELAXED);
    open_calls[depth++] = internal;
    tell(5, call, 1, internal, NULL, shared);
}

static void end(int call, uint64_t stream, const uint64_t *shared)
{
    uint64_t copy = *shared;
    if (is_call[call] && depth > 0)
        tell(5, call, 2, open_calls[--depth], NULL, &copy);
    tell_stream(stream, 2);
}

static void did(const struct standin_did *what)
{
    union standin_record record;
    struct standin_common common = { 0 };
    uint64_t begun = now();
    if (!is_started)
        return;
    common.internal = depth > 0 ? open_calls[depth - 1]
                                : __atomic_add_fetch(&next_internal, 1, __ATOMIC_RELAXED);
    common.thread = thread_number();
    if (on_request != NULL && (what->sort == STANDIN_KERNEL || what->sort == STANDIN_COPIED))
        on_request(common.thread, 77, what->sort == STANDIN_KERNEL ? 11 : 10, 1, common.internal,
                   &common.external, NULL);
    common.kernel = what->sort == STANDIN_KERNEL ? kernel_of(what->name) : 0;
    common.start = does("zeros") ? 0 : begun;
    common.end = common.start + 1000;
    memset(&record, 0, sizeof record);
    int kind = standin_write(version(), what, &common, &record);
    pthread_mutex_lock(&lock);
    if (kind >= 0)
        put(kind, &record, record.size);
    pthread_mutex_unlock(&lock);
}

/* ---- registration ---- */

static void end_of_program(void)
{
    if (tool != NULL && tool->finalize != NULL)
        tool->finalize(tool->data);
}

static void initialize(void)
{
    struct { size_t size; const char *name; uint32_t handle; } client = { sizeof client, NULL, 7 };
    const char *other = getenv("ROCP_TOOL_LIBRARIES");
    void *found = dlsym(RTLD_DEFAULT, "rocprofiler_configure");
    configure_tool *configure;
    is_initialized = -1;
    atexit(end_of_program);
    memcpy(&configure, &found, sizeof found);
    if (configure != NULL)
        tool = configure(version(), "stand-in", other != NULL && *other != '\0', &client);
    if (tool != NULL && tool->initialize(NULL, tool->data) != 0)
        tool = NULL;
    is_initialized = 1;
}

API int rocprofiler_set_api_table(const char *name, uint64_t of, uint64_t instance, void **tables,
                                  uint64_t count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct standin_table *table = tables[0];
    (void)of;
    (void)instance;
    pthread_once(&once, initialize);
    if (strcmp(name, "hip") == 0 && count == 1 && tool != NULL)
        *table = (struct standin_table){ begin, end, did };
    return 0;
}
