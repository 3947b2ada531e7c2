/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c — records calls up to 3.11 with the profile function, which each thread has for itself.
 * The program has priority: if it sets a profile function in a thread, Varve leaves this thread for
 * good.
 *
 * A new thread of the module threading is reached through threading's profile hook, which runs
 * before the thread's own function. Varve sets this hook only if the program has set none. A thread
 * that threading did not make is reached at its first audit event. */
#include <stdio.h>
#include <string.h>

#include "collect/process/wishes.h"
#include "collect/python/calls.h"

enum what { CALL = 0, RETURN = 3, C_CALL = 4, C_EXCEPTION = 5, C_RETURN = 6 };

static _Thread_local struct {
    /* Of the thread state; a thread may have several states, one after the other. 0 = none. */
    uint64_t id;
    bool is_ours;
} mine;

static bool is_setting;     /* Varve itself causes the event sys.setprofile now                 */
static bool is_ended;       /* set by vv_python_profile_end: threads then leave                 */
static bool with_builtins;
static void *start_new_thread; /* the function of the module _thread                            */
static bool is_yielded_said;
static bool is_prepared;    /* threading has the greeting, or a hook of the program              */
static bool is_watched;     /* new threads are left alone: the program has an audit hook         */
static void *greeting;

static bool set(void *thread_state, vv_python_profile *function)
{
    is_setting = true;
    bool is_set = vv_python.set_profile(thread_state, function, NULL) == 0;
    is_setting = false;
    return is_set;
}

/* ---- threads ---- */

static vv_python_profile profile;

static int leave_thread(void)
{
    set(vv_python.thread_state(), NULL);
    vv_python_leave_all();
    mine.id = 0;
    return 0;
}

static bool take_thread(void)
{
    void *thread_state = vv_python.thread_state();
    bool is_set = set(thread_state, profile);
    if (!is_set)
        vv_python.clear_error(); /* an audit hook of the program forbids it */
    mine.id = vv_python.thread_id(thread_state);
    mine.is_ours = is_set;
    vv_python_depth = 0;
    return is_set;
}

/* The function in threading's profile hook. A new thread calls it as its first profile function,
 * for its first event. */
static void *greet_thread(void *self, void *const *arguments, intptr_t count)
{
    (void)self;
    (void)arguments;
    (void)count;
    if (!is_ended)
        take_thread();
    vv_python.keep(vv_python.none);
    return vv_python.none;
}

/* Returns the module if it is imported; if not, NULL. */
static void *module_of(const char *name)
{
    void *text = vv_python.text_of(name), *module = text != NULL ? vv_python.module(text) : NULL;
    vv_python.drop(text);
    return module;
}

static void set_hook(void *threading)
{
    static struct vv_python_method method = { "varve", greet_thread, VV_PYTHON_FAST_CALL, NULL };
    void *present = vv_python.attribute(threading, "_profile_hook");
    if (present == vv_python.none && greeting == NULL)
        greeting = vv_python.new_function(&method, NULL, NULL);
    if (present == vv_python.none && greeting != NULL)
        vv_python.set_attribute(threading, "_profile_hook", greeting);
    vv_python.drop(present);
}

/* Called before a thread is made. */
static void prepare_thread(void)
{
    void *type, *value, *traceback;
    if (is_prepared || is_watched)
        return;
    vv_python.take_error(&type, &value, &traceback);
    void *threading = module_of("threading");
    if (threading != NULL) {
        is_prepared = true;
        set_hook(threading);
    }
    vv_python.drop(threading);
    vv_python.clear_error();
    vv_python.restore_error(type, value, traceback);
}

/* ---- the hot path ---- */

static bool is_left_out(void *frame)
{
    void *code = vv_python.frame_code(frame);
    bool left_out = vv_python_code_of(code)->is_left_out;
    vv_python.drop(code);
    return left_out;
}

static void call(void *frame)
{
    void *code = vv_python.frame_code(frame);
    struct vv_python_code *known = vv_python_code_of(code);
    vv_python.drop(code); /* the frame holds it */
    if (!known->is_left_out)
        vv_python_enter_call(&known->site);
}

