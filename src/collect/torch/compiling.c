/* SPDX-License-Identifier: Apache-2.0 */
/* compiling.c — records the phases of compiling that PyTorch tells its own log of events.
 *
 * ChromiumEventLogger.log_event_start and log_event_end are called around each phase, whether or
 * not a profiler runs. They are redirected (python/redirect.h). PyTorch makes ranges of the same
 * phases itself where its profiler is on; up to 2.9 or so, always. Such ranges are not made twice:
 * compile_time_record_function is there only in a PyTorch that asks for the profiler first. */
#include "collect/torch/compiling.h"

#include <string.h>

#include "collect/python/redirect.h"
#include "collect/torch/names.h"
#include "record/stream/recorder.h"
#include "record/text_hash.h"
#include "varve/varve.h"

#define FILE_NAME "torch._dynamo.utils"
#define ARGUMENT 1 /* event_name, after self */
#define OPEN_MAX 64u
#define COUNT_BITS (~(UINT64_C(1) << 63)) /* without PY_VECTORCALL_ARGUMENTS_OFFSET */

static const struct vv_python_api *python;
static bool is_wanted; /* atomic                                                                  */
static bool is_due;    /* `is_wanted` was set since the last event. Atomic.                       */
static bool is_attached, is_given_up;
static struct vv_python_redirect starts, ends; /* log_event_start, log_event_end                  */

/* The phases of this thread that have not ended. */
static _Thread_local struct {
    uint32_t count;
    struct { uint32_t hash, epoch; } phases[OPEN_MAX];
} open;

/* ---- a phase ---- */

static bool is_profiler_on(void)
{
    void *imported = python->sys_object("modules");
    void *file =
        imported != NULL ? python->dict_item(imported, "torch.autograd.profiler") : NULL;
    void *dict = file != NULL ? python->attribute(file, "__dict__") : NULL;
    void *flag = dict != NULL ? python->dict_item(dict, "_is_profiler_enabled") : NULL;
    bool is_on = flag != NULL && python->integer(flag) != 0;
    python->drop(dict);
    python->clear_error();
    return is_on;
}

/* Returns the phase's name, in its object; NULL if there is none. */
static const char *name_of(void *const *arguments, size_t count)
{
    const char *name =
        (count & COUNT_BITS) > ARGUMENT ? python->utf8(arguments[ARGUMENT]) : NULL;
    if (name == NULL)
        python->clear_error();
    return name;
}

static uint32_t hash_of(const char *name)
{
    return vv_text_hash(name, (uint32_t)strlen(name), 0);
}

static bool begin_phase(const char *name)
{
    if (varve_layers() == 0 || open.count == OPEN_MAX || is_profiler_on())
        return false;
    varve_begin_name(name, vv_torch_layer(name, VARVE_LAYER_API));
    open.phases[open.count].hash = hash_of(name);
    open.phases[open.count++].epoch = vv_epoch();
    return true;
}

static void end_innermost(void)
{
    if (varve_layers() != 0 && open.phases[--open.count].epoch == vv_epoch())
        varve_end();
}

/* Ends the phase and those that are open within it, as PyTorch does. A phase whose begin was not
 * recorded has no end. */
static void end_phase(const char *name)
{
    const uint32_t hash = hash_of(name);
    uint32_t at = open.count;
    while (at > 0 && open.phases[at - 1].hash != hash)
        at--;
    while (at > 0 && open.count >= at)
        end_innermost();
}

static void *start(void *self, void *const *arguments, size_t count, void *names)
{
    const char *name = name_of(arguments, count);
    bool is_begun = name != NULL && begin_phase(name);
    void *result = starts.former(self, arguments, count, names);
    if (result == NULL && is_begun)
        end_phase(name);
    return result;
}

static void *end(void *self, void *const *arguments, size_t count, void *names)
{
    const char *name = name_of(arguments, count);
    if (name != NULL)
        end_phase(name);
    return ends.former(self, arguments, count, names);
}

/* ---- attach ---- */

static void *found_in(void *dict, const char *name)
{
    return dict != NULL ? python->dict_item(dict, name) : NULL;
}

/* False while the module or one of the two functions does not exist. */
static bool find_functions(void)
{
    void *file = found_in(python->sys_object("modules"), FILE_NAME);
    void *dict = file != NULL ? python->attribute(file, "__dict__") : NULL;
    void *class = found_in(dict, "compile_time_record_function") != NULL
                      ? found_in(dict, "ChromiumEventLogger") : NULL;
    starts.object = class != NULL ? python->attribute(class, "log_event_start") : NULL;
    ends.object = class != NULL ? python->attribute(class, "log_event_end") : NULL;
    python->drop(dict);
    if (starts.object != NULL && ends.object != NULL)
        return true;
    python->drop(starts.object);
    python->drop(ends.object);
    starts.object = ends.object = NULL;
    return false;
}

static void leave(void)
{
    vv_python_redirect_end(python, &starts);
    vv_python_redirect_end(python, &ends);
    is_attached = false;
}

static void attach(void)
{
    if (starts.object == NULL && !find_functions())
        return;
    is_attached = vv_python_redirect_begin(python, &starts, start) == NULL;
    if (is_attached && vv_python_redirect_begin(python, &ends, end) != NULL)
        leave();
    is_given_up = !is_attached;
}

void vv_torch_compiling_want(bool wants)
{
    __atomic_store_n(&is_wanted, wants, __ATOMIC_RELAXED);
    __atomic_store_n(&is_due, true, __ATOMIC_RELEASE);
}

bool vv_torch_compiling_hears(const char *event)
{
    return __atomic_load_n(&is_wanted, __ATOMIC_RELAXED) != is_attached && !is_given_up &&
           (__atomic_load_n(&is_due, __ATOMIC_ACQUIRE) || strcmp(event, "import") == 0);
}

void vv_torch_compiling_look(const struct vv_python_api *api)
{
    void *type, *value, *traceback;
    python = api;
    __atomic_store_n(&is_due, false, __ATOMIC_RELAXED);
    python->take_error(&type, &value, &traceback);
    (is_attached ? leave : attach)();
    python->clear_error();
    python->restore_error(type, value, traceback);
}
