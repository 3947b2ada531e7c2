/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/libc.h"
#include "base/system/os.h"
#include "base/system/signal_name.h"
#include "base/text/size.h"
#include "ctf/metadata_write.h"
#include "record/control/control.h"
#include "record/control/window.h"
#include "record/counters/counters.h"
#include "record/counts.h"
#include "record/lost.h"
#include "record/process_clock.h"
#include "record/session/cpu_time.h"
#include "record/session/dump.h"
#include "record/session/folder.h"
#include "record/session/options.h"
#include "record/session/output.h"
#include "record/session/schedule.h"
#include "record/sigbus.h"
#include "record/site.h"
#include "record/source_note.h"
#include "record/stream/copier.h"
#include "record/stream/flight_recorder.h"
#include "record/stream/hand_over.h"
#include "record/stream/prepared_part.h"
#include "record/stream/recorder.h"
#include "record/stream/room.h"
#include "record/thread.h"
#include "settings/keep_last.h"

static struct vv_reserve standard_reserve; /* from VARVE_RESERVE */
static bool is_standard_shared;            /* from VARVE_SHARE */

static void begin_streams(void)
{
    vv_part_limit(vv_session.max_bytes);
    vv_ring_begin(vv_session.keep_bytes, vv_session.keep_ns);
    vv_prepared_part_begin();
}

/* In a forked child: the session goes on, and gets a folder of its own once there is a record. */
static void go_on_in_child(void)
{
    struct vv_session *session = &vv_session;
    vv_birth_certify();
    vv_control_forked();
    vv_thread_abandon_all();
    vv_stream_abandon(&session->stream, false);
    memset(&session->writer, 0, sizeof session->writer);
    vv_prepared_part_abandon();
    vv_copier_abandon();
    vv_lost_forked();
    vv_counters_forked();
    vv_self.epoch = vv_epoch() - 1; /* the page may still be the parent's */
    if (!session->running)
        return;
    begin_streams();
    vv_room_forked();
    __atomic_store_n(&session->has_folder, false, __ATOMIC_RELEASE);
    __atomic_fetch_add(&session->serial, 1, __ATOMIC_RELAXED);
    session->instances = 0;
    session->retry_ticks = 0;
    session->slow_ns = 0;
}

/* ---- begin and end ---- */

/* Lock held. */
static void take_manner(const struct vv_session_manner *manner, uint32_t layers)
{
    struct vv_session *session = &vv_session;
    __atomic_fetch_add(&session->serial, 1, __ATOMIC_RELAXED);
    session->instances = 0;
    __atomic_store_n(&session->has_folder, false, __ATOMIC_RELEASE);
    session->on_first_record = vv_session_on_first_record;
    session->retry_ticks = 0;
    session->slow_ns = 0;
    session->wanted_layers = layers;
    session->max_bytes = manner->grow ? 0 : manner->max_bytes;
    session->keep_bytes = manner->keep_bytes;
    session->keep_ns = manner->keep_ns;
}

/* Lock held, and no session runs. Returns 0 or an errno number. */
static int begin_in(const struct vv_own_folder *output, uint32_t layers,
                    const struct vv_session_manner *manner)
{
    struct vv_session *session = &vv_session;
    vv_own_folder_copy(&session->output, output);
    vv_clock_init();
    __atomic_store_n(&session->begun_ticks, vv_clock_ticks(), __ATOMIC_RELAXED);
    vv_birth_certify();
    take_manner(manner, layers);
    vv_copier_begin();
    begin_streams();
    vv_room_begin(&session->output, manner->reserve.is_said ? &manner->reserve : &standard_reserve,
                  vv_metadata_write);
    uint32_t first = manner->paused || manner->schedule.active != 0 ? 0 : layers;
    vv_lost_begin(output, !manner->by_command);
    int failure = manner->folder_now ? vv_session_open_folder(first) : 0;
    if (failure != 0) {
        vv_lost_end(output);
        return failure;
    }
    /* dump.c reads it without the lock */
    __atomic_store_n(&session->running, true, __ATOMIC_RELEASE);
    __atomic_store_n(&session->begun_by, manner->begun_by, __ATOMIC_RELAXED);
    if (session->has_folder) {
        vv_collector_write_all();
        vv_counts_write_names();
    }
    if (manner->dump_signal != 0) /* a program with a handler of its own keeps it */
        (void)vv_dump_on_signal(manner->dump_signal);
    session->on_demand = manner->paused;
    vv_control_set_layers(first);
    vv_schedule_begin(&manner->schedule);
    return 0;
}

