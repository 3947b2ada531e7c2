/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_floor.c — a user of CUPTI that does nothing: it is told of launches, asks for kernels, and
 * drops what it gets. What any profiler pays at least (cuda_launches.c). */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL 10
#define DRIVER 1
#define CALLS 24

static void told(void *user, int domain, uint32_t id, const void *call)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)call;
}

static void ask(uint8_t **out_buffer, size_t *out_bytes, size_t *out_records)
{
    static uint8_t buffer[512 * 1024];
    *out_buffer = buffer;
    *out_bytes = sizeof buffer;
    *out_records = 0;
}

static void give(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    (void)context;
    (void)stream;
    (void)buffer;
    (void)bytes;
    (void)valid;
}

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL)
        abort();
    return found;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    void *library = dlopen("libcupti.so.12", RTLD_NOW), *found, *subscriber;
    int (*subscribe)(void **, void *, void *), (*tell)(uint32_t, void *, int, uint32_t);
    int (*name_of)(int, uint32_t, const char **), (*use)(void *, void *), (*enable)(int);
    if (library == NULL)
        abort();
#define FIND(function, name)         \
    found = find(library, name);     \
    memcpy(&(function), &found, sizeof found)
    FIND(subscribe, "cuptiSubscribe");
    FIND(tell, "cuptiEnableCallback");
    FIND(name_of, "cuptiGetCallbackName");
    FIND(use, "cuptiActivityRegisterCallbacks");
    FIND(enable, "cuptiActivityEnable");
    if (subscribe(&subscriber, (void *)(uintptr_t)told, NULL) != 0)
        abort();
    use((void *)(uintptr_t)ask, (void *)(uintptr_t)give);
    enable(KERNEL);
    for (uint32_t id = 1; id < CALLS; id++) {
        const char *name = NULL;
        if (name_of(DRIVER, id, &name) == 0 && strncmp(name, "cuLaunch", 8) == 0)
            tell(1, subscriber, DRIVER, id);
    }
    return 1;
}
