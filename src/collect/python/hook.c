/* SPDX-License-Identifier: Apache-2.0 */
/* hook.c — adds an audit hook so that CPython can free it. CPython takes the memory for a hook from
 * the current allocator. At its end it gives the memory to the allocator that is current then. With
 * -X dev, PYTHONDEVMODE or PYTHONMALLOC these are two allocators, and the second would abort the
 * program. So, when hooks are about to go, this file puts functions of its own before the second
 * allocator, and gives the hook's block to the first. */
#include "collect/python/hook.h"

#include <string.h>

#define DOMAIN_RAW 0 /* PYMEM_DOMAIN_RAW */

static struct vv_python_api python;
static struct vv_python_allocator first, second;
static void *entry; /* the hook's memory, until it is given back                                 */

static void *keep_malloc(void *state, size_t bytes)
{
    (void)state;
    return entry = first.malloc(first.state, bytes);
}

static void *pass_malloc(void *state, size_t bytes)
{
    (void)state;
    return second.malloc(second.state, bytes);
}

static void *pass_calloc(void *state, size_t count, size_t bytes)
{
    (void)state;
    return second.calloc(second.state, count, bytes);
}

static void *pass_realloc(void *state, void *block, size_t bytes)
{
    (void)state;
    return second.realloc(second.state, block, bytes);
}

static void pass_free(void *state, void *block)
{
    (void)state;
    bool is_ours = block != NULL && block == entry;
    const struct vv_python_allocator *to = is_ours ? &first : &second;
    entry = is_ours ? NULL : entry;
    to->free(to->state, block);
}

/* If the interpreter already runs, its allocators do not change any more. */
void vv_python_hook_add(const struct vv_python_api *api, vv_python_hook *hook)
{
    python = *api;
    if (python.set_allocator == NULL || python.is_initialized == NULL || python.is_initialized()) {
        python.add_hook(hook, NULL);
        return;
    }
    python.get_allocator(DOMAIN_RAW, &first);
    struct vv_python_allocator keeping = first;
    keeping.malloc = keep_malloc;
    python.set_allocator(DOMAIN_RAW, &keeping);
    python.add_hook(hook, NULL);
    python.set_allocator(DOMAIN_RAW, &first);
}

void vv_python_hook_hear(const char *event)
{
    static struct vv_python_allocator between = { NULL, pass_malloc, pass_calloc, pass_realloc,
                                                  pass_free };
    if (entry == NULL || strcmp(event, "cpython._PySys_ClearAuditHooks") != 0)
        return;
    python.get_allocator(DOMAIN_RAW, &second);
    if (second.free != first.free)
        python.set_allocator(DOMAIN_RAW, &between);
}