/* Takes the lock if no session runs. */
static enum varve_code lock_without_session(struct varve_error *error)
{
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE, "varve_session_start was called from a signal handler");
    if (!vv_session.running)
        return VARVE_OK;
    (void)vv_fail(error, VARVE_STATE, "a session runs already, into '%s'", vv_session.output.path);
    vv_recorder_unlock();
    return VARVE_STATE;
}

static enum varve_code make_output_and_begin(const struct varve_session_options *options,
                                             const struct vv_session_manner *manner,
                                             struct vv_session_output *output,
                                             struct varve_error *error)
{
    const uint32_t layers = options->layers != 0 ? options->layers : VARVE_LAYER_ALL;
    VV_TRY(vv_output_make(options->output, manner->is_shared || is_standard_shared, output, error));
    vv_counts_begin(manner->metrics);
    VV_TRY(lock_without_session(error));
    int failure = begin_in(&output->folder, layers, manner);
    vv_recorder_unlock();
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot record into '%s'", output->folder.path);
    return VARVE_OK;
}

static enum varve_code check_and_begin(const struct varve_session_options *options,
                                       const struct vv_session_manner *manner,
                                       struct varve_error *error)
{
    if (vv_os_is_privileged())
        VV_FAIL(error, VARVE_PERMISSION, "a set-user-id process is not recorded");
    VV_TRY(lock_without_session(error));
    vv_recorder_unlock();
    struct vv_session_output *output = mmap(NULL, sizeof *output, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (output == MAP_FAILED)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the trace's path");
    enum varve_code code = make_output_and_begin(options, manner, output, error);
    munmap(output, sizeof *output);
    return code;
}

enum varve_code vv_session_begin(const struct varve_session_options *options,
                                 const struct vv_session_manner *manner, struct varve_error *error)
{
    int saved_errno = errno;
    uint32_t layers = options->layers != 0 ? options->layers : VARVE_LAYER_ALL;
    if (!manner->paused && manner->schedule.active == 0)
        vv_window_switch(varve_layers(), layers, VV_WINDOW_BY_THREAD);
    enum varve_code code = check_and_begin(options, manner, error);
    errno = saved_errno;
    return code;
}

VARVE_API enum varve_code varve_session_start(const struct varve_session_options *options,
                                              struct varve_error *error)
{
    struct varve_session_options taken;
    VV_TRY(vv_session_options_take(options, &taken, error));
    const struct vv_session_manner manner = {
        .folder_now = true,
        .max_bytes = taken.max_bytes,
        .grow = taken.when_full == VARVE_WHEN_FULL_GROW,
        .keep_bytes = taken.keep_bytes,
        .keep_ns = taken.keep_ns,
    };
    return vv_session_begin(&taken, &manner, error);
}

/* Writes a last clock record, the frequency and the names: the process may be about to end. */
static void settle(void)
{
    if (!vv_session.running || !vv_session.has_folder)
        return;
    vv_control_note();
    vv_process_clock_put_last();
    vv_thread_rename_all();
}

void vv_session_end(void)
{
    vv_schedule_end();
    vv_control_switch(0, 0);
    settle();
    vv_control_close();
    __atomic_store_n(&vv_session.running, false, __ATOMIC_RELEASE);
    bool are_attached = vv_thread_end_all();
    __atomic_fetch_add(&vv_session.serial, 1, __ATOMIC_RELAXED);
    vv_prepared_part_drop();
    vv_stream_close(&vv_session.stream, &vv_session.writer);
    vv_lost_end(&vv_session.output);
    if (!are_attached)
        vv_sigbus_unwatch();
}

VARVE_API enum varve_code varve_session_stop(struct varve_error *error)
{
    vv_window_switch(varve_layers(), 0, VV_WINDOW_BY_THREAD);
    if (!vv_self.busy && __atomic_load_n(&vv_session.begun_by, __ATOMIC_RELAXED) == NULL)
        vv_hand_over(true);
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE, "varve_session_stop was called from a signal handler");
    const char *begun_by = vv_session.begun_by;
    bool was_running = vv_session.running;
    if (was_running && begun_by == NULL)
        vv_session_end();
    vv_recorder_unlock();
    vv_copier_flush();
    if (!was_running)
        VV_FAIL(error, VARVE_STATE, "no session runs");
    if (begun_by != NULL)
        VV_FAIL(error, VARVE_STATE, "the session belongs to %s", begun_by);
    return VARVE_OK;
}

void vv_session_follow(uint32_t layers, const struct vv_schedule *schedule)
{
    if (schedule->active != 0)
        vv_session.wanted_layers = layers;
    vv_control_switch(schedule->active != 0 ? 0 : layers, 0);
    vv_schedule_begin(schedule);
}

