/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c — the object of a thread in `threading` holds its name and the kernel's number. Both
 * are taken from the object's dict: nothing is imported, and no property of a class is asked.
 *
 * Two functions are redirected (python/redirect.h). A new thread runs Thread._bootstrap, which
 * begins and ends with the thread. The setter of Thread.name hears of later names. Both are called
 * by functions of C. A thread that was there before, or gets its name from another thread, is
 * looked up among the living ones (`threading._active`) at its next audit events. */
#include "collect/python/threads.h"

#include <string.h>

#include "collect/python/redirect.h"
#include "record/stream/birth.h"
#include "record/stream/recorder.h"
#include "record/thread.h"

#define LOOKS_MAX 16 /* at so many events of a thread; its object is there from the first one on,
                        unless C code made the thread */
#define COUNT_BITS (~(UINT64_C(1) << 63)) /* without PY_VECTORCALL_ARGUMENTS_OFFSET */

static const struct vv_python_api *python;
static struct vv_python_redirect bootstrap, setter;
static bool is_redirected; /* or cannot be */
static unsigned renames;   /* names that a thread got from another one; atomic */
static _Thread_local unsigned looks, renames_seen;

bool vv_python_thread_hears(const char *event)
{
    if (!is_redirected &&
        (strcmp(event, "import") == 0 || strncmp(event, "_thread.start", 13) == 0))
        return true;
    return varve_layers() != 0 &&
           (looks < LOOKS_MAX || renames_seen != __atomic_load_n(&renames, __ATOMIC_RELAXED));
}

static void *plain(void *object, const char *name)
{
    void *text = python->text_of(name);
    void *value = text != NULL ? python->plain_attribute(object, text) : NULL;
    python->drop(text);
    return value;
}

static bool is_own(void *dict)
{
    void *number = python->dict_item(dict, "_native_id");
    return number != NULL && number != python->none &&
           python->integer(number) == (long)vv_birth_tid();
}

/* The name of the main thread says less than that of its program. */
static void take_name(void *dict)
{
    void *text = python->dict_item(dict, "_name");
    const char *name = text != NULL ? python->utf8(text) : NULL;
    if (name != NULL && name[0] != '\0' && strcmp(name, "MainThread") != 0)
        vv_thread_name_given(name);
}

/* ---- the redirected functions; arguments[0] is the thread's object ---- */

/* `is_new`: the calling thread runs the object. An exception that is set stays set. */
static void hear_of(void *thread, bool is_new)
{
    void *type, *value, *traceback;
    python->take_error(&type, &value, &traceback);
    void *dict = plain(thread, "__dict__");
    if (dict != NULL && (is_new || is_own(dict)))
        take_name(dict);
    else
        __atomic_fetch_add(&renames, 1, __ATOMIC_RELAXED);
    python->drop(dict);
    python->clear_error();
    python->restore_error(type, value, traceback);
}

static void *run(void *self, void *const *arguments, size_t count, void *names)
{
    const bool has_thread = (count & COUNT_BITS) != 0;
    if (has_thread)
        hear_of(arguments[0], true);
    void *result = bootstrap.former(self, arguments, count, names);
    if (has_thread)
        hear_of(arguments[0], true);
    return result;
}

static void *set_name(void *self, void *const *arguments, size_t count, void *names)
{
    void *result = setter.former(self, arguments, count, names);
    if ((count & COUNT_BITS) != 0)
        hear_of(arguments[0], false);
    return result;
}

static void redirect(void *module_dict)
{
    void *class = python->dict_item(module_dict, "Thread");
    void *dict = class != NULL ? plain(class, "__dict__") : NULL;
    if (dict == NULL)
        return;
    is_redirected = true;
    void *name = python->call_method(dict, "get", "s", "name");
    bootstrap.object = python->call_method(dict, "get", "s", "_bootstrap");
    setter.object = name != NULL ? plain(name, "fset") : NULL;
    if (bootstrap.object != NULL && vv_python_redirect_begin(python, &bootstrap, run) != NULL)
        python->drop(bootstrap.object);
    if (setter.object != NULL && vv_python_redirect_begin(python, &setter, set_name) != NULL)
        python->drop(setter.object);
    python->drop(name);
    python->drop(dict);
}

/* ---- at an audit event ---- */

static void find_own(void *module_dict)
{
    void *active = python->dict_item(module_dict, "_active"), *key, *thread;
    intptr_t place = 0;
    bool is_found = false;
    while (!is_found && active != NULL && python->dict_next(active, &place, &key, &thread)) {
        void *dict = plain(thread, "__dict__");
        is_found = dict != NULL && is_own(dict);
        if (is_found)
            take_name(dict);
        python->drop(dict);
    }
    if (is_found)
        looks = LOOKS_MAX;
}

static void look(void)
{
    void *name = python->text_of("threading");
    void *module = name != NULL ? python->module(name) : NULL;
    void *dict = module != NULL ? plain(module, "__dict__") : NULL;
    if (dict != NULL && !is_redirected)
        redirect(dict);
    if (dict != NULL && varve_layers() != 0) {
        looks += looks < LOOKS_MAX;
        find_own(dict);
    }
    python->drop(dict);
    python->drop(module);
    python->drop(name);
}

void vv_python_thread_look(const struct vv_python_api *api)
{
    static bool is_looking; /* what follows may cause events, too; the lock is held            */
    void *type, *value, *traceback;
    if (is_looking)
        return;
    is_looking = true;
    python = api;
    renames_seen = __atomic_load_n(&renames, __ATOMIC_RELAXED);
    python->take_error(&type, &value, &traceback);
    look();
    python->clear_error();
    python->restore_error(type, value, traceback);
    is_looking = false;
}
