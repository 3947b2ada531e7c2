/* SPDX-License-Identifier: Apache-2.0 */
/* standin_hip.c — stands in for AMD's HIP and the rocprofiler-register in it, for programs of
 * tests: the first call looks for tools as that library does from ROCm 6.2 to 7. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin_rocm.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions are looked up by their names */
#define API __attribute__((visibility("default")))
#define NO_STREAM UINT64_MAX

typedef int set_table(const char *name, uint64_t version, uint64_t instance, void **tables,
                      uint64_t count);

extern void *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
                                   void *client) __attribute__((weak));
extern set_table rocprofiler_set_api_table __attribute__((weak));

static struct standin_table table;

static int is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0';
}

/* rocprofiler-register ends the program if a tool is there and rocprofiler-sdk is not. */
static void look_for_tools(void)
{
    void *tables[] = { &table }, *found = NULL;
    set_table *set;
    if (rocprofiler_configure == NULL &&
        dlsym(RTLD_DEFAULT, "rocprofiler_configure") == NULL && !is_set("ROCP_TOOL_LIBRARIES"))
        return;
    if (rocprofiler_set_api_table != NULL) {
        set = rocprofiler_set_api_table;
    } else {
        void *library = dlopen("librocprofiler-sdk.so.1", RTLD_GLOBAL | RTLD_LAZY);
        if (library != NULL)
            found = dlsym(library, "rocprofiler_set_api_table");
        if (found == NULL) {
            fprintf(stderr, "rocprofiler_set_api_table not found\n");
            abort();
        }
        memcpy(&set, &found, sizeof found);
    }
    if (set("hip", 7 << 16, 0, tables, 1) != 0)
        fprintf(stderr, "rocprofiler-register failed\n");
}

static void begin(int call, uint64_t stream, uint64_t *shared)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_tools);
    if (table.begin != NULL)
        table.begin(call, stream, shared);
}

static void end(int call, uint64_t stream, const uint64_t *shared)
{
    if (table.end != NULL)
        table.end(call, stream, shared);
}

static void did(const struct standin_did *what)
{
    if (table.did != NULL)
        table.did(what);
}

API void standin_launch(const char *kernel, uint64_t stream, uint32_t device)
{
    const struct standin_did what = { STANDIN_KERNEL, kernel, 0, device, 0, stream % 4, 0, 0 };
    uint64_t shared = 0;
    begin(STANDIN_LAUNCH, stream, &shared);
    did(&what);
    end(STANDIN_LAUNCH, stream, &shared);
}

/* A graph: one call, several kernels. */
API void standin_graph(const char *kernel, int kernels, uint64_t stream)
{
    const struct standin_did what = { STANDIN_KERNEL, kernel, 0, 1, 0, stream % 4, 0, 0 };
    uint64_t shared = 0;
    begin(STANDIN_GRAPH_LAUNCH, stream, &shared);
    for (int i = 0; i < kernels; i++)
        did(&what);
    end(STANDIN_GRAPH_LAUNCH, stream, &shared);
}

/* By HSA, which HIP does not know of. */
API void standin_launch_alone(const char *kernel)
{
    const struct standin_did what = { STANDIN_KERNEL, kernel, 0, 1, 0, 9, 0, 0 };
    did(&what);
}

/* Directions: 2 to the device, 3 to the host, 4 between devices. */
API void standin_copy(uint64_t bytes, uint32_t direction, uint64_t stream)
{
    const struct standin_did what = {
        STANDIN_COPIED, NULL, direction, direction == 3 ? 0 : direction == 4 ? 2 : 1,
        direction == 2 ? 0 : 1, 0, bytes, 0
    };
    uint64_t shared = 0, inner = 0;
    begin(STANDIN_COPY, stream, &shared);
    begin(STANDIN_COPY_ASYNC, stream, &inner);
    did(&what);
    end(STANDIN_COPY_ASYNC, stream, &inner);
    end(STANDIN_COPY, stream, &shared);
}

API void standin_memory(uint64_t address, uint64_t bytes, int takes)
{
    const struct standin_did what = { STANDIN_MEMORY, NULL, takes ? 1 : 3, takes ? 1 : 0, 0, 0,
                                      takes ? bytes : 0, address };
    int call = takes ? STANDIN_MALLOC : STANDIN_FREE;
    uint64_t shared = 0;
    begin(call, NO_STREAM, &shared);
    did(&what);
    end(call, NO_STREAM, &shared);
}

API void standin_scratch(uint64_t bytes)
{
    const struct standin_did what = { STANDIN_SCRATCH, NULL, 1, 1, 0, 3, bytes, 0 };
    uint64_t shared = 0;
    begin(STANDIN_LAUNCH, NO_STREAM, &shared);
    did(&what);
    end(STANDIN_LAUNCH, NO_STREAM, &shared);
}

API void standin_query(void)
{
    uint64_t shared = 0;
    begin(STANDIN_GET_DEVICE, NO_STREAM, &shared);
    end(STANDIN_GET_DEVICE, NO_STREAM, &shared);
}
