/* SPDX-License-Identifier: Apache-2.0 */
/* control.h — recording on demand, from inside the program: initialise, configure, start, stop,
 * finalise.
 *
 *     struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
 *     struct varve_profiling_config *config;
 *     varve_profiling_init("train.varve", NULL);
 *     varve_profiling_config_create(&settings, &config, NULL);
 *     varve_profiling_start(config, NULL);                  start and stop as often as wanted
 *     …
 *     varve_profiling_stop(config, NULL);
 *     varve_profiling_finalize(NULL);
 *     varve_profiling_config_destroy(config, NULL);
 *
 * or with an options text, which starts at once:
 *
 *     varve_profiling_init_options(
 *         "{\"output\": \"train.varve\", \"training_trace\": \"on\"}", NULL);
 *     …
 *     varve_profiling_finalize(NULL);
 *
 * All starts of a process go into one trace. A call in the wrong order returns VARVE_STATE, and its
 * message names the right order. Thread-safe; not from signal handlers, and not from a callback.
 * doc/control.md explains the keys of the options text, the environment variables, and how other
 * processes can switch this one on and off. */
#ifndef VARVE_CONTROL_H
#define VARVE_CONTROL_H

#include "varve/varve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- from beginning to end ---- */

/* Prepares recording into the trace folder `output` (NULL = "PROGRAM.varve"). The first start makes
 * the folder. The call overrides the environment: it ends a recording that the environment's
 * options began. VARVE_STATE: initialised already, or `varve record` (without --paused) records the
 * process. */
VARVE_API enum varve_code varve_profiling_init(const char *output, struct varve_error *error);

/* Does what varve_profiling_init does, and starts recording as `options`, a JSON text, says. NULL
 * or "" = the options of the environment; if the environment has none, nothing starts.
 * VARVE_INVALID: a key or value is unknown, and nothing starts; the message names the nearest known
 * one. */
VARVE_API enum varve_code varve_profiling_init_options(const char *options,
                                                       struct varve_error *error);

struct varve_profiling_entry {
    const char *key;   /* such as "ge.exec.profilingMode"                                      */
    const char *value; /* NULL counts as ""                                                    */
};

/* Does what varve_profiling_init_options does, with the map of texts that GEInitialize and sessions
 * of GE take, an entry for each key. If "ge.exec.profilingMode" is "1" and
 * "ge.exec.profilingOptions" is not empty, the latter is the options text. Otherwise the options of
 * the environment count; if the environment has none, nothing starts. The call leaves other keys
 * alone. VARVE_INVALID: the options text is wrong, a key stands twice, or a key begins with
 * "ge.exec.profiling" and is neither of these two; the message names the nearest. */
VARVE_API enum varve_code varve_profiling_init_map(const struct varve_profiling_entry *entries,
                                                   size_t count, struct varve_error *error);

/* Ends the trace. Also stops what an options text started. VARVE_STATE: not initialised, or
 * varve_profiling_start was called without varve_profiling_stop. */
VARVE_API enum varve_code varve_profiling_finalize(struct varve_error *error);

/* ---- configurations ---- */

#define VARVE_PROFILING_DEVICES_MAX 64u

struct varve_profiling_settings {
    uint32_t struct_size;    /* sizeof(struct varve_profiling_settings)                        */
    uint32_t layers;         /* mask to record; 0 = the options' layers, or VARVE_LAYER_ALL    */
    const uint32_t *devices; /* device_count numbers, each once; copied                        */
    uint32_t device_count;   /* at most VARVE_PROFILING_DEVICES_MAX; 0 = all devices           */
    uint32_t reserved;       /* 0                                                              */
    const char *metrics;     /* a value of the option aic_metrics, or NULL; copied             */
    uint64_t switches;       /* a mask of the caller's own, which callbacks get as it is       */
    /* end of ABI 0 */
};
#define VARVE_PROFILING_SETTINGS_INIT \
    { (uint32_t)sizeof(struct varve_profiling_settings), 0, NULL, 0, 0, NULL, 0 }

struct varve_profiling_config; /* immutable */

/* May be called at any time, also before varve_profiling_init. `settings` may be NULL. The caller
 * owns *out_config. */
VARVE_API enum varve_code
varve_profiling_config_create(const struct varve_profiling_settings *settings,
                              struct varve_profiling_config **out_config,
                              struct varve_error *error);

