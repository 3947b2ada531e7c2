/* SPDX-License-Identifier: Apache-2.0 */
/* nn.c — records calls of nn.Module.__call__, which is redirected while modules are recorded
 * (python/redirect.h).
 *
 * So no hook of PyTorch is set: torch.compile warns of such hooks and breaks its graphs at them. An
 * exception is a NULL result that is passed on. On 3.11 super().__call__(x) in a class's own
 * __call__ is not seen. */
#include "collect/torch/nn.h"

#include <string.h>

#include "collect/process/collector.h"
#include "collect/python/redirect.h"
#include "collect/torch/nn_names.h"
#include "record/outliving_range.h"
#include "record/source_note.h"
#include "varve/varve.h"

#define NAME "modules"
#define OFFSET_FLAG (UINT64_C(1) << 63) /* PY_VECTORCALL_ARGUMENTS_OFFSET */

static const struct vv_python_api *python;
static bool is_wanted;             /* atomic                                                      */
/* `is_wanted` was set since the last event: torch.nn may be there. Atomic. */
static bool is_due;
static bool is_attached, is_given_up;
static struct vv_python_redirect function; /* nn.Module.__call__ */
static _Thread_local struct vv_torch_nn *innermost; /* module whose call has not returned */

/* ---- the hot path: arguments[0] is the module ---- */

static void *call(void *self, void *const *arguments, size_t count, void *names)
{
    struct vv_torch_nn *module = NULL, *around = innermost;
    if (varve_layers() != 0 && (count & ~OFFSET_FLAG) != 0)
        module = vv_torch_nn_find(arguments[0], around);
    if (module == NULL)
        return function.former(self, arguments, count, names);
    vv_frame_begin(module->site);
    innermost = module;
    void *result = function.former(self, arguments, count, names);
    innermost = around;
    if (varve_layers() != 0)
        vv_frame_end();
    return result;
}

/* ---- attach ---- */

/* Returns nn.Module.__call__; NULL while that class does not exist. */
static void *find_function(void)
{
    void *imported = python->sys_object("modules");
    void *file = imported != NULL ? python->dict_item(imported, "torch.nn.modules.module") : NULL;
    void *class = file != NULL ? python->attribute(file, "Module") : NULL;
    void *found = class != NULL ? python->attribute(class, "__call__") : NULL;
    python->drop(class);
    return found;
}

static void begin(void)
{
    if (function.object == NULL && (function.object = find_function()) == NULL)
        return;
    const char *failure = vv_torch_nn_begin(python)
                              ? vv_python_redirect_begin(python, &function, call)
                              : "no memory for their names";
    is_attached = failure == NULL;
    is_given_up = !is_attached;
    vv_collector_note(NAME, is_attached ? VV_COLLECTOR_ATTACHED : VV_COLLECTOR_REFUSED,
                      is_attached ? "calls of nn.Module" : failure);
}

static void end(void)
{
    vv_python_redirect_end(python, &function);
    is_attached = false;
    vv_collector_note(NAME, VV_COLLECTOR_OFF, "calls of nn.Module not recorded any more");
}

/* From the next audit event on, calls are recorded, or not recorded any more. */
static void want(bool wants)
{
    __atomic_store_n(&is_wanted, wants, __ATOMIC_RELAXED);
    __atomic_store_n(&is_due, true, __ATOMIC_RELEASE);
}

bool vv_torch_nn_hears(const char *event)
{
    return __atomic_load_n(&is_wanted, __ATOMIC_RELAXED) != is_attached && !is_given_up &&
           (__atomic_load_n(&is_due, __ATOMIC_ACQUIRE) || strcmp(event, "import") == 0);
}

void vv_torch_nn_look(const struct vv_python_api *api)
{
    void *type, *value, *traceback;
    python = api;
    __atomic_store_n(&is_due, false, __ATOMIC_RELAXED);
    python->take_error(&type, &value, &traceback);
    (is_attached ? end : begin)();
    python->clear_error();
    python->restore_error(type, value, traceback);
}

extern const struct vv_collector vv_collector_modules;
const struct vv_collector vv_collector_modules = { .want = want };
