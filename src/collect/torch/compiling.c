/* SPDX-License-Identifier: Apache-2.0 */
/* compiling.c — records the phases of compiling that PyTorch tells its own log of events, and each
 * call of a graph that inductor has compiled.
 *
 * ChromiumEventLogger.log_event_start and log_event_end are called around each phase, whether or
 * not a profiler runs. They are redirected (python/redirect.h). PyTorch makes ranges of the same
 * phases itself where its profiler is on; up to 2.9 or so, always. Such ranges are not made twice:
 * compile_time_record_function is there only in a PyTorch that asks for the profiler first.
 * CompiledFxGraph.__call__ is redirected, too; its range has the name that PyTorch gives it. */
#include "collect/torch/compiling.h"

#include <stdio.h>
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

/* The functions of a class that are redirected, all or none of them. */
enum { STARTS, ENDS, GRAPH_CALLS, FUNCTIONS };
static vv_python_vectorcall start, end, call_graph;
static struct {
    const char *name;
    vv_python_vectorcall *to;
    struct vv_python_redirect of;
} functions[FUNCTIONS] = {
    [STARTS] = { "log_event_start", start, { 0 } },
    [ENDS] = { "log_event_end", end, { 0 } },
    [GRAPH_CALLS] = { "__call__", call_graph, { 0 } },
};
static struct source {
    const char *file, *class;
    int first, end;
    bool is_attached, is_given_up;
} sources[] = {
    { FILE_NAME, "ChromiumEventLogger", STARTS, ENDS + 1, false, false },
    { "torch._inductor.output_code", "CompiledFxGraph", GRAPH_CALLS, FUNCTIONS, false, false },
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* The phases and graphs of this thread that have not ended. */
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
    void *result = functions[STARTS].of.former(self, arguments, count, names);
    if (result == NULL && is_begun)
        end_phase(name);
    return result;
}

static void *end(void *self, void *const *arguments, size_t count, void *names)
{
    const char *name = name_of(arguments, count);
    if (name != NULL)
        end_phase(name);
    return functions[ENDS].of.former(self, arguments, count, names);
}

/* Names the call of a graph as PyTorch does. */
static void name_graph(void *graph, char *name, size_t bytes)
{
    void *key = python->attribute(graph, "_fx_graph_cache_key");
    const char *text = key != NULL ? python->utf8(key) : NULL;
    snprintf(name, bytes, "## Call CompiledFxGraph %s ##", text != NULL ? text : "None");
    python->drop(key);
    python->clear_error();
}

static void *call_graph(void *self, void *const *arguments, size_t count, void *names)
{
    char name[160];
    bool is_begun = false;
    if (varve_layers() != 0 && (count & COUNT_BITS) > 0) {
        name_graph(arguments[0], name, sizeof name);
        is_begun = begin_phase(name);
    }
    void *result = functions[GRAPH_CALLS].of.former(self, arguments, count, names);
    if (is_begun)
        end_phase(name);
    return result;
}

/* ---- attach ---- */

/* What a module that the program has imported calls so, or NULL. Borrowed from the module. */
static void *found_in(const char *file, const char *name)
{
    void *module = python->dict_item(python->sys_object("modules"), file);
    void *dict = module != NULL ? python->attribute(module, "__dict__") : NULL;
    void *found = dict != NULL ? python->dict_item(dict, name) : NULL;
    python->drop(dict);
    return found;
}

/* False while the module or one of the functions does not exist. */
static bool find_functions(const struct source *source)
{
    bool is_whole = true;
    void *class = found_in(FILE_NAME, "compile_time_record_function") != NULL
                      ? found_in(source->file, source->class) : NULL;
    for (int f = source->first; class != NULL && f < source->end; f++) {
        functions[f].of.object = python->attribute(class, functions[f].name);
        is_whole = is_whole && functions[f].of.object != NULL;
    }
    for (int f = source->first; !is_whole && f < source->end; f++) {
        python->drop(functions[f].of.object);
        functions[f].of.object = NULL;
    }
    return class != NULL && is_whole;
}

static void leave(struct source *source)
{
    for (int f = source->first; f < source->end; f++)
        if (functions[f].of.former != NULL)
            vv_python_redirect_end(python, &functions[f].of);
    source->is_attached = false;
}

static void attach(struct source *source)
{
    if (functions[source->first].of.object == NULL && !find_functions(source))
        return;
    source->is_attached = true;
    for (int f = source->first; source->is_attached && f < source->end; f++)
        if (vv_python_redirect_begin(python, &functions[f].of, functions[f].to) != NULL)
            leave(source);
    source->is_given_up = !source->is_attached;
}

void vv_torch_compiling_want(bool wants)
{
    __atomic_store_n(&is_wanted, wants, __ATOMIC_RELAXED);
    __atomic_store_n(&is_due, true, __ATOMIC_RELEASE);
}

static bool must_change(const struct source *source)
{
    return __atomic_load_n(&is_wanted, __ATOMIC_RELAXED) != source->is_attached &&
           !source->is_given_up;
}

bool vv_torch_compiling_hears(const char *event)
{
    bool must = false;
    for (int i = 0; i < SOURCES; i++)
        must = must || must_change(&sources[i]);
    return must && (__atomic_load_n(&is_due, __ATOMIC_ACQUIRE) || strcmp(event, "import") == 0);
}

void vv_torch_compiling_look(const struct vv_python_api *api)
{
    void *type, *value, *traceback;
    python = api;
    __atomic_store_n(&is_due, false, __ATOMIC_RELAXED);
    python->take_error(&type, &value, &traceback);
    for (int i = 0; i < SOURCES; i++)
        if (must_change(&sources[i]))
            (sources[i].is_attached ? leave : attach)(&sources[i]);
    python->clear_error();
    python->restore_error(type, value, traceback);
}
