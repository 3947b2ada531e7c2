/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/folder.h"

#include <errno.h>
#include <stdio.h>

#include "record/control/control.h"
#include "record/counts.h"
#include "record/lost.h"
#include "record/options/options.h"
#include "record/process_clock.h"
#include "record/sigbus.h"
#include "record/site.h"
#include "record/source_note.h"
#include "record/stream/copier.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"

/* A dump may be reading the former path (dump.c). If it sees a byte of the new path, it also sees
 * the new serial. */
static void set_folder(const struct vv_own_folder *folder)
{
    size_t at = 0;
    vv_session.folder.id = folder->id;
    vv_session.folder.is_shared = folder->is_shared;
    do {
        __atomic_store_n(&vv_session.folder.path[at], folder->path[at], __ATOMIC_RELEASE);
    } while (folder->path[at++] != '\0');
}

/* *name is set even on failure. */
static int make_process_folder(char *name, size_t capacity)
{
    static struct vv_own_folder folder; /* static, under the lock: stacks may be small */
    struct vv_own_folder *output = &vv_session.output;
    int failure = output->id.inode != 0
                      ? 0
                      : vv_own_folder_know(output->path, output->is_shared, output, NULL);
    *name = '\0';
    if (failure != 0)
        return failure;
    failure = EEXIST;
    for (unsigned again = 0; failure == EEXIST && again < 100000; again++) {
        snprintf(name, capacity, again == 0 ? "%d" : "%d.%u", (int)vv_birth_pid(), again);
        failure = vv_own_folder_make(output, name, &folder);
    }
    if (failure == 0)
        set_folder(&folder);
    return failure;
}

static int fill_folder(void)
{
    struct vv_session *session = &vv_session;
    if (session->record_cost_ps == 0)
        session->record_cost_ps = vv_range_cost_ps();
    vv_process_clock_begin();
    int failure = vv_metadata_write();
    if (failure != 0)
        return failure;
    const struct vv_stream_identity identity = { &session->folder, "process", 0, 0 };
    failure = vv_stream_open(&session->stream, &session->writer, &identity);
    if (failure != 0)
        vv_metadata_remove();
    return failure;
}

int vv_session_open_folder(uint32_t layers)
{
    struct vv_session *session = &vv_session;
    char name[VV_STREAM_NAME_BYTES];
    int failure = make_process_folder(name, sizeof name);
    if (failure != 0)
        return failure;
    failure = fill_folder();
    if (failure != 0) {
        vv_own_folder_remove(&session->output, name);
        return failure;
    }
    if (vv_copier_reason() != 0)
        (void)vv_metadata_write(); /* now the metadata says that parts are copied */
    vv_sigbus_watch();
    __atomic_store_n(&session->has_folder, true, __ATOMIC_RELEASE);
    session->latest_ticks = session->writer.packet->begin_ticks;
    vv_process_clock_put_first();
    vv_process_stream_put_layers(layers, 0);
    vv_control_open(&session->folder, layers);
    if (session->options != NULL)
        (void)vv_options_write(session->options, &session->folder);
    return 0;
}

/* If this fails, only readers of the trace can be told why: in the trace's page of losses. */
bool vv_session_on_first_record(void)
{
    struct vv_session *session = &vv_session;
    if (session->retry_ticks != 0 && vv_clock_ticks() < session->retry_ticks)
        return false;
    session->retry_ticks = vv_clock_in_a_second();
    int failure = vv_session_open_folder(varve_layers());
    if (failure != 0) {
        if (vv_lost_has_page())
            vv_sigbus_watch();
        vv_lost_because(failure);
        return false;
    }
    vv_collector_write_all();
    vv_counts_write_names();
    return true;
}
