/* SPDX-License-Identifier: Apache-2.0 */
/* nn.c — records calls of nn.Module.__call__. The interpreter looks up the code of a function's
 * call in the vectorcall word of the function object. While modules are recorded, this word leads
 * to a function of this file, which then calls the function that was there before.
 *
 * So no hook of PyTorch is set: torch.compile warns of such hooks and breaks its graphs at them. No
 * attribute of the program is replaced, and no Python frame is added. An exception is a NULL result
 * that is passed on. From 3.12 on CPython has a function that sets the word. Before, the type of
 * functions gives the word's offset, and the offset is believed if the word holds what CPython puts
 * there. Up to 3.11 the interpreter may run a Python function that another one calls without
 * reading that word. Then super().__call__(x) in a class's own __call__ is not seen. */
#include "collect/torch/nn.h"

#include <string.h>

#include "collect/process/collector.h"
#include "collect/process/peek.h"
#include "collect/torch/nn_names.h"
#include "record/outliving_range.h"
#include "record/source_note.h"
#include "varve/varve.h"

#define NAME "modules"
#define TYPE_VECTORCALL_OFFSET 56u /* tp_vectorcall_offset in PyTypeObject, to 3.11 */
#define FUNCTION_BYTES_MAX 512
#define OFFSET_FLAG (UINT64_C(1) << 63) /* PY_VECTORCALL_ARGUMENTS_OFFSET */

static const struct vv_python_api *python;
static bool is_wanted;             /* atomic                                                      */
/* `is_wanted` was set since the last event: torch.nn may be there. Atomic. */
static bool is_due;
static bool is_attached, is_given_up;
static void *function;             /* nn.Module.__call__, kept */
static vv_python_vectorcall *former;
static _Thread_local struct vv_torch_nn *innermost; /* module whose call has not returned */

/* ---- the hot path: arguments[0] is the module ---- */

static void *call(void *self, void *const *arguments, size_t count, void *names)
{
    struct vv_torch_nn *module = NULL, *around = innermost;
    if (varve_layers() != 0 && (count & ~OFFSET_FLAG) != 0)
        module = vv_torch_nn_find(arguments[0], around);
    if (module == NULL)
        return former(self, arguments, count, names);
    vv_frame_begin(module->site);
    innermost = module;
    void *result = former(self, arguments, count, names);
    innermost = around;
    if (varve_layers() != 0)
        vv_frame_end();
    return result;
}

/* ---- attach ---- */

/* Finds the function's word, up to 3.11. NULL: the object is not as expected. */
static vv_python_vectorcall **old_word(void)
{
    intptr_t offset;
    vv_python_vectorcall *present;
    if (!vv_peek((const char *)python->python_function_type + TYPE_VECTORCALL_OFFSET, &offset,
                 sizeof offset) ||
        offset < 16 || offset > FUNCTION_BYTES_MAX || offset % 8 != 0)
        return NULL;
    char *word = (char *)function + offset;
    return vv_peek(word, &present, sizeof present) && present == python->plain_vectorcall
               ? (vv_python_vectorcall **)(void *)word : NULL;
}

static bool put(vv_python_vectorcall *wanted)
{
    static vv_python_vectorcall **word;
    if (python->set_vectorcall != NULL) {
        former = former == NULL ? python->vectorcall_of(function) : former;
        python->set_vectorcall(function, wanted != NULL ? wanted : former);
        return true;
    }
    former = python->plain_vectorcall;
    word = word == NULL ? old_word() : word;
    if (word != NULL)
        __atomic_store_n(word, wanted != NULL ? wanted : former, __ATOMIC_RELAXED);
    return word != NULL;
}

static bool has_lock(void)
{
    void *flags = python->sys_object("abiflags");
    const char *text = flags != NULL ? python->utf8(flags) : NULL;
    return text == NULL || strchr(text, 't') == NULL;
}

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

static const char *attach(void)
{
    void *type = python->type_of(function);
    bool is_function = type == python->python_function_type;
    python->drop(type);
    if (!is_function)
        return "nn.Module.__call__ is no Python function";
    if (!has_lock())
        return "a Python without the global lock";
    if (!vv_torch_nn_begin(python))
        return "no memory for their names";
    return put(call) ? NULL : "this Python's functions are not as known";
}

static void begin(void)
{
    if (function == NULL && (function = find_function()) == NULL)
        return;
    const char *failure = attach();
    is_attached = failure == NULL;
    is_given_up = !is_attached;
    vv_collector_note(NAME, is_attached ? VV_COLLECTOR_ATTACHED : VV_COLLECTOR_REFUSED,
                      is_attached ? "calls of nn.Module" : failure);
}

static void end(void)
{
    put(NULL);
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
