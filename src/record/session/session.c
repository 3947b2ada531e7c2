/* SPDX-License-Identifier: Apache-2.0 */
/* session.c — recording starts, goes on in forked children, pauses and ends.
 *
 * A session has a folder for its process with the metadata, the process's own stream and one stream a
 * thread. There is no thread of ours: clock records and a better frequency come from whichever thread
 * next passes the slow path (at least once a second while anything is recorded). */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/libc.h"
#include "base/system/os.h"
#include "base/system/signal_name.h"
#include "base/text/size.h"
#include "ctf/metadata_write.h"
#include "record/lost.h"
#include "record/output.h"
#include "record/profiling/profiling.h"
#include "record/session/control.h"
#include "record/session/dump.h"
#include "record/session/options.h"
#include "record/session/schedule.h"
#include "record/sigbus.h"
#include "record/source_note.h"
#include "record/stream/copier.h"
#include "record/stream/flight_recorder.h"
#include "record/stream/prepared_part.h"
#include "record/stream/recorder.h"
#include "record/stream/room.h"
#include "settings/keep_last.h"

#define CLOCK_EVERY_NS UINT64_C(1000000000)
#define FIRST_REFINE_NS UINT64_C(100000000)

static struct vv_reserve standard_reserve; /* VARVE_RESERVE */
static bool is_standard_shared;            /* VARVE_SHARE */

static void set_layers(uint32_t layers)
{
    vv_control_own();
    if (varve_layers() == 0 && layers != 0)
        __atomic_fetch_add(&varve_control_page.epoch, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&varve_control_page.layers, layers, __ATOMIC_RELEASE);
}

/* ---- the process's stream ---- */

void vv_session_count_homeless(void)
{
    struct vv_writer *writer = &vv_session.writer;
    uint64_t homeless = writer->packet != NULL ? vv_lost_take() : 0;
    if (homeless != 0)
        vv_stream_discard(&vv_session.stream, writer, homeless);
}

/* No stream: no folder yet, none any more, or a forked child's. */
static bool put_at(const uint64_t *words, size_t count, uint64_t ticks)
{
    struct vv_session *session = &vv_session;
    struct vv_writer *writer = &session->writer;
    if (writer->packet == NULL)
        return false;
    vv_session_count_homeless();
    if (ticks < session->latest_ticks) /* readers would take it for a wrap of the low bits */
        ticks = session->latest_ticks;
    if (writer->cursor + 8 * count > writer->limit) {
        if (!vv_stream_advance(&session->stream, writer))
            return false;
        if (ticks < writer->packet->begin_ticks)
            writer->packet->begin_ticks = ticks;
    }
    session->latest_ticks = ticks;
    memcpy(writer->cursor, words, 8 * count);
    uint64_t word = vv_record_word((uint32_t)words[0], ticks);
    memcpy(writer->cursor, &word, 8);
    writer->cursor += 8 * count;
    __atomic_store_n(&writer->packet->content_bits,
                     (uint64_t)(writer->cursor - (uint8_t *)writer->packet) * 8, __ATOMIC_RELEASE);
    return true;
}

bool vv_session_put(const uint64_t *words, size_t count)
{
    if (vv_session.writer.packet == NULL)
        __atomic_fetch_add(&vv_session_homeless, 1, __ATOMIC_RELAXED);
    return put_at(words, count, vv_clock_ticks());
}

void vv_session_put_layers(uint32_t layers, uint64_t ticks)
{
    const uint64_t record[] = { VV_EVENT_LAYERS, layers };
    put_at(record, 2, ticks != 0 ? ticks : vv_clock_ticks());
}

/* And with it what recording has cost so far. */
static void put_clock(const struct vv_clock_sample *sample)
{
    const uint64_t cost[] = { VV_EVENT_COST, vv_session.slow_ns };
    (void)vv_session_put(cost, 2);
    const uint64_t record[] = { VV_EVENT_CLOCK, sample->ticks, sample->monotonic_ns,
                                (uint64_t)sample->realtime_ns, sample->uncertainty_ns };
    (void)vv_session_put(record, 5);
}

static void put_layers(uint32_t layers)
{
    vv_control_recorded(layers);
    vv_session_put_layers(layers, 0);
}

