/* SPDX-License-Identifier: Apache-2.0 */
/* monitoring.c — records calls from 3.12 on with sys.monitoring, in all threads. Varve is a tool of
 * its own there, beside debuggers and profilers. For code that is left out, a callback returns
 * DISABLE once; then that place of the code causes no more events. */
#include <stdio.h>

#include "collect/process/wishes.h"
#include "collect/python/calls.h"

static void *disable; /* sys.monitoring.DISABLE */
static int tool;      /* Varve's tool number                                                      */

static void *keep_and_return(void *object)
{
    vv_python.keep(object);
    return object;
}

/* ---- the hot path: arguments[0] is the code object; a resumption is a call, a yield a return
 * ---- */

static void *on_start(void *self, void *const *arguments, intptr_t count)
{
    (void)self;
    (void)count;
    struct vv_python_code *known = vv_python_code_of(arguments[0]);
    if (VARVE_UNLIKELY(known->is_left_out))
        return keep_and_return(disable);
    vv_python_enter_call(&known->site);
    return keep_and_return(vv_python.none);
}

static void *on_end(void *self, void *const *arguments, intptr_t count)
{
    (void)self;
    (void)count;
    if (VARVE_UNLIKELY(vv_python_any_left_out()) && vv_python_code_of(arguments[0])->is_left_out)
        return keep_and_return(disable);
    vv_python_leave_call();
    return keep_and_return(vv_python.none);
}

/* These two events cannot be disabled. */
static void *on_throw(void *self, void *const *arguments, intptr_t count)
{
    (void)self;
    (void)count;
    struct vv_python_code *known = vv_python_code_of(arguments[0]);
    if (!known->is_left_out)
        vv_python_enter_call(&known->site);
    return keep_and_return(vv_python.none);
}

static void *on_unwind(void *self, void *const *arguments, intptr_t count)
{
    (void)self;
    (void)count;
    if (!vv_python_any_left_out() || !vv_python_code_of(arguments[0])->is_left_out)
        vv_python_leave_call();
    return keep_and_return(vv_python.none);
}

/* The arguments are code, offset, callable, first argument. The event comes for every callable;
 * only functions of C are recorded, and on_call_end tests for them in the same way. */
static void *on_call(void *self, void *const *arguments, intptr_t count)
{
    (void)self;
    if (VARVE_UNLIKELY(vv_python_any_left_out()) && vv_python_code_of(arguments[0])->is_left_out)
        return keep_and_return(disable);
    struct varve_site *site = count > 2 ? vv_python_builtin(arguments[2]) : NULL;
    if (site != NULL)
        vv_python_enter_call(site);
    return keep_and_return(vv_python.none);
}

static void *on_call_end(void *self, void *const *arguments, intptr_t count)
{
    (void)self;
    if (count > 2 && vv_python_builtin(arguments[2]) != NULL &&
        (!vv_python_any_left_out() || !vv_python_code_of(arguments[0])->is_left_out))
        vv_python_leave_call();
    return keep_and_return(vv_python.none);
}

/* ---- begin ---- */

static struct way {
    const char *event;
    struct vv_python_method method;
    bool of_builtins;
    bool is_asked; /* false for C_RETURN and C_RAISE: they come with CALL                       */
} ways[] = {
    { "PY_START", { "varve", on_start, VV_PYTHON_FAST_CALL, NULL }, false, true },
    { "PY_RESUME", { "varve", on_start, VV_PYTHON_FAST_CALL, NULL }, false, true },
    { "PY_THROW", { "varve", on_throw, VV_PYTHON_FAST_CALL, NULL }, false, true },
    { "PY_RETURN", { "varve", on_end, VV_PYTHON_FAST_CALL, NULL }, false, true },
    { "PY_YIELD", { "varve", on_end, VV_PYTHON_FAST_CALL, NULL }, false, true },
    { "PY_UNWIND", { "varve", on_unwind, VV_PYTHON_FAST_CALL, NULL }, false, true },
    { "CALL", { "varve", on_call, VV_PYTHON_FAST_CALL, NULL }, true, true },
    { "C_RETURN", { "varve", on_call_end, VV_PYTHON_FAST_CALL, NULL }, true, false },
    { "C_RAISE", { "varve", on_call_end, VV_PYTHON_FAST_CALL, NULL }, true, false },
};

