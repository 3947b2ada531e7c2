/* SPDX-License-Identifier: Apache-2.0 */
/* name.c — names that a program gives to its threads and to itself; and the library's own
 * version. */
#include <string.h>

#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"
#include "record/string.h"
#include "record/text_hash.h"
#include "record/thread.h"

VARVE_API void varve_thread_name(const char *name)
{
    if (name == NULL || varve_layers() == 0 || !vv_recorder_lock())
        return;
    uint32_t id = vv_string_id(name);
    if (id != 0)
        vv_thread_named(id);
    else
        vv_thread_discard(&vv_self, 1);
    vv_recorder_unlock();
}

void vv_thread_name_given(const char *name)
{
    struct vv_self *self = &vv_self;
    if (self->name_id != self->given_id)
        return;
    if (self->thread == NULL) {
        self->name_id = self->given_id = 0;
        uint32_t length = vv_text_cut(name, sizeof self->given - 1);
        memcpy(self->given, name, length);
        self->given[length] = '\0';
    }
    if (self->thread == NULL || varve_layers() == 0 || !vv_recorder_lock())
        return;
    uint32_t id = vv_string_id(name);
    if (id != 0 && id != self->given_id) {
        vv_thread_named(id);
        self->given_id = id;
    }
    vv_recorder_unlock();
}

VARVE_API void varve_process_name(const char *name)
{
    if (name == NULL || varve_layers() == 0 || !vv_recorder_lock())
        return;
    const uint64_t record[] = { VV_EVENT_PROCESS, vv_string_id(name) };
    if (record[1] == 0 || !vv_process_stream_put(record, 2))
        vv_thread_discard(&vv_self, 1);
    vv_recorder_unlock();
}

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

VARVE_API const char *varve_version(void)
{
    return TEXT(VARVE_VERSION_MAJOR) "." TEXT(VARVE_VERSION_MINOR) "." TEXT(VARVE_VERSION_PATCH);
}