/* `config` may be NULL. VARVE_STATE: the configuration is started. */
VARVE_API enum varve_code varve_profiling_config_destroy(struct varve_profiling_config *config,
                                                         struct varve_error *error);

/* VARVE_STATE: not initialised, or started already. */
VARVE_API enum varve_code varve_profiling_start(const struct varve_profiling_config *config,
                                                struct varve_error *error);

/* `config` is the configuration that was started; NULL = the one that is started, or what an
 * options text started. VARVE_STATE: nothing is started. VARVE_INVALID: another configuration is
 * started. */
VARVE_API enum varve_code varve_profiling_stop(const struct varve_profiling_config *config,
                                               struct varve_error *error);

/* Returns "in effect" or "accepted, no effect here: …why"; NULL if neither the call's options nor
 * the environment's have `key`. Static storage. */
VARVE_API const char *varve_profiling_option(const char *key);

/* ---- callbacks ---- */

enum varve_profiling_event {
    VARVE_PROFILING_INIT = 1, /* with the options                                              */
    VARVE_PROFILING_START,    /* with the configuration                                        */
    VARVE_PROFILING_STOP,
    VARVE_PROFILING_FINALIZE
};

enum varve_profiling_asker {
    VARVE_PROFILING_BY_PROGRAM = 1, /* a call of this interface                                */
    VARVE_PROFILING_BY_SCHEDULE,    /* the step that a schedule waited for                     */
    VARVE_PROFILING_BY_OUTSIDE      /* another process (varve start, stop, record --pid), or who
                                       began the recording: `varve record`, the environment    */
};

struct varve_profiling_command {
    uint32_t struct_size;       /* size of the struct in this libvarve                         */
    uint32_t event;             /* enum varve_profiling_event                                  */
    uint32_t layers;            /* layers recorded from now on; 0 = none                       */
    uint32_t device_count;
    const uint32_t *devices;    /* the configuration's; all pointers are valid during the call */
    const char *metrics;        /* the configuration's or the options'; NULL = none            */
    const char *options;        /* the options text; NULL = none                               */
    uint64_t time_ns;           /* the instant of the event, CLOCK_MONOTONIC                   */
    uint32_t asked_by;          /* enum varve_profiling_asker                                  */
    uint32_t asker_pid;         /* of another process that asked: its number; 0 = not known    */
    uint64_t missed;            /* switches before this one that nobody could be told of       */
    uint64_t switches;          /* the configuration's; 0 = none                               */
    /* end of ABI 0 */
};
typedef void varve_profiling_callback(const struct varve_profiling_command *command, void *context);

#define VARVE_PROFILING_CALLBACKS_MAX 16u

/* `callback` is called at each of the events above, each time once and in order. For calls of this
 * interface it is called on the thread that calls. If another process or a schedule switches
 * recording, it is told START, with the layers from then on, or STOP. It is then called on a thread
 * of the program at the next safe point: where a step begins or ends, where a record takes the
 * recorder's slow path, in varve_profiling_poll, or at the program's exit. Never in a signal
 * handler: a thread that blocks a signal which has a handler may be in one, so such a thread tells
 * in varve_profiling_poll alone. A callback that makes records may be called while a record is
 * begun; it must end the ranges that it begins. It is not called for varve_layers_set,
 * varve_session_start and varve_session_stop. If recording is initialised or something is recorded
 * already, the callback is called at once with INIT, then START. VARVE_EXISTS: the callback was
 * added already with this context. VARVE_LIMIT: there are too many callbacks. */
VARVE_API enum varve_code varve_profiling_callback_add(varve_profiling_callback *callback,
                                                       void *context, struct varve_error *error);
/* Tells the callbacks of switches that they have not been told of. One load and one branch if there
 * is nothing to tell, so a loop of the program may call it each time. */
static inline void varve_profiling_poll(void)
{
    if (VARVE_UNLIKELY((varve_steps_() & VARVE_STEPS_TOLD) != 0))
        varve_emit_told();
}

/* VARVE_NOT_FOUND: the callback was not added with this context. */
VARVE_API enum varve_code varve_profiling_callback_remove(varve_profiling_callback *callback,
                                                          void *context, struct varve_error *error);

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_CONTROL 1
#include "varve/unlinked.h"
#endif
#endif
