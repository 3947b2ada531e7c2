/* SPDX-License-Identifier: Apache-2.0 */
/* python.c — an audit hook sees each import of a module, since a library that a collector waits for
 * may then be loaded. The hook cannot be removed. CPython calls the hook with the interpreter's
 * lock held, and the hook does very little.
 *
 * Calls are recorded from the first event that comes while no Python code runs, except the import
 * of the module site: then the program is about to run. Before that, the interpreter only starts
 * itself. */
#include "collect/python/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/process/wishes.h"
#include "collect/python/calls.h"
#include "collect/python/hook.h"
#include "collect/python/threads.h"
#include "record/source_note.h"

#define NAME "python"

static struct vv_python_api python;
static const struct vv_python_listener *listener;
static bool is_wanted;         /* calls are wanted; atomic                                      */
static bool is_late;           /* asked for when the interpreter ran already                    */
static bool is_whole;          /* `python` has all functions that it needs                      */
static enum { WAITING, TRACING, GIVEN_UP } state;

static void note_state(enum vv_collector_state is, const char *says)
{
    char text[VV_COLLECTOR_TEXT_BYTES_MAX];
    snprintf(text, sizeof text, "%s: %s", python.version, says);
    vv_collector_note(NAME, is, text);
}

static bool is_import_of_site(const char *event, void *arguments)
{
    if (strcmp(event, "import") != 0)
        return false;
    const char *module = python.utf8(python.tuple_item(arguments, 0));
    if (module == NULL)
        python.clear_error();
    return module != NULL && strcmp(module, "site") == 0;
}

static void begin(void)
{
    char says[VV_PYTHON_SAYS_BYTES];
    void *type, *value, *traceback;
    const char *depth = getenv("VARVE_PYTHON_DEPTH");
    unsigned long most = depth != NULL ? strtoul(depth, NULL, 10) : 0;
    vv_python_depth_max = most > 0 && most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
    state = GIVEN_UP; /* what follows causes events, too */
    python.take_error(&type, &value, &traceback);
    bool is_begun = python.minor < 12 ? vv_python_profile_begin(&python, says)
                                      : vv_python_monitoring_begin(&python, says);
    python.restore_error(type, value, traceback);
    state = is_begun ? TRACING : GIVEN_UP;
    note_state(is_begun ? VV_COLLECTOR_ATTACHED : VV_COLLECTOR_REFUSED, says);
}

/* Ends the calls that this thread has open. Up to 3.11 other threads end theirs at their next
 * event; from 3.12 on theirs stay open. */
static void end(void)
{
    void *type, *value, *traceback;
    state = WAITING;
    python.take_error(&type, &value, &traceback);
    (python.minor < 12 ? vv_python_profile_end : vv_python_monitoring_end)();
    python.clear_error();
    python.restore_error(type, value, traceback);
    vv_python_leave_all();
    note_state(VV_COLLECTOR_OFF, "calls not traced any more");
}

/* Does this thread have the lock of the main interpreter, and is all of `python` known? */
static bool is_within(void)
{
    return is_whole && python.is_initialized() && python.thread_state() != NULL &&
           python.interpreter() == python.main_interpreter();
}

static void hear_of_calls(const char *event, void *arguments, bool wanted)
{
    const char *news;
    if (state == TRACING && !wanted)
        end();
    else if (state == TRACING && python.minor < 12 &&
             (news = vv_python_profile_hear(event)) != NULL)
        note_state(VV_COLLECTOR_PARTLY, news);
    else if (state == WAITING && wanted &&
             (is_late || (python.current_frame() == NULL && !is_import_of_site(event, arguments))))
        begin();
}

static int hear(const char *event, void *arguments, void *nothing)
{
    (void)nothing;
    if (listener != NULL && strcmp(event, "import") == 0)
        listener->imported();
    bool wanted = __atomic_load_n(&is_wanted, __ATOMIC_ACQUIRE);
    if ((wanted ? state != GIVEN_UP : state == TRACING) && is_within())
        hear_of_calls(event, arguments, wanted);
    if (vv_python_thread_hears(event) && is_within())
        vv_python_thread_look(&python);
    if (listener != NULL && listener->hears(event) && is_within())
        listener->heard(event, &python);
    vv_python_hook_hear(event);
    return 0;
}

/* Finds CPython and adds the hook, once. */
static void attach(void)
{
    static bool is_known;
    const char *why;
    if (is_known)
        return;
    enum vv_python_found found = vv_python_api_find(&python, &why);
    is_known = found != VV_PYTHON_NONE;
    is_whole = found == VV_PYTHON_WHOLE;
    if (found == VV_PYTHON_UNKNOWN) {
        state = GIVEN_UP;
        note_state(VV_COLLECTOR_REFUSED, why);
    } else if (found == VV_PYTHON_WHOLE && !vv_wishes_have(NAME)) {
        note_state(VV_COLLECTOR_OFF, "calls not traced: --collect +python");
    }
    if (python.add_hook != NULL)
        vv_python_hook_add(&python, hear);
}

void vv_python_listen(const struct vv_python_listener *who)
{
    listener = who;
}

void vv_python_look(void)
{
    attach();
    is_late = python.is_initialized != NULL && python.is_initialized();
    __atomic_store_n(&is_wanted, vv_wishes_have(NAME), __ATOMIC_RELEASE);
}

void vv_python_leave(void)
{
    __atomic_store_n(&is_wanted, false, __ATOMIC_RELEASE);
}