static void refine_frequency(void)
{
    struct vv_session *session = &vv_session;
    uint64_t hz = vv_clock_frequency(&session->begin, &session->latest);
    if (hz != 0 && vv_clock_is_counter && hz != session->frequency_hz) {
        session->frequency_hz = hz;
        (void)vv_metadata_write();
    }
}

static void sample_clock(void)
{
    struct vv_session *session = &vv_session;
    vv_clock_sample(&session->latest, session->frequency_hz);
    put_clock(&session->latest);
}

void vv_session_clock(void)
{
    struct vv_session *session = &vv_session;
    if (vv_clock_monotonic_ns() - session->latest.monotonic_ns < CLOCK_EVERY_NS)
        return;
    sample_clock();
    uint64_t age_ns = session->latest.monotonic_ns - session->begin.monotonic_ns;
    if (age_ns < session->refine_ns)
        return;
    while (session->refine_ns <= age_ns)
        session->refine_ns *= 10;
    refine_frequency();
}

void vv_session_settle(void)
{
    struct vv_session *session = &vv_session;
    if (!session->running || !session->has_folder)
        return;
    vv_control_note();
    sample_clock();
    if (session->latest.monotonic_ns - session->begin.monotonic_ns >= FIRST_REFINE_NS)
        refine_frequency();
    vv_thread_rename_all();
}

/* ---- the folder ---- */

/* A dump may be reading the former name (dump.c): who sees a byte of this one sees that the serial is another. */
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
    static struct vv_own_folder folder; /* under the lock: stacks may be small */
    struct vv_own_folder *output = &vv_session.output;
    int failure = output->id.inode != 0 ? 0 : vv_own_folder_know(output->path, output->is_shared, output, NULL);
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

static void measure_clock(void)
{
    static uint64_t measured_hz; /* once a process: it takes a millisecond */
    if (measured_hz == 0)
        measured_hz = vv_clock_measure();
    if (vv_session.record_cost_ps == 0)
        vv_session.record_cost_ps = vv_range_cost_ps();
    vv_session.frequency_hz = measured_hz != 0 ? measured_hz : UINT64_C(1000000000);
    vv_session.precision_ticks = vv_clock_is_counter ? vv_session.frequency_hz / 100000000 + 1 : 1;
}

static int fill_folder(void)
{
    struct vv_session *session = &vv_session;
    measure_clock();
    vv_clock_sample(&session->begin, session->frequency_hz);
    session->latest = session->begin;
    session->refine_ns = FIRST_REFINE_NS;
    int failure = vv_metadata_write();
    if (failure != 0)
        return failure;
    const struct vv_stream_identity identity = { &session->folder, "process", 0, 0 };
    failure = vv_stream_open(&session->stream, &session->writer, &identity);
    if (failure != 0)
        vv_metadata_remove();
    return failure;
}

/* Made when there is something to record: a shell that only starts programs leaves nothing. */
static int open_folder(uint32_t layers)
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
        (void)vv_metadata_write(); /* now it says so */
    vv_harm_watch();
    __atomic_store_n(&session->has_folder, true, __ATOMIC_RELEASE);
    session->latest_ticks = session->writer.packet->begin_ticks;
    put_clock(&session->begin);
    put_layers(layers);
    vv_control_open(&session->folder, layers);
    vv_profiling_keep_options(&session->folder);
    return 0;
}

static void begin_streams(void)
{
    vv_part_limit(vv_session.max_bytes);
    vv_ring_begin(vv_session.keep_bytes, vv_session.keep_ns);
    vv_spare_begin();
}

bool vv_session_ready(void)
{
    struct vv_session *session = &vv_session;
    if (!session->running)
        return false;
    if (session->has_folder) {
        vv_control_note();
        vv_session_count_homeless();
        return true;
    }
    if (session->retry_ticks != 0 && vv_clock_ticks() < session->retry_ticks)
        return false;
    session->retry_ticks = vv_clock_in_a_second();
    int failure = open_folder(varve_layers());
    if (failure != 0) {
        vv_lost_because(failure);
        return false;
    }
    vv_collector_write_all();
    return true;
}

