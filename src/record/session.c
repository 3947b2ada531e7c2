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
#include "base/keep.h"
#include "base/os.h"
#include "base/signal_name.h"
#include "base/size.h"
#include "ctf/metadata_write.h"
#include "record/collector.h"
#include "record/control.h"
#include "record/copier.h"
#include "record/dump.h"
#include "record/harm.h"
#include "record/profiling.h"
#include "record/recorder.h"
#include "record/ring.h"
#include "record/schedule.h"
#include "record/session_options.h"
#include "record/spare.h"

#define CLOCK_EVERY_NS UINT64_C(1000000000)
#define FIRST_REFINE_NS UINT64_C(100000000)

/* A page of its own, so that it can be mapped onto a file (varve.h). */
VARVE_API _Alignas(4096) struct varve_control varve_control_page;

struct vv_session vv_session;
uint64_t vv_session_homeless;

static void set_layers(uint32_t layers)
{
    vv_control_own();
    if (varve_layers() == 0 && layers != 0)
        __atomic_fetch_add(&varve_control_page.epoch, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&varve_control_page.layers, layers, __ATOMIC_RELEASE);
}

/* ---- the process's stream ---- */

static bool put_at(const uint64_t *words, size_t count, uint64_t ticks)
{
    struct vv_session *session = &vv_session;
    struct vv_writer *writer = &session->writer;
    uint64_t homeless = __atomic_exchange_n(&vv_session_homeless, 0, __ATOMIC_RELAXED);
    if (homeless != 0)
        vv_stream_discard(&session->stream, writer, homeless);
    if (ticks < session->latest_ticks) /* readers would take it for a wrap of the low bits */
        ticks = session->latest_ticks;
    if (writer->cursor + 8 * count > writer->limit) {
        if (!vv_stream_advance(&session->stream, writer)) {
            vv_stream_discard(&session->stream, writer, 1);
            return false;
        }
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
    vv_session_put(cost, 2);
    const uint64_t record[] = { VV_EVENT_CLOCK, sample->ticks, sample->monotonic_ns,
                                (uint64_t)sample->realtime_ns, sample->uncertainty_ns };
    vv_session_put(record, 5);
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
        vv_metadata_write();
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

static int make_process_folder(void)
{
    struct vv_session *session = &vv_session;
    int failure = EEXIST;
    for (unsigned again = 0; failure == EEXIST && again < 100000; again++) {
        int length = again == 0 ? snprintf(session->folder, sizeof session->folder, "%s/%d",
                                           session->output, (int)getpid())
                                : snprintf(session->folder, sizeof session->folder, "%s/%d.%u",
                                           session->output, (int)getpid(), again);
        if (length < 0 || (size_t)length >= sizeof session->folder)
            return ENAMETOOLONG;
        failure = vv_os_make_folder(session->folder);
    }
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
    const struct vv_stream_identity identity = { session->folder, "process", 0, 0 };
    failure = vv_stream_open(&session->stream, &session->writer, &identity);
    if (failure != 0)
        vv_metadata_remove();
    return failure;
}

/* Made when there is something to record: a shell that only starts programs leaves nothing. */
static int open_folder(uint32_t layers)
{
    struct vv_session *session = &vv_session;
    int failure = make_process_folder();
    if (failure != 0)
        return failure;
    failure = fill_folder();
    if (failure != 0) {
        vv_os_remove_folder(session->folder);
        return failure;
    }
    if (vv_copier_reason() != 0)
        vv_metadata_write(); /* now it says so */
    vv_harm_watch();
    __atomic_store_n(&session->has_folder, true, __ATOMIC_RELEASE);
    session->latest_ticks = session->writer.packet->begin_ticks;
    put_clock(&session->begin);
    put_layers(layers);
    vv_control_open(session->folder, layers);
    vv_profiling_keep_options(session->folder);
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
        return true;
    }
    if (session->retry_ticks != 0 && vv_clock_ticks() < session->retry_ticks)
        return false;
    session->retry_ticks = vv_clock_in_a_second();
    if (open_folder(varve_layers()) != 0)
        return false;
    vv_collector_write_all();
    return true;
}

void vv_session_forked(void)
{
    struct vv_session *session = &vv_session;
    vv_control_forked();
    if (!session->running)
        return;
    vv_thread_abandon_all();
    vv_stream_abandon(&session->stream, NULL);
    memset(&session->writer, 0, sizeof session->writer);
    vv_spare_abandon();
    vv_copier_abandon();
    begin_streams();
    __atomic_store_n(&session->has_folder, false, __ATOMIC_RELEASE);
    __atomic_fetch_add(&session->serial, 1, __ATOMIC_RELAXED);
    session->instances = 0;
    session->retry_ticks = 0;
    session->slow_ns = 0;
    vv_session_homeless = 0;
    vv_self.epoch = varve_control_page.epoch - 1; /* the page may be the parent's still */
}

/* ---- start and stop ---- */

/* Lock held. `output` is absolute and exists. */
static int start(const char *output, uint32_t layers, const struct vv_session_manner *manner)
{
    struct vv_session *session = &vv_session;
    size_t length = strlen(output);
    if (length >= sizeof session->output)
        return ENAMETOOLONG;
    memcpy(session->output, output, length + 1);
    vv_clock_init();
    __atomic_fetch_add(&session->serial, 1, __ATOMIC_RELAXED);
    session->instances = 0;
    session->threads = NULL;
    __atomic_store_n(&session->has_folder, false, __ATOMIC_RELEASE);
    session->retry_ticks = 0;
    session->slow_ns = 0;
    session->wanted_layers = layers;
    session->max_bytes = manner->grow ? 0 : manner->max_bytes;
    session->keep_bytes = manner->keep_bytes;
    session->keep_ns = manner->keep_ns;
    vv_copier_begin();
    begin_streams();
    uint32_t first = manner->paused || manner->schedule.active != 0 ? 0 : layers;
    int failure = manner->folder_now ? open_folder(first) : 0;
    if (failure != 0)
        return failure;
    __atomic_store_n(&session->running, true, __ATOMIC_RELEASE); /* dump.c reads it without the lock */
    session->begun_by = manner->begun_by;
    if (session->has_folder)
        vv_collector_write_all();
    if (manner->dump_signal != 0)
        vv_dump_on_signal(manner->dump_signal); /* a program with a handler of its own keeps it */
    session->on_demand = manner->paused;
    set_layers(first);
    vv_schedule_begin(&manner->schedule);
    return 0;
}

static enum varve_code default_output(char *out_path, size_t capacity, struct varve_error *error)
{
    char program[PATH_MAX], folder[PATH_MAX];
    if (vv_os_program(program, sizeof program) != 0 || getcwd(folder, sizeof folder) == NULL)
        VV_FAIL(error, VARVE_IO, "cannot find a name for the trace: set options->output");
    const char *slash = strrchr(program, '/');
    int length =
        snprintf(out_path, capacity, "%s/%s.varve", folder, slash != NULL ? slash + 1 : program);
    if (length < 0 || (size_t)length >= capacity)
        VV_FAIL(error, VARVE_LIMIT, "the path of this program is too long for a trace's name");
    return VARVE_OK;
}

static enum varve_code make_output(const struct varve_session_options *options, char *out_path,
                                   struct varve_error *error)
{
    char wanted[PATH_MAX];
    if (options->output == NULL)
        VV_TRY(default_output(wanted, sizeof wanted, error));
    else if (strlen(options->output) >= sizeof wanted)
        VV_FAIL(error, VARVE_LIMIT, "the trace's path is longer than %d bytes", PATH_MAX - 1);
    else
        memcpy(wanted, options->output, strlen(options->output) + 1);
    int failure = vv_os_make_folder(wanted);
    if (failure != 0 && failure != EEXIST)
        return vv_fail_errno(error, failure, "cannot make the trace folder '%s'", wanted);
    if (realpath(wanted, out_path) == NULL)
        return vv_fail_errno(error, errno, "cannot use the trace folder '%s'", wanted);
    return VARVE_OK;
}

static enum varve_code begin(const struct varve_session_options *options,
                             const struct vv_session_manner *manner, struct varve_error *error)
{
    char output[PATH_MAX];
    if (vv_os_is_privileged())
        VV_FAIL(error, VARVE_PERMISSION, "a set-user-id process is not recorded");
    if (vv_session.running)
        VV_FAIL(error, VARVE_STATE, "a session runs already, into '%s'", vv_session.output);
    VV_TRY(make_output(options, output, error));
    if (!vv_record_enter())
        VV_FAIL(error, VARVE_STATE, "varve_session_start was called from a signal handler");
    uint32_t layers = options->layers != 0 ? options->layers : VARVE_LAYER_ALL;
    int failure = vv_session.running ? EBUSY : start(output, layers, manner);
    vv_record_leave();
    if (failure == EBUSY)
        VV_FAIL(error, VARVE_STATE, "a session runs already, into '%s'", vv_session.output);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot record into '%s'", output);
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
    /* Threads leave their streams when they next look. */
    __atomic_fetch_add(&vv_session.serial, 1, __ATOMIC_RELAXED);
    vv_session.threads = NULL;
    vv_spare_drop();
    vv_harm_unwatch();
    vv_stream_close(&vv_session.stream, &vv_session.writer);
}

VARVE_API enum varve_code varve_session_stop(struct varve_error *error)
{
    if (!vv_record_enter())
        VV_FAIL(error, VARVE_STATE, "varve_session_stop was called from a signal handler");
    bool was_running = vv_session.running, is_ours = vv_session.begun_by == NULL;
    if (was_running && is_ours)
        vv_session_end();
    vv_record_leave();
    vv_copier_flush();
    if (!was_running)
        VV_FAIL(error, VARVE_STATE, "no session runs");
    if (!is_ours)
        VV_FAIL(error, VARVE_STATE, "the session belongs to %s", vv_session.begun_by);
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
        vv_size_parse(max_size, &manner->max_bytes, NULL);
    if (keep != NULL)
        vv_keep_parse(keep, &last, NULL);
    manner->keep_bytes = last.bytes;
    manner->keep_ns = last.ns;
    manner->grow = when_full != NULL && strcmp(when_full, "grow") == 0;
    if (dump_on != NULL && *dump_on != '\0')
        manner->dump_signal = vv_signal_parse(dump_on);
}

/* `varve record` says where: VARVE_OUTPUT is a folder that exists. */
static void start_for_command(const char *output)
{
    const char *layers = getenv("VARVE_LAYERS"), *paused = getenv("VARVE_PAUSED"),
               *schedule = getenv("VARVE_SCHEDULE");
    if (output[0] != '/' || !vv_record_enter())
        return;
    struct vv_session_manner manner = { .begun_by = "`varve record`: it ends with the process" };
    manner.paused = manner.folder_now = paused != NULL && strcmp(paused, "1") == 0;
    if (schedule != NULL && *schedule != '\0' && !manner.paused)
        vv_schedule_parse(schedule, &manner.schedule, NULL);
    read_limits(&manner);
    uint32_t mask = layers != NULL ? vv_layers_parse(layers) : VARVE_LAYER_ALL;
    start(output, mask != 0 ? mask : VARVE_LAYER_ALL, &manner);
    vv_record_leave();
}

/* The command line goes before the environment's options; without either the library does nothing. */
__attribute__((constructor(101))) static void on_load(void)
{
    vv_thread_init();
    vv_profiling_prepare();
    if (vv_os_is_privileged())
        return;
    const char *output = getenv("VARVE_OUTPUT");
    if (output != NULL)
        start_for_command(output);
    else
        vv_profiling_on_load();
}

/* Recording goes on: later destructors may still have something to tell. */
__attribute__((destructor(101))) static void on_exit_of_program(void)
{
    if (!vv_record_enter())
        return;
    vv_stream_settle(&vv_self.writer); /* exit may have been called by a signal handler */
    vv_session_settle();
    vv_control_forget();
    vv_spare_drop();
    vv_record_leave();
    vv_copier_flush();
}
