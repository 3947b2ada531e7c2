/* SPDX-License-Identifier: Apache-2.0 */
/* unload.c — loads instrumented libraries, lets them record, and unloads them.
 *
 * unload ROUNDS FIRST.so SECOND.so: each round loads one after the other, calls its plugin_run(10),
 * closes it, and makes sure that it is gone: its pages are given away, never to be read again. Then
 * the program records a range "after" itself, 30 times in 1.5 s, in which time the recorder writes
 * its metadata anew. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "varve/varve.h"

VARVE_SITE(after, "after", VARVE_LAYER_OP);

/* What lay at `address` belongs to nobody now. */
static int is_gone(void *address)
{
    uintptr_t page = (uintptr_t)address & ~(uintptr_t)4095;
    void *blocker = mmap((void *)page, 4096, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return blocker != MAP_FAILED && munmap(blocker, 4096) == 0;
}

static int run(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return 97;
    void (*plugin_run)(int);
    void *symbol = dlsym(library, "plugin_run");
    if (symbol == NULL)
        return 98;
    memcpy(&plugin_run, &symbol, sizeof symbol);
    plugin_run(10);
    dlclose(library);
    return is_gone(symbol) ? 0 : 99;
}

int main(int argc, char **argv)
{
    const struct timespec moment = { 0, 50000000 };
    int failure = argc != 4 ? 2 : 0;
    for (int i = 0; failure == 0 && i < atoi(argv[1]); i++) {
        failure = run(argv[2]);
        if (failure == 0)
            failure = run(argv[3]);
    }
    for (int i = 0; failure == 0 && i < 30; i++) {
        varve_begin(&after);
        nanosleep(&moment, NULL);
        varve_end();
    }
    return failure;
}