void vv_session_forked(void)
{
    struct vv_session *session = &vv_session;
    vv_birth_certify();
    vv_control_forked();
    vv_thread_abandon_all();
    vv_stream_abandon(&session->stream, false);
    memset(&session->writer, 0, sizeof session->writer);
    vv_spare_abandon();
    vv_copier_abandon();
    vv_lost_forked();
    vv_self.epoch = vv_epoch() - 1; /* the page may be the parent's still */
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

/* ---- start and stop ---- */

/* Lock held. */
static int start(const struct vv_own_folder *output, uint32_t layers, const struct vv_session_manner *manner)
{
    struct vv_session *session = &vv_session;
    vv_own_folder_copy(&session->output, output);
    vv_clock_init();
    vv_birth_certify();
    __atomic_fetch_add(&session->serial, 1, __ATOMIC_RELAXED);
    session->instances = 0;
    __atomic_store_n(&session->has_folder, false, __ATOMIC_RELEASE);
    session->retry_ticks = 0;
    session->slow_ns = 0;
    session->wanted_layers = layers;
    session->max_bytes = manner->grow ? 0 : manner->max_bytes;
    session->keep_bytes = manner->keep_bytes;
    session->keep_ns = manner->keep_ns;
    vv_copier_begin();
    begin_streams();
    vv_room_begin(&session->output, manner->reserve.is_said ? &manner->reserve : &standard_reserve,
                  vv_metadata_write);
    uint32_t first = manner->paused || manner->schedule.active != 0 ? 0 : layers;
    vv_lost_begin(output, !manner->by_command);
    int failure = manner->folder_now ? open_folder(first) : 0;
    if (failure != 0) {
        vv_lost_end(output);
        return failure;
    }
    __atomic_store_n(&session->running, true, __ATOMIC_RELEASE); /* dump.c reads it without the lock */
    session->begun_by = manner->begun_by;
    if (session->has_folder)
        vv_collector_write_all();
    if (manner->dump_signal != 0)
        (void)vv_dump_on_signal(manner->dump_signal); /* a program with a handler of its own keeps it */
    session->on_demand = manner->paused;
    set_layers(first);
    vv_schedule_begin(&manner->schedule);
    return 0;
}

/* Takes the lock if no session runs. */
static enum varve_code enter_without_session(struct varve_error *error)
{
    if (!vv_record_enter())
        VV_FAIL(error, VARVE_STATE, "varve_session_start was called from a signal handler");
    if (!vv_session.running)
        return VARVE_OK;
    (void)vv_fail(error, VARVE_STATE, "a session runs already, into '%s'", vv_session.output.path);
    vv_record_leave();
    return VARVE_STATE;
}

static enum varve_code begin(const struct varve_session_options *options,
                             const struct vv_session_manner *manner, struct varve_error *error)
{
    struct vv_own_folder output;
    if (vv_os_is_privileged())
        VV_FAIL(error, VARVE_PERMISSION, "a set-user-id process is not recorded");
    VV_TRY(enter_without_session(error));
    vv_record_leave();
    VV_TRY(vv_output_make(options->output, manner->is_shared || is_standard_shared, &output, error));
    VV_TRY(enter_without_session(error));
    int failure = start(&output, options->layers != 0 ? options->layers : VARVE_LAYER_ALL, manner);
    vv_record_leave();
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot record into '%s'", output.path);
    return VARVE_OK;
}

enum varve_code vv_session_begin(const struct varve_session_options *options,
                                 const struct vv_session_manner *manner, struct varve_error *error)
{
    int saved_errno = errno;
    enum varve_code code = begin(options, manner, error);
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

void vv_session_end(void)
{
    vv_schedule_end();
    vv_control_note();
    set_layers(0);
    if (vv_session.has_folder)
        put_layers(0);
    vv_session_settle();
    vv_control_close();
    __atomic_store_n(&vv_session.running, false, __ATOMIC_RELEASE);
    bool are_attached = vv_thread_end_all();
    __atomic_fetch_add(&vv_session.serial, 1, __ATOMIC_RELAXED);
    vv_spare_drop();
    if (!are_attached)
        vv_harm_unwatch();
    vv_stream_close(&vv_session.stream, &vv_session.writer);
    vv_lost_end(&vv_session.output);
}

VARVE_API enum varve_code varve_session_stop(struct varve_error *error)
{
    if (!vv_record_enter())
        VV_FAIL(error, VARVE_STATE, "varve_session_stop was called from a signal handler");
    const char *begun_by = vv_session.begun_by;
    bool was_running = vv_session.running;
    if (was_running && begun_by == NULL)
        vv_session_end();
    vv_record_leave();
    vv_copier_flush();
    if (!was_running)
        VV_FAIL(error, VARVE_STATE, "no session runs");
    if (begun_by != NULL)
        VV_FAIL(error, VARVE_STATE, "the session belongs to %s", begun_by);
    return VARVE_OK;
}

uint32_t vv_session_switch(uint32_t layers)
{
    if (!vv_session.running)
        return 0;
    uint32_t former = varve_layers();
    if (vv_session.has_folder)
        vv_control_note();
    layers &= VARVE_LAYER_ALL;
    if (layers == 0)
        set_layers(0); /* first off, then the record: ranges end there */
    if (vv_session.has_folder)
        put_layers(layers);
    set_layers(layers);
    return former;
}

void vv_session_follow(uint32_t layers, const struct vv_schedule *schedule)
{
    if (schedule->active != 0)
        vv_session.wanted_layers = layers;
    vv_session_switch(schedule->active != 0 ? 0 : layers);
    vv_schedule_begin(schedule);
}

VARVE_API uint32_t varve_layers_set(uint32_t layers)
{
    if (!vv_record_enter())
        return varve_layers();
    vv_schedule_end(); /* the program decides by itself from here on */
    uint32_t former = vv_session_switch(layers);
    vv_record_leave();
    return former;
}

/* ---- with the program ---- */

/* How much is kept: what `varve record` has checked. */
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

/* What holds for every session of the process that is not told otherwise. */
static void read_standards(void)
{
    const char *reserve = getenv("VARVE_RESERVE"), *share = getenv("VARVE_SHARE");
    if (reserve != NULL && *reserve != '\0')
        (void)vv_reserve_parse(reserve, &standard_reserve, NULL);
    is_standard_shared = share != NULL && strcmp(share, "1") == 0;
}

/* `varve record` says where: VARVE_OUTPUT is a folder that exists. */
static void start_for_command(const char *output)
{
    const char *layers = getenv("VARVE_LAYERS"), *paused = getenv("VARVE_PAUSED"),
               *schedule = getenv("VARVE_SCHEDULE");
    if (output[0] != '/' || !vv_record_enter())
        return;
    struct vv_session_manner manner = { .begun_by = "`varve record`: it ends with the process", .by_command = true };
    manner.paused = manner.folder_now = paused != NULL && strcmp(paused, "1") == 0;
    if (schedule != NULL && *schedule != '\0' && !manner.paused)
        (void)vv_schedule_parse(schedule, &manner.schedule, NULL);
    read_limits(&manner);
    uint32_t mask = layers != NULL ? vv_layers_parse(layers) : VARVE_LAYER_ALL;
    static struct vv_own_folder folder; /* large */
    (void)vv_own_folder_know(output, is_standard_shared, &folder, NULL); /* else at the first record */
    start(&folder, mask != 0 ? mask : VARVE_LAYER_ALL, &manner);
    vv_record_leave();
}

/* The command line goes before the environment's options; without either the library does nothing. */
__attribute__((constructor(101))) static void on_load(void)
{
    vv_record_on_fork(vv_session_forked);
    if (!vv_libc_is_ours())
        return;
    vv_thread_init();
    vv_profiling_prepare();
    if (vv_os_is_privileged())
        return;
    read_standards();
    const char *output = getenv("VARVE_OUTPUT");
    if (output != NULL)
        start_for_command(output);
    else
        vv_profiling_on_load();
}

/* Recording goes on: later destructors may still have something to tell. Who has recorded nothing makes no system
 * call here: it may have forbidden itself all but a few. */
__attribute__((destructor(101))) static void on_exit_of_program(void)
{
    bool has_recorded = __atomic_load_n(&vv_session.running, __ATOMIC_RELAXED) &&
                        __atomic_load_n(&vv_session.has_folder, __ATOMIC_RELAXED);
    if (!has_recorded || vv_birth_is_unknown() || !vv_libc_is_ours() || !vv_record_enter())
        return;
    vv_stream_settle(&vv_self.writer); /* exit may have been called by a signal handler */
    vv_session_settle();
    vv_control_forget();
    vv_lost_end(&vv_session.output);
    vv_spare_drop();
    vv_record_leave();
    vv_copier_flush();
}