/* Takes a tool number that is not reserved: 0 is for debuggers, 1 for coverage, 2 for profilers, 5
 * for optimizers. Returns 0 if all are taken. */
static int take_tool(void *monitoring)
{
    for (int number = 3; number <= 4; number++) {
        void *done = vv_python.call_method(monitoring, "use_tool_id", "is", number, "varve");
        vv_python.drop(done);
        if (done != NULL)
            return number;
        vv_python.clear_error();
    }
    return 0;
}

/* Registers the callback. Returns the event's bit; 0 on failure. */
static long register_way(void *monitoring, struct way *way)
{
    void *events = vv_python.attribute(monitoring, "events");
    void *number = events != NULL ? vv_python.attribute(events, way->event) : NULL;
    long bit = number != NULL ? vv_python.integer(number) : 0;
    void *function = bit > 0 ? vv_python.new_function(&way->method, NULL, NULL) : NULL;
    void *former = function != NULL ? vv_python.call_method(monitoring, "register_callback", "ilO",
                                                            tool, bit, function)
                                    : NULL;
    bool is_done = former != NULL;
    vv_python.drop(former);
    vv_python.drop(function);
    vv_python.drop(number);
    vv_python.drop(events);
    return is_done ? bit : 0;
}

static bool arm(void *monitoring, bool with_builtins)
{
    long asked = 0;
    disable = vv_python.attribute(monitoring, "DISABLE");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (ways[i].of_builtins && !with_builtins)
            continue;
        long bit = register_way(monitoring, &ways[i]);
        if (bit == 0)
            return false;
        asked |= ways[i].is_asked ? bit : 0;
    }
    void *done =
        disable != NULL ? vv_python.call_method(monitoring, "set_events", "il", tool, asked) : NULL;
    vv_python.drop(done);
    return done != NULL;
}

void vv_python_monitoring_end(void)
{
    void *monitoring = vv_python.sys_object("monitoring");
    vv_python.clear_error();
    if (monitoring == NULL)
        return;
    vv_python.drop(vv_python.call_method(monitoring, "set_events", "ii", tool, 0));
    vv_python.clear_error();
    vv_python.drop(vv_python.call_method(monitoring, "free_tool_id", "i", tool));
}

static const char *begin(const struct vv_python_api *api, bool *out_builtins)
{
    if (!vv_python_code_begin(api))
        return "code objects have no free slot";
    void *monitoring = vv_python.sys_object("monitoring");
    tool = monitoring != NULL ? take_tool(monitoring) : 0;
    if (tool == 0)
        return "other tools have taken 3 and 4 of sys.monitoring";
    *out_builtins = vv_wishes_have("builtins") && vv_python_builtin_begin();
    if (arm(monitoring, *out_builtins))
        return NULL;
    vv_python_monitoring_end();
    return "sys.monitoring takes none of our functions";
}

bool vv_python_monitoring_begin(const struct vv_python_api *api,
                                char out_says[VV_PYTHON_SAYS_BYTES])
{
    bool with_builtins = false;
    const char *failure = begin(api, &with_builtins);
    if (failure != NULL) {
        api->clear_error();
        snprintf(out_says, VV_PYTHON_SAYS_BYTES, "calls not traced: %s", failure);
        return false;
    }
    snprintf(out_says, VV_PYTHON_SAYS_BYTES, "calls of %sfunctions, by sys.monitoring",
             with_builtins ? "Python and built-in " : "Python ");
    return true;
}
