/* SPDX-License-Identifier: Apache-2.0 */
/* hook.h — an audit hook that may be added before the interpreter exists. */
#ifndef VV_COLLECT_PYTHON_HOOK_H
#define VV_COLLECT_PYTHON_HOOK_H

#include "collect/python/api.h"

/* Adds the hook, once in a process. The hook must pass each event to vv_python_hook_hear. */
void vv_python_hook_add(const struct vv_python_api *api, vv_python_hook *hook);
void vv_python_hook_hear(const char *event);

#endif
