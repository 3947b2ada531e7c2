/* SPDX-License-Identifier: Apache-2.0 */
#include "ascend/vendor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library; /* NULL: the variable is not set, or the file cannot be loaded             */
static char none;     /* a cache that points here: the vendor has no such symbol                 */

static void load(void)
{
    const char *path = secure_getenv(vv_vendor_variable);
    if (path != NULL && *path != '\0')
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *vv_vendor_find(const char *symbol, void **cache, const void *own)
{
    void *found = __atomic_load_n(cache, __ATOMIC_ACQUIRE);
    if (found != NULL)
        return found == &none ? NULL : found;
    (void)pthread_once(&once, load);
    found = dlsym(library != NULL ? library : RTLD_NEXT, symbol);
    if (found == own) /* a library that links ours is no vendor's */
        found = NULL;
    __atomic_store_n(cache, found != NULL ? found : (void *)&none, __ATOMIC_RELEASE);
    return found;
}