uint32_t vv_session_switch(uint32_t layers, uint32_t asker)
{
    vv_window_switch(varve_layers(), layers,
                     asker != 0 ? VV_WINDOW_BY_THREAD : VV_WINDOW_BY_ANYBODY);
    if (!vv_recorder_lock())
        return varve_layers();
    vv_schedule_end(); /* the program decides by itself from here on */
    uint32_t former = vv_control_switch(layers, asker);
    vv_recorder_unlock();
    return former;
}

VARVE_API uint32_t varve_layers_set(uint32_t layers)
{
    return vv_session_switch(layers, 0);
}

/* ---- with the program ---- */

/* Reads how much is kept. `varve record` has checked these values. */
static void read_limits(struct vv_session_manner *manner)
{
    const char *max_size = getenv("VARVE_MAX_SIZE"), *when_full = getenv("VARVE_WHEN_FULL"),
               *keep = getenv("VARVE_KEEP"), *dump_on = getenv("VARVE_DUMP_ON");
    struct vv_keep last = { 0, 0 };
    if (max_size != NULL)
        (void)vv_size_parse(max_size, &manner->max_bytes, NULL);
    if (keep != NULL)
        (void)vv_keep_parse(keep, &last, NULL);
    manner->keep_bytes = last.bytes;
    manner->keep_ns = last.ns;
    manner->grow = when_full != NULL && strcmp(when_full, "grow") == 0;
    if (dump_on != NULL && *dump_on != '\0')
        manner->dump_signal = vv_signal_parse(dump_on);
}

/* Reads what holds for each session of the process that is not given a value of its own. */
static void read_standards(void)
{
    const char *reserve = getenv("VARVE_RESERVE"), *share = getenv("VARVE_SHARE");
    if (reserve != NULL && *reserve != '\0')
        (void)vv_reserve_parse(reserve, &standard_reserve, NULL);
    is_standard_shared = share != NULL && strcmp(share, "1") == 0;
}

/* Begins the session for `varve record`, which has made the folder VARVE_OUTPUT. */
static void begin_for_command(const char *output)
{
    const char *layers = getenv("VARVE_LAYERS"), *paused = getenv("VARVE_PAUSED"),
               *schedule = getenv("VARVE_SCHEDULE");
    if (output[0] != '/')
        return;
    vv_counts_begin(NULL);
    if (!vv_recorder_lock())
        return;
    struct vv_session_manner manner = { .begun_by = "`varve record`: it ends with the process",
                                        .by_command = true };
    manner.paused = manner.folder_now = paused != NULL && strcmp(paused, "1") == 0;
    if (schedule != NULL && *schedule != '\0' && !manner.paused)
        (void)vv_schedule_parse(schedule, &manner.schedule, NULL);
    read_limits(&manner);
    uint32_t mask = VARVE_LAYER_ALL;
    if (layers != NULL)
        (void)vv_layers_parse(layers, &mask, NULL);
    static struct vv_own_folder folder; /* static: it is large */
    /* if this fails, the first record tries it again */
    (void)vv_own_folder_know(output, is_standard_shared, &folder, NULL);
    begin_in(&folder, mask, &manner);
    vv_recorder_unlock();
}

/* Runs before the constructors of the rooms above, which read the session. */
__attribute__((constructor(101))) static void on_load(void)
{
    vv_recorder_on_fork(go_on_in_child);
    if (!vv_libc_is_ours())
        return;
    vv_thread_init();
    if (vv_os_is_privileged())
        return;
    read_standards();
    const char *output = getenv("VARVE_OUTPUT");
    if (output != NULL)
        begin_for_command(output);
}

/* Recording goes on, because later destructors may still record something. A process that has
 * recorded nothing makes no system call here: it may have forbidden itself all but a few. */
__attribute__((destructor(101))) static void on_exit_of_program(void)
{
    bool has_recorded = __atomic_load_n(&vv_session.running, __ATOMIC_RELAXED) &&
                        __atomic_load_n(&vv_session.has_folder, __ATOMIC_RELAXED);
    if (!has_recorded || vv_birth_is_unknown() || !vv_libc_is_ours())
        return;
    vv_cpu_time_note();
    if (!vv_recorder_lock())
        return;
    vv_stream_settle(&vv_self.writer); /* exit may have been called by a signal handler */
    settle();
    vv_control_forget();
    vv_lost_end(&vv_session.output);
    vv_prepared_part_drop();
    vv_recorder_unlock();
    vv_copier_flush();
}
