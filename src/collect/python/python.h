/* SPDX-License-Identifier: Apache-2.0 */
/* python.h — CPython, 3.9 and later, as it is installed; no header of it, no Python file. */
#ifndef VV_COLLECT_PYTHON_PYTHON_H
#define VV_COLLECT_PYTHON_PYTHON_H

#include <stdbool.h>

#include "collect/python/api.h"

/* Takes notice of what the interpreter imports, and of its calls while they are asked for, if this process has one.
 * Not from two threads at once, either. */
void vv_python_look(void);

/* What else wants to know of the interpreter's audit events; called with its lock held. */
struct vv_python_listener {
    void (*imported)(void);                           /* a module was: a library may have come with it  */
    bool (*hears)(const char *event);                 /* is something to be done at this event?         */
    void (*heard)(const struct vv_python_api *api);   /* then, in the main interpreter; `api` stays     */
};
/* Before vv_python_look, once; kept. */
void vv_python_listen(const struct vv_python_listener *listener);
/* Its calls are not asked for any more: the interpreter's next audit event ends that. */
void vv_python_leave(void);

#endif
