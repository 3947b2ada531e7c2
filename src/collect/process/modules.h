/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h — the shared libraries that this process has loaded. Thread-safe; keeps errno. */
#ifndef VV_COLLECT_PROCESS_MODULES_H
#define VV_COLLECT_PROCESS_MODULES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Was a library loaded since this last returned true? If not, there is nothing new to find. Costs
 * one step through the loader's list. */
bool vv_modules_changed(void);

struct vv_module {
    char path[PATH_MAX]; /* the loader's path of the library                                     */
};

/* Finds the first loaded library whose file name is `name`, or begins with `name` and a dot
 * ("libtorch_cpu.so", "libtorch_cpu.so.1.13"). */
VV_MUST_USE bool vv_module_find(const char *name, struct vv_module *out_module);

/* Returns dlopen's handle of a loaded library; NULL if it is not loaded. Never loads a library, and
 * never searches the disk. The library then stays loaded, so the symbols found in it stay valid. */
VV_MUST_USE void *vv_module_open(const struct vv_module *module);

/* A function that a library has, or an older one has not, and where its pointer goes in a
 * struct. */
struct vv_module_function {
    const char *symbol;
    size_t offset;
    bool is_needed;
};

/* Fills the struct at `out`; NULL where the library has no such function. Returns the symbol of the
 * first needed one that it has not, or NULL. */
VV_MUST_USE const char *vv_module_functions(void *library,
                                            const struct vv_module_function *functions,
                                            size_t count, void *out);

#endif
