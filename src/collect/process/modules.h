/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h — which shared libraries this process has loaded. Thread-safe; errno is kept. */
#ifndef VV_COLLECT_PROCESS_MODULES_H
#define VV_COLLECT_PROCESS_MODULES_H

#include <limits.h>
#include <stdbool.h>

/* False if no library was loaded since it last said true: then nothing new is to be found. Costs one step through
 * the loader's list. */
bool vv_modules_changed(void);

struct vv_module {
    char path[PATH_MAX]; /* as the loader knows it                                               */
};

/* The first loaded library whose file name is `name`, or begins with it and a dot ("libtorch_cpu.so",
 * "libtorch_cpu.so.1.13"). */
VV_MUST_USE bool vv_module_find(const char *name, struct vv_module *out_module);

/* dlopen's handle of a library that is loaded; never loads one, and never searches the disk. NULL if it is not. The
 * library then stays loaded: what was looked up in it stays valid. */
VV_MUST_USE void *vv_module_open(const struct vv_module *module);

#endif
