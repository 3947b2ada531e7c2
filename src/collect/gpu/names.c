/* SPDX-License-Identifier: Apache-2.0 */
/* names.c — kernels are few and their launches many, so names that were read are kept: one in each
 * of a number of places, so that memory does not grow. */
#include "collect/gpu/names.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collect/process/modules.h"
#include "record/text_hash.h"

#define PLACES 1024u

typedef char *demangler(const char *name, char *buffer, size_t *bytes, int *out_status);

static struct { char *name, *plain; } known[PLACES];

static demangler *found; /* atomic */

void vv_gpu_names_look(void)
{
    struct vv_module library;
    if (__atomic_load_n(&found, __ATOMIC_ACQUIRE) == NULL &&
        vv_module_find("libstdc++.so", &library)) {
        void *handle = vv_module_open(&library);
        void *symbol = handle != NULL ? dlsym(handle, "__cxa_demangle") : NULL;
        demangler *demangle;
        memcpy(&demangle, &symbol, sizeof demangle);
        __atomic_store_n(&found, demangle, __ATOMIC_RELEASE);
    }
}

const char *vv_gpu_kernel_name(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    size_t at = vv_text_hash(name, (uint32_t)strlen(name), 0) % PLACES;
    if (known[at].name == NULL || strcmp(known[at].name, name) != 0) {
        demangler *demangle = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
        int status = 0;
        char *plain = demangle != NULL ? demangle(name, NULL, NULL, &status) : NULL;
        if (plain == NULL)
            return name;
        free(known[at].name);
        free(known[at].plain);
        known[at].plain = plain;
        known[at].name = strdup(name);
    }
    return known[at].plain;
}
