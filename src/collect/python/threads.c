/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c — at an audit event of a thread, `threading._active` has the thread's object, which
 * holds the name and the kernel's number. They are taken from the dicts of the module and of the
 * object: nothing is imported, and no property of a class is asked. */
#include "collect/python/threads.h"

#include <string.h>

#include "record/stream/birth.h"
#include "record/stream/recorder.h"

#define LOOKS_MAX 16 /* at so many events of a thread; its object is there from the first one on,
                        unless C code made the thread */

static _Thread_local unsigned looks;

bool vv_python_thread_is_new(void)
{
    return looks < LOOKS_MAX && varve_layers() != 0;
}

static void *plain(const struct vv_python_api *api, void *object, const char *name)
{
    void *text = api->text_of(name);
    void *value = text != NULL ? api->plain_attribute(object, text) : NULL;
    api->drop(text);
    return value;
}

/* The name of the main thread says less than that of its program. */
static bool take_name(const struct vv_python_api *api, void *thread)
{
    void *dict = plain(api, thread, "__dict__");
    void *number = dict != NULL ? api->dict_item(dict, "_native_id") : NULL,
         *text = dict != NULL ? api->dict_item(dict, "_name") : NULL;
    bool is_own = number != NULL && text != NULL && number != api->none &&
                  api->integer(number) == (long)vv_birth_tid();
    const char *name = is_own ? api->utf8(text) : NULL;
    if (name != NULL && name[0] != '\0' && strcmp(name, "MainThread") != 0 &&
        vv_self.name_id == 0)
        varve_thread_name(name);
    api->drop(dict);
    return is_own;
}

static void find_own(const struct vv_python_api *api)
{
    void *name = api->text_of("threading"), *key, *thread;
    void *module = name != NULL ? api->module(name) : NULL;
    void *dict = module != NULL ? plain(api, module, "__dict__") : NULL;
    void *active = dict != NULL ? api->dict_item(dict, "_active") : NULL;
    intptr_t place = 0;
    while (active != NULL && api->dict_next(active, &place, &key, &thread))
        if (take_name(api, thread)) {
            looks = LOOKS_MAX;
            break;
        }
    api->drop(dict);
    api->drop(module);
    api->drop(name);
}

void vv_python_thread_look(const struct vv_python_api *api)
{
    static bool is_looking; /* what follows may cause events, too; the lock is held            */
    void *type, *value, *traceback;
    if (is_looking)
        return;
    is_looking = true;
    looks++;
    api->take_error(&type, &value, &traceback);
    find_own(api);
    api->clear_error();
    api->restore_error(type, value, traceback);
    is_looking = false;
}
