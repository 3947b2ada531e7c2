/* SPDX-License-Identifier: Apache-2.0 */
/* rocprofiler_floor.c — a tool of rocprofiler-sdk that does nothing: it is told of launches, asks
 * for kernels, and drops what it gets. What any profiler pays at least (cuda_launches.c). The
 * version is that of rocprofiler-sdk 1. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HIP_RUNTIME 5
#define KINDS 64
#define CALLS 16
#define LOSSLESS 2
#define BUFFER_BYTES (512 * 1024)

struct event {
    uint64_t context, thread, internal, external, ancestor;
    uint32_t kind;
    int32_t operation;
    uint32_t phase;
    const void *payload;
};
struct tool {
    size_t bytes;
    int (*initialize)(void (*finalize)(void), void *data);
    void (*finalize)(void *data);
    void *data;
};

int rocprofiler_create_context(uint64_t *);
int rocprofiler_start_context(uint64_t);
int rocprofiler_create_buffer(uint64_t, size_t, size_t, int, void *, void *, uint64_t *);
int rocprofiler_configure_buffer_tracing_service(uint64_t, int, const int32_t *, size_t, uint64_t);
int rocprofiler_configure_callback_tracing_service(uint64_t, int, const int32_t *, size_t, void *,
                                                   void *);
int rocprofiler_query_buffer_tracing_kind_name(int, const char **, uint64_t *);
int rocprofiler_query_callback_tracing_kind_operation_name(int, int32_t, const char **, uint64_t *);

__attribute__((visibility("default"))) void *rocprofiler_configure(uint32_t version,
                                                                   const char *text,
                                                                   uint32_t priority, void *client);

static void told(struct event event, uint64_t *shared, void *user)
{
    (void)event;
    (void)shared;
    (void)user;
}

static void give(uint64_t context, uint64_t buffer, void **headers, size_t count, void *user,
                 uint64_t dropped)
{
    (void)context;
    (void)buffer;
    (void)headers;
    (void)count;
    (void)user;
    (void)dropped;
}

static void *address_of(void (*function)(void))
{
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static int initialize(void (*finalize)(void), void *data)
{
    uint64_t context = 0, buffer = 0, length;
    int32_t launches[CALLS];
    size_t count = 0;
    (void)finalize;
    (void)data;
    if (rocprofiler_create_context(&context) != 0 ||
        rocprofiler_create_buffer(context, BUFFER_BYTES, BUFFER_BYTES / 8 * 7, LOSSLESS,
                                  address_of((void (*)(void))give), NULL, &buffer) != 0)
        abort();
    for (int32_t id = 0; id < CALLS; id++) {
        const char *name = NULL;
        if (rocprofiler_query_callback_tracing_kind_operation_name(HIP_RUNTIME, id, &name,
                                                                   &length) == 0 &&
            strncmp(name, "hipLaunch", 9) == 0)
            launches[count++] = id;
    }
    if (rocprofiler_configure_callback_tracing_service(context, HIP_RUNTIME, launches, count,
                                                       address_of((void (*)(void))told),
                                                       NULL) != 0)
        abort();
    for (int kind = 0; kind < KINDS; kind++) {
        const char *name = NULL;
        if (rocprofiler_query_buffer_tracing_kind_name(kind, &name, &length) == 0 &&
            strcmp(name, "KERNEL_DISPATCH") == 0 &&
            rocprofiler_configure_buffer_tracing_service(context, kind, NULL, 0, buffer) != 0)
            abort();
    }
    return rocprofiler_start_context(context);
}

void *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority, void *client)
{
    static struct tool tool = { sizeof tool, initialize, NULL, NULL };
    (void)version;
    (void)text;
    (void)priority;
    (void)client;
    return &tool;
}
