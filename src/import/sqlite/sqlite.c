/* SPDX-License-Identifier: Apache-2.0 */
#include "import/sqlite/sqlite.h"

#ifdef VV_HAVE_SQLITE

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libsqlite3.so.0"

struct vv_sqlite vv_sqlite;
static const char *missing; /* NULL = nothing is missing                                         */

static const struct { const char *name; size_t offset; } functions[] = {
#define FUNCTION(name) { "sqlite3_" #name, offsetof(struct vv_sqlite, name) },
    VV_SQLITE_FUNCTIONS(FUNCTION)
};

static void find(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    missing = library == NULL ? LIBRARY : NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && missing == NULL; i++) {
        void *function = dlsym(library, functions[i].name);
        memcpy((char *)&vv_sqlite + functions[i].offset, &function, sizeof function);
        if (function == NULL)
            missing = functions[i].name;
    }
}

enum varve_code vv_sqlite_open(struct varve_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    if (missing != NULL)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "Nsight Systems' exports and .rpd files are read by SQLite, and %s is missing: "
                "install SQLite 3 (libsqlite3-0)",
                missing);
    return VARVE_OK;
}

#endif
