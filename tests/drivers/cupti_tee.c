/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_tee.c — stands before the CUPTI that TEE_CUPTI names, and keeps a copy of each buffer that
 * it hands over: TEE_FOLDER/buffer.PID.N, and the names of its kernels in names.PID.N, a line for
 * each. So records of a real GPU become test data. VARVE_CUPTI names this library. For tests. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define KERNEL 10
#define NAME_OFFSET 104

typedef void request(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);

static complete *next_complete;

static void *real(const char *symbol)
{
    static void *library;
    if (library == NULL)
        library = dlopen(getenv("TEE_CUPTI"), RTLD_LAZY);
    return library != NULL ? dlsym(library, symbol) : NULL;
}

static int next_record(uint8_t *buffer, size_t valid, void **record)
{
    int (*function)(uint8_t *, size_t, void **);
    void *found = real("cuptiActivityGetNextRecord");
    memcpy(&function, &found, sizeof found);
    return function(buffer, valid, record);
}

static FILE *file_of(const char *what, int number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d.%d", getenv("TEE_FOLDER"), what, (int)getpid(), number);
    return fopen(path, "w");
}

static void keep(uint8_t *buffer, size_t valid)
{
    static int count;
    int number = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    FILE *bytes = file_of("buffer", number), *names = file_of("names", number);
    if (bytes != NULL && names != NULL) {
        fwrite(buffer, 1, valid, bytes);
        for (void *record = NULL; valid > 0 && next_record(buffer, valid, &record) == 0;) {
            uint32_t kind;
            const char *name;
            memcpy(&kind, record, sizeof kind);
            memcpy(&name, (char *)record + NAME_OFFSET, kind == KERNEL ? sizeof name : 0);
            if (kind == KERNEL)
                fprintf(names, "%s\n", name);
        }
    }
    if (bytes != NULL)
        fclose(bytes);
    if (names != NULL)
        fclose(names);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    keep(buffer, valid);
    next_complete(context, stream, buffer, bytes, valid);
}

int cuptiActivityRegisterCallbacks(request *asks, complete *gives)
{
    int (*function)(request *, complete *);
    void *found = real("cuptiActivityRegisterCallbacks");
    memcpy(&function, &found, sizeof found);
    next_complete = gives;
    return function(asks, on_complete);
}

/* Passes the call on with six words, as many as any of these functions has. */
#define PASS(name)                                                                                 \
    int name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)         \
    {                                                                                              \
        int (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);         \
        void *found = real(#name);                                                                 \
        memcpy(&function, &found, sizeof found);                                                   \
        return found != NULL ? function(a, b, c, d, e, f) : 999;                                   \
    }
PASS(cuptiGetVersion)
PASS(cuptiSubscribe)
PASS(cuptiUnsubscribe)
PASS(cuptiEnableCallback)
PASS(cuptiGetCallbackName)
PASS(cuptiActivityEnable)
PASS(cuptiActivityDisable)
PASS(cuptiActivityGetNextRecord)
PASS(cuptiActivityGetNumDroppedRecords)
PASS(cuptiActivityFlushAll)
PASS(cuptiGetTimestamp)
PASS(cuptiActivityFlushPeriod)
PASS(cuptiActivityRegisterTimestampCallback)
PASS(cuptiSetThreadIdType)
PASS(cuptiGetResultString)
