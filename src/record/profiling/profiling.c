/* SPDX-License-Identifier: Apache-2.0 */
/* profiling.c — the control API: checks the order of its calls, and uses the session functions.
 *
 * The lock of state.h is held while callbacks run, so that callbacks are called in order. A call
 * from a callback is refused. Only configurations allocate memory. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/system/libc.h"
#include "base/system/os.h"
#include "base/text/harmless.h"
#include "record/control/control.h"
#include "record/control/window.h"
#include "record/counts.h"
#include "record/options/options.h"
#include "record/profiling/callbacks.h"
#include "record/profiling/config.h"
#include "record/profiling/point_names.h"
#include "record/profiling/state.h"
#include "record/session/session.h"
#include "record/stream/hand_over.h"
#include "record/stream/recorder.h"
#include "varve/control.h"

#define BY(call) call ": varve_profiling_finalize ends it"
#define ORDER                                                                                      \
    "the order is varve_profiling_init, _start, _stop (both as often as wanted), _finalize"

/* ---- callbacks ---- */

static void call_back(enum varve_profiling_event event, uint32_t layers)
{
    if (vv_control_has_news())
        (void)vv_profiling_tell();
    const struct varve_profiling_command command = vv_profiling_command(event, layers);
    vv_callbacks_tell(&command);
}

/* The last chance to tell. */
static void on_exit_of_program(void)
{
    vv_control_tell();
}

