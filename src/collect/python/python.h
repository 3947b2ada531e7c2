/* SPDX-License-Identifier: Apache-2.0 */
/* python.h — watches CPython, 3.9 and later, as it is installed: without a header of CPython, and
 * without a Python file. */
#ifndef VV_COLLECT_PYTHON_PYTHON_H
#define VV_COLLECT_PYTHON_PYTHON_H

#include <stdbool.h>

#include "collect/python/api.h"

/* If this process has an interpreter, watches its imports, and its calls while they are asked for.
 * Two threads must not call this at once. */
void vv_python_look(void);

/* Functions that are called at the interpreter's audit events. */
struct vv_python_listener {
    /* A module was imported: a library may have come with it. */
    void (*imported)(void);
    bool (*hears)(const char *event);                 /* must heard() be called at this event? */
    /* Then called with the lock, in the main interpreter. `api` stays valid. */
    void (*heard)(const char *event, const struct vv_python_api *api);
};
/* Called once, before vv_python_look. Keeps the pointer. */
void vv_python_listen(const struct vv_python_listener *listener);
/* Calls are not asked for any more. Recording them ends at the interpreter's next audit event. */
void vv_python_leave(void);

#endif
