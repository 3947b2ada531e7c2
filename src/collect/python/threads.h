/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h — the names that a program gives to its threads in Python. Before 3.14 the kernel does
 * not know them. Thread-safe. */
#ifndef VV_COLLECT_PYTHON_THREADS_H
#define VV_COLLECT_PYTHON_THREADS_H

#include <stdbool.h>

#include "collect/python/api.h"

/* Must vv_python_thread_look be called at this audit event? */
bool vv_python_thread_hears(const char *event);
/* Names the calling thread as its object of `threading` is called, and sees to it that later ones
 * are named. Runs no code of the program. The interpreter's lock is held. Keeps `api`. */
void vv_python_thread_look(const struct vv_python_api *api);

#endif
