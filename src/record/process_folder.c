/* SPDX-License-Identifier: Apache-2.0 */
#include "record/process_folder.h"

#include "record/control/control.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"

bool vv_process_folder_ensure(void)
{
    const struct vv_session *session = &vv_session;
    if (!session->running)
        return false;
    if (!session->has_folder)
        return session->on_first_record();
    vv_control_note();
    vv_process_stream_count_homeless();
    return true;
}

void vv_process_folder_make(void)
{
    if (!vv_recorder_lock())
        return;
    (void)vv_process_folder_ensure();
    vv_recorder_unlock();
}