static void call_builtin(void *frame, void *callable)
{
    struct varve_site *site;
    if ((!vv_python_any_left_out() || !is_left_out(frame)) &&
        (site = vv_python_builtin(callable)) != NULL)
        vv_python_enter_call(site);
}

/* RETURN also comes for a yield, and for a function that is left by an exception. */
static int profile(void *self, void *frame, int what, void *argument)
{
    (void)self;
    if (VARVE_UNLIKELY(is_ended))
        return leave_thread();
    switch ((enum what)what) {
    case CALL:
        call(frame);
        break;
    case RETURN:
        if (!vv_python_any_left_out() || !is_left_out(frame))
            vv_python_leave_call();
        break;
    case C_CALL:
        if (VARVE_UNLIKELY(argument == start_new_thread))
            prepare_thread();
        if (with_builtins)
            call_builtin(frame, argument);
        break;
    case C_RETURN:
    case C_EXCEPTION:
        if (with_builtins && (!vv_python_any_left_out() || !is_left_out(frame)) &&
            vv_python_builtin(argument) != NULL)
            vv_python_leave_call();
        break;
    }
    return 0;
}

/* From now on the program sees audit events and may forbid them. So Varve causes no more: it takes
 * its hook out of threading and leaves new threads alone. */
static const char *leave_threads(void)
{
    void *type, *value, *traceback;
    vv_python.take_error(&type, &value, &traceback);
    void *threading = is_prepared ? module_of("threading") : NULL;
    void *hook = threading != NULL ? vv_python.attribute(threading, "_profile_hook") : NULL;
    if (hook != NULL && hook == greeting)
        vv_python.set_attribute(threading, "_profile_hook", vv_python.none);
    vv_python.drop(hook);
    vv_python.drop(threading);
    vv_python.clear_error();
    vv_python.restore_error(type, value, traceback);
    const char *news =
        is_watched ? NULL : "calls, but not in threads begun after the program set an audit hook";
    is_watched = true;
    return news;
}

const char *vv_python_profile_hear(const char *event)
{
    if (is_setting)
        return NULL;
    const bool is_known = mine.id == vv_python.thread_id(vv_python.thread_state());
    if (strcmp(event, "sys.addaudithook") == 0)
        return leave_threads();
    if (strcmp(event, "sys.setprofile") == 0) {
        bool is_news = is_known && mine.is_ours && !is_yielded_said;
        mine.id = vv_python.thread_id(vv_python.thread_state());
        vv_python_leave_all();
        mine.is_ours = false;
        is_yielded_said = is_yielded_said || is_news;
        return is_news ? "calls, until the program set a profile function of its own" : NULL;
    }
    if (!is_known && !is_watched)
        take_thread();
    return NULL;
}

/* ---- begin ---- */

static bool is_free(void)
{
    void *sys = module_of("sys"),
         *present = sys != NULL ? vv_python.call_method(sys, "getprofile", NULL) : NULL;
    bool is_none = present == vv_python.none;
    vv_python.drop(present);
    vv_python.drop(sys);
    return is_none;
}

static void find_start_of_threads(void)
{
    void *threads = module_of("_thread");
    start_new_thread = threads != NULL ? vv_python.attribute(threads, "start_new_thread") : NULL;
    vv_python.drop(threads);
    vv_python.clear_error();
}

bool vv_python_profile_begin(const struct vv_python_api *api, char out_says[VV_PYTHON_SAYS_BYTES])
{
    is_ended = false;
    if (!vv_python_code_begin(api)) {
        snprintf(out_says, VV_PYTHON_SAYS_BYTES,
                 "calls not traced: code objects have no free slot");
        return false;
    }
    with_builtins = vv_wishes_have("builtins") && vv_python_builtin_begin();
    find_start_of_threads();
    if (!is_free() || !take_thread()) {
        vv_python.clear_error();
        snprintf(out_says, VV_PYTHON_SAYS_BYTES,
                 "calls not traced: the program has a profile function");
        return false;
    }
    snprintf(out_says, VV_PYTHON_SAYS_BYTES, "calls of %sfunctions, by the profile function",
             with_builtins ? "Python and built-in " : "Python ");
    return true;
}

void vv_python_profile_end(void)
{
    is_ended = true;
    if (mine.is_ours && mine.id == vv_python.thread_id(vv_python.thread_state()))
        leave_thread();
}
