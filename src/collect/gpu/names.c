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

/* libstdc++ may be loaded later than the runtime, so this looks again while it is not there. */
static demangler *find_demangler(void)
{
    static demangler *found;
    struct vv_module library;
    if (found == NULL && vv_module_find("libstdc++.so", &library)) {
        void *handle = vv_module_open(&library);
        void *symbol = handle != NULL ? dlsym(handle, "__cxa_demangle") : NULL;
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

const char *vv_gpu_kernel_name(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    size_t at = vv_text_hash(name, (uint32_t)strlen(name), 0) % PLACES;
    if (known[at].name == NULL || strcmp(known[at].name, name) != 0) {
        demangler *demangle = find_demangler();
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