static enum varve_code add_callback(varve_profiling_callback *function, void *context,
                                    struct varve_error *error)
{
    static bool tells_at_exit;
    bool is_first;
    VV_TRY(vv_callbacks_add(function, context, &is_first, error));
    uint32_t layers = vv_control_listen(vv_profiling_on_safe_point);
    if (!tells_at_exit)
        tells_at_exit = atexit(on_exit_of_program) == 0;
    struct varve_profiling_command command = vv_profiling_command(VARVE_PROFILING_INIT, 0);
    if (vv_profiling.state != VV_PROFILING_OFF)
        function(&command, context);
    if (layers == 0)
        return VARVE_OK;
    command = vv_profiling_command(VARVE_PROFILING_START, layers);
    bool is_by_program =
        vv_profiling.state != VV_PROFILING_OFF
            ? vv_profiling.state == VV_PROFILING_STARTED && !vv_profiling.by_environment
            : __atomic_load_n(&vv_session.begun_by, __ATOMIC_RELAXED) == NULL;
    if (!is_by_program)
        command.asked_by = VARVE_PROFILING_BY_OUTSIDE;
    function(&command, context);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_profiling_callback_add(varve_profiling_callback *callback,
                                                       void *context, struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_callback_add", error));
    return vv_profiling_leave(add_callback(callback, context, error));
}

static enum varve_code remove_callback(varve_profiling_callback *callback, void *context,
                                       struct varve_error *error)
{
    bool is_last;
    VV_TRY(vv_callbacks_remove(callback, context, &is_last, error));
    if (is_last)
        (void)vv_control_listen(NULL);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_profiling_callback_remove(varve_profiling_callback *callback,
                                                          void *context, struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_callback_remove", error));
    return vv_profiling_leave(remove_callback(callback, context, error));
}

/* ---- the session ---- */

static void keep(const struct vv_options *options)
{
    if (!vv_recorder_lock())
        return;
    vv_session.options = options;
    vv_recorder_unlock();
}

static void set_options(const struct vv_options *options)
{
    keep(NULL);
    vv_profiling.has_options = options != NULL;
    if (options == NULL)
        return;
    memcpy(&vv_profiling.options, options, sizeof vv_profiling.options);
    keep(&vv_profiling.options);
}

/* Whoever makes a folder reads the kept options, under the lock. */
static void set_joins(bool joins)
{
    if (!vv_recorder_lock())
        return;
    vv_profiling.options.joins = joins;
    vv_recorder_unlock();
}

static bool session_runs(void)
{
    if (!vv_recorder_lock())
        return false;
    bool runs = vv_session.running;
    vv_recorder_unlock();
    return runs;
}

/* Joins a session that waits for a start (`varve record --paused`). The options set its layers and
 * its schedule. `varve record` has decided the rest. */
static void join_session(void)
{
    vv_counts_begin(vv_profiling.options.metrics);
    if (!vv_profiling.options.paused && vv_profiling.options.schedule.active == 0)
        vv_window_switch(varve_layers(), vv_profiling.options.layers, VV_WINDOW_BY_THREAD);
    if (!vv_recorder_lock())
        return;
    const struct vv_schedule none = { 0 };
    vv_session_follow(vv_profiling.options.paused ? 0 : vv_profiling.options.layers,
                      vv_profiling.options.paused ? &none : &vv_profiling.options.schedule);
    if (vv_session.has_folder)
        (void)vv_options_write(&vv_profiling.options, &vv_session.folder);
    vv_recorder_unlock();
}

/* From now on the environment's session belongs to the program. */
static void adopt_session(const char *begun_by)
{
    vv_profiling.by_environment = false;
    if (!vv_recorder_lock())
        return;
    __atomic_store_n(&vv_session.begun_by, begun_by, __ATOMIC_RELAXED);
    vv_recorder_unlock();
}

static enum varve_code begin_session(uint32_t layers, const struct vv_session_manner *manner,
                                     struct varve_error *error)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.layers = layers;
    options.output = vv_profiling.output[0] != '\0' ? vv_profiling.output : NULL;
    VV_TRY(vv_session_begin(&options, manner, error));
    vv_profiling.owns_session = true;
    return VARVE_OK;
}

static void end_session(void)
{
    vv_window_switch(varve_layers(), vv_profiling.owns_session ? 0 : varve_layers(),
                     VV_WINDOW_BY_THREAD);
    if (vv_profiling.owns_session)
        vv_hand_over(true);
    if (!vv_profiling.owns_session || !vv_recorder_lock())
        return;
    if (varve_layers() != 0) /* started from outside, or by a schedule */
        (void)vv_control_switch(0, VARVE_PROFILING_BY_PROGRAM);
    if (vv_session.running)
        vv_session_end();
    vv_recorder_unlock();
    vv_profiling.owns_session = false;
}

/* Begins a session as the options say, or switches the running one. */
static enum varve_code start_options(const char *begun_by, bool folder_now,
                                     struct varve_error *error)
{
    const struct vv_options *options = &vv_profiling.options;
    struct vv_session_manner manner = {
        .begun_by = begun_by,
        .folder_now = folder_now || options->paused,
        .paused = options->paused,
        .schedule = options->schedule,
    };
    vv_profiling_set_manner(&manner, options, NULL);
    memcpy(vv_profiling.output, options->output, sizeof vv_profiling.output);
    const bool joins = session_runs();
    set_joins(joins);
    if (joins)
        join_session();
    else
        VV_TRY(begin_session(options->layers, &manner, error));
    vv_profiling.config = NULL;
    vv_profiling.state = options->paused ? VV_PROFILING_READY : VV_PROFILING_STARTED;
    return VARVE_OK;
}

/* ---- init and finalize ---- */

/* Fails if others began the running session, unless it waits for a start (varve record
 * --paused). */
static enum varve_code check_session(const char *call, struct varve_error *error)
{
    if (!vv_recorder_lock())
        VV_FAIL(error, VARVE_STATE, "%s was called from a signal handler", call);
    bool is_free = !vv_session.running || vv_profiling.owns_session || vv_session.on_demand;
    if (!is_free)
        (void)vv_fail(error, VARVE_STATE, "%s: this process is recorded already, into '%s', by %s",
                      call, vv_session.output.path,
                      vv_session.begun_by != NULL ? vv_session.begun_by : "varve_session_start");
    vv_recorder_unlock();
    return is_free ? VARVE_OK : VARVE_STATE;
}

static enum varve_code check_free(const char *call, struct varve_error *error)
{
    if (vv_profiling.state != VV_PROFILING_OFF && !vv_profiling.by_environment)
        VV_FAIL(error, VARVE_STATE, "%s: initialised already; " ORDER, call);
    return check_session(call, error);
}

/* Ends this API's session and resets the state. The session that the environment began ends, too: a
 * call has priority. */
static void take_over(void)
{
    end_session();
    set_options(NULL);
    vv_profiling.by_environment = false;
    vv_profiling.state = VV_PROFILING_OFF;
    vv_profiling.config = NULL;
    vv_profiling.output[0] = '\0';
}

static enum varve_code init(const char *output, struct varve_error *error)
{
    VV_TRY(check_free("varve_profiling_init", error));
    if (output != NULL && *output == '\0')
        VV_FAIL(error, VARVE_INVALID,
                "varve_profiling_init: the output is empty: name a folder, or pass NULL");
    if (output != NULL && strlen(output) >= sizeof vv_profiling.output)
        VV_FAIL(error, VARVE_LIMIT, "varve_profiling_init: the output is longer than %zu bytes",
                sizeof vv_profiling.output - 1);
    take_over();
    if (output != NULL)
        memcpy(vv_profiling.output, output, strlen(output) + 1);
    vv_profiling.state = VV_PROFILING_READY;
    call_back(VARVE_PROFILING_INIT, 0);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_profiling_init(const char *output, struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_init", error));
    return vv_profiling_leave(init(output, error));
}

/* A call that begins with options. */
struct beginning {
    const char *call;
    const char *begun_by;
    const char *text;   /* NULL or "": the environment's options                               */
    const char *source; /* where the text stands; NULL: it is the call's argument              */
};

static enum varve_code read_options(const struct beginning *beginning, struct vv_options *out,
                                    bool *out_asked, struct varve_error *error)
{
    *out_asked = beginning->text != NULL && *beginning->text != '\0';
    if (!*out_asked)
        return vv_options_from_environment(out, out_asked, error);
    enum varve_code code = vv_options_parse(out, beginning->text, error);
    if (beginning->source != NULL && code != VARVE_OK)
        vv_error_note(error, "%s", beginning->source);
    else if (beginning->source != NULL)
        out->source = beginning->source;
    return code;
}

static enum varve_code init_options(const struct beginning *beginning, struct varve_error *error)
{
    static struct vv_options parsed; /* guarded by the lock */
    bool is_asked = beginning->text != NULL && *beginning->text != '\0';
    VV_TRY(check_free(beginning->call, error));
    if (!is_asked && vv_profiling.by_environment) { /* its session runs already */
        adopt_session(beginning->begun_by);
    } else {
        VV_TRY(read_options(beginning, &parsed, &is_asked, error));
        take_over();
        vv_profiling.state = VV_PROFILING_READY;
        set_options(is_asked ? &parsed : NULL);
        enum varve_code code =
            is_asked ? start_options(beginning->begun_by, true, error) : VARVE_OK;
        if (code != VARVE_OK) {
            take_over();
            return code;
        }
    }
    call_back(VARVE_PROFILING_INIT, 0);
    /* A schedule starts later. */
    if (vv_profiling.state == VV_PROFILING_STARTED && varve_layers() != 0)
        call_back(VARVE_PROFILING_START, vv_profiling.options.layers);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_profiling_init_options(const char *options,
                                                       struct varve_error *error)
{
    const struct beginning beginning = { "varve_profiling_init_options",
                                         BY("varve_profiling_init_options"), options, NULL };
    VV_TRY(vv_profiling_enter(beginning.call, error));
    return vv_profiling_leave(init_options(&beginning, error));
}

static enum varve_code init_map(const struct varve_profiling_entry *entries, size_t count,
                                struct varve_error *error)
{
    struct beginning beginning = { "varve_profiling_init_map", BY("varve_profiling_init_map"), NULL,
                                   VV_OPTIONS_KEY_OF_MAP };
    VV_TRY(check_free(beginning.call, error));
    VV_TRY(vv_options_of_map(entries, count, &beginning.text, error));
    return init_options(&beginning, error);
}

VARVE_API enum varve_code varve_profiling_init_map(const struct varve_profiling_entry *entries,
                                                   size_t count, struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_init_map", error));
    return vv_profiling_leave(init_map(entries, count, error));
}

static void stop(void)
{
    (void)vv_session_switch(0, VARVE_PROFILING_BY_PROGRAM);
    vv_profiling.state = VV_PROFILING_READY;
    (void)vv_profiling_tell();
    vv_profiling.config = NULL;
}

static enum varve_code finalize(struct varve_error *error)
{
    if (vv_profiling.state == VV_PROFILING_OFF || vv_profiling.by_environment)
        VV_FAIL(error, VARVE_STATE, "varve_profiling_finalize: not initialised; " ORDER);
    if (vv_profiling.state == VV_PROFILING_STARTED && vv_profiling.config != NULL)
        VV_FAIL(error, VARVE_STATE, "varve_profiling_finalize: still started: stop first; " ORDER);
    if (vv_profiling.state == VV_PROFILING_STARTED)
        stop();
    take_over();
    call_back(VARVE_PROFILING_FINALIZE, 0);
    return VARVE_OK;
}

VARVE_API enum varve_code varve_profiling_finalize(struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_finalize", error));
    return vv_profiling_leave(finalize(error));
}

/* ---- start and stop ---- */

static enum varve_code start(const struct varve_profiling_config *config, struct varve_error *error)
{
    if (config == NULL)
        VV_FAIL(error, VARVE_INVALID, "varve_profiling_start: no configuration: make one with "
                                      "varve_profiling_config_create");
    if (vv_profiling.state == VV_PROFILING_OFF || vv_profiling.by_environment)
        VV_FAIL(error, VARVE_STATE, "varve_profiling_start: not initialised; " ORDER);
    if (vv_profiling.state == VV_PROFILING_STARTED)
        VV_FAIL(error, VARVE_STATE, "varve_profiling_start: started already: stop first; " ORDER);
    VV_TRY(check_session("varve_profiling_start", error));
    uint32_t layers = config->layers != 0 ? config->layers
                      : vv_profiling.has_options   ? vv_profiling.options.layers
                                          : VARVE_LAYER_ALL;
    struct vv_session_manner manner = {
        .begun_by = BY("varve_profiling_init"),
        .folder_now = true,
    };
    vv_profiling_set_manner(&manner, vv_profiling.has_options ? &vv_profiling.options : NULL,
                            config);
    const bool joins = session_runs();
    vv_counts_begin(manner.metrics); /* also where no session begins */
    if (!joins)
        VV_TRY(begin_session(layers, &manner, error));
    vv_profiling.config = config;
    vv_profiling.state = VV_PROFILING_STARTED;
    if (!joins)
        call_back(VARVE_PROFILING_START, layers);
    else
        (void)vv_session_switch(layers, VARVE_PROFILING_BY_PROGRAM);
    (void)vv_profiling_tell();
    return VARVE_OK;
}

VARVE_API enum varve_code varve_profiling_start(const struct varve_profiling_config *config,
                                                struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_start", error));
    return vv_profiling_leave(start(config, error));
}

VARVE_API enum varve_code varve_profiling_stop(const struct varve_profiling_config *config,
                                               struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_stop", error));
    if (vv_profiling.state != VV_PROFILING_STARTED || vv_profiling.by_environment)
        return vv_profiling_leave(
            vv_fail(error, VARVE_STATE, "varve_profiling_stop: not started; " ORDER));
    if (config != NULL && config != vv_profiling.config)
        return vv_profiling_leave(vv_fail(error, VARVE_INVALID,
                             "varve_profiling_stop: this is not the configuration that "
                             "was started"));
    stop();
    return vv_profiling_leave(VARVE_OK);
}

VARVE_API enum varve_code varve_profiling_config_destroy(struct varve_profiling_config *config,
                                                         struct varve_error *error)
{
    VV_TRY(vv_profiling_enter("varve_profiling_config_destroy", error));
    if (config != NULL && vv_profiling.state == VV_PROFILING_STARTED &&
        config == vv_profiling.config)
        return vv_profiling_leave(vv_fail(error, VARVE_STATE,
                             "varve_profiling_config_destroy: it is started: stop first; " ORDER));
    vv_profiling_config_free(config);
    return vv_profiling_leave(VARVE_OK);
}

VARVE_API const char *varve_profiling_option(const char *key)
{
    if (key == NULL)
        return NULL;
    /* A callback may call this. */
    bool is_inside = pthread_mutex_lock(&vv_profiling_lock) == EDEADLK;
    const char *effect =
        vv_profiling.has_options ? vv_options_effect(&vv_profiling.options, key) : NULL;
    if (!is_inside)
        pthread_mutex_unlock(&vv_profiling_lock);
    return effect;
}

bool vv_profiling_point_name(const char *key, char *out_name, size_t bytes)
{
    /* A callback may call this. */
    bool is_inside = pthread_mutex_lock(&vv_profiling_lock) == EDEADLK;
    const char *name = strcmp(key, "fp_point") == 0 ? vv_profiling.options.fp_point
                                                    : vv_profiling.options.bp_point;
    bool is_given = vv_profiling.has_options && name[0] != '\0' && strlen(name) < bytes;
    if (is_given)
        memcpy(out_name, name, strlen(name) + 1);
    if (!is_inside)
        pthread_mutex_unlock(&vv_profiling_lock);
    return is_given;
}

/* ---- with the program ---- */

/* Prints the reason of a failure on standard error only if VARVE_DEBUG is set: the program may not
 * expect output from a profiler. */
static void begin_for_environment(void)
{
    struct varve_error error;
    bool is_asked = false;
    const char *debug = getenv("VARVE_DEBUG");
    enum varve_code code = vv_options_from_environment(&vv_profiling.options, &is_asked, &error);
    if (code == VARVE_OK && is_asked) {
        vv_profiling.has_options = true;
        keep(&vv_profiling.options);
        code = start_options("the environment's options: it ends with the process", false, &error);
        vv_profiling.by_environment = code == VARVE_OK;
    }
    if (code == VARVE_OK)
        return;
    take_over();
    if (debug != NULL && *debug != '\0') {
        vv_error_note(&error, "not recorded");
        vv_harmless_tell(error.message);
    }
}

static bool is_locked_for_fork;

static void before_fork(void)
{
    is_locked_for_fork = pthread_mutex_lock(&vv_profiling_lock) == 0;
}

static void after_fork_in_parent(void)
{
    if (is_locked_for_fork)
        pthread_mutex_unlock(&vv_profiling_lock);
}

/* The child's thread has a number of its own, so it does not own what the parent's thread locked. A
 * child that was made in a callback owns the lock until the callback's caller unlocks it. */
static void after_fork_in_child(void)
{
    static const pthread_mutex_t fresh = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    memcpy(&vv_profiling_lock, &fresh, sizeof vv_profiling_lock);
    if (!is_locked_for_fork)
        (void)pthread_mutex_lock(&vv_profiling_lock);
}

/* Runs after the session's constructor: the fork handler that is registered last takes its lock
 * first. The command line has priority over the environment's options. Without both the library
 * does nothing. */
__attribute__((constructor(102))) static void on_load(void)
{
    if (!vv_libc_is_ours())
        return;
    (void)vv_libc_at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (!vv_os_is_privileged() && getenv("VARVE_OUTPUT") == NULL)
        begin_for_environment();
}
