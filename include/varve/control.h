/* SPDX-License-Identifier: Apache-2.0 */
/* control.h — recording on demand, from inside the program: initialise, configure, start, stop, finalise.
 *
 *     struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
 *     struct varve_profiling_config *config;
 *     varve_profiling_init("train.varve", NULL);
 *     varve_profiling_config_create(&settings, &config, NULL);
 *     varve_profiling_start(config, NULL);   …   varve_profiling_stop(config, NULL);     as often as wanted
 *     varve_profiling_finalize(NULL);
 *     varve_profiling_config_destroy(config, NULL);
 *
 * or with an options text, which starts at once:
 *
 *     varve_profiling_init_options("{\"output\": \"train.varve\", \"training_trace\": \"on\"}", NULL);
 *     …
 *     varve_profiling_finalize(NULL);
 *
 * All of a process's starts go into one trace. A call in the wrong order returns VARVE_STATE, and its message
 * says the right one. Thread-safe; not from signal handlers, and not from a callback. doc/control.md has the
 * keys of the options text, the environment variables, and how other processes switch this one. */
#ifndef VARVE_CONTROL_H
#define VARVE_CONTROL_H

#include "varve/varve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- from beginning to end --------------------------------------------------------------------- */

/* Prepares recording into the trace folder `output` (NULL = "PROGRAM.varve"), which is made at the first
 * start. Goes before the environment: a recording that its options began ends here. VARVE_STATE if
 * initialised already, or recorded by `varve record` (without --paused). */
VARVE_API enum varve_code varve_profiling_init(const char *output, struct varve_error *error);

/* As varve_profiling_init, and starts recording what `options` say, a JSON text. NULL or "" = what the environment
 * says; where it says nothing, nothing starts. VARVE_INVALID: an unknown key or value; the message names the
 * nearest one. Nothing is begun then. */
VARVE_API enum varve_code varve_profiling_init_options(const char *options, struct varve_error *error);

/* Ends the trace. VARVE_STATE if not initialised, or not stopped after varve_profiling_start; what an options
 * text started is stopped. */
VARVE_API enum varve_code varve_profiling_finalize(struct varve_error *error);

/* ---- configurations ---------------------------------------------------------------------------- */

#define VARVE_PROFILING_DEVICES_MAX 64u

struct varve_profiling_settings {
    uint32_t struct_size;    /* sizeof(struct varve_profiling_settings)                        */
    uint32_t layers;         /* mask to record; 0 = VARVE_LAYER_ALL, or what the options said  */
    const uint32_t *devices; /* device_count of them, none twice; copied                       */
    uint32_t device_count;   /* at most VARVE_PROFILING_DEVICES_MAX; 0 = all there are         */
    uint32_t reserved;       /* 0                                                              */
    const char *metrics;     /* a value of the option aic_metrics, or NULL; copied             */
    /* end of ABI 0 */
};
#define VARVE_PROFILING_SETTINGS_INIT                                                               \
    { (uint32_t)sizeof(struct varve_profiling_settings), 0, NULL, 0, 0, NULL }

struct varve_profiling_config; /* immutable */

/* At any time, also before varve_profiling_init. `settings` may be NULL. *out_config belongs to the caller. */
VARVE_API enum varve_code varve_profiling_config_create(const struct varve_profiling_settings *settings,
                                                        struct varve_profiling_config **out_config,
                                                        struct varve_error *error);

/* NULL is allowed. VARVE_STATE while it is started. */
VARVE_API enum varve_code varve_profiling_config_destroy(struct varve_profiling_config *config,
                                                         struct varve_error *error);

/* VARVE_STATE if not initialised, or started already. */
VARVE_API enum varve_code varve_profiling_start(const struct varve_profiling_config *config,
                                                struct varve_error *error);

/* `config` is the one that was started; NULL = whichever it is, or what the options text started. VARVE_STATE
 * if nothing is; VARVE_INVALID if it is another. */
VARVE_API enum varve_code varve_profiling_stop(const struct varve_profiling_config *config,
                                               struct varve_error *error);

/* "in effect" or "accepted, no effect here: …why"; NULL if the options, of the call or the environment, did not
 * say `key`. Static storage. */
VARVE_API const char *varve_profiling_option(const char *key);

/* ---- being told ---------------------------------------------------------------------------------- */

enum varve_profiling_event {
    VARVE_PROFILING_INIT = 1, /* with the options                                              */
    VARVE_PROFILING_START,    /* with the configuration                                        */
    VARVE_PROFILING_STOP,
    VARVE_PROFILING_FINALIZE
};

struct varve_profiling_command {
    uint32_t struct_size;       /* as large as this libvarve knows it                          */
    uint32_t event;             /* enum varve_profiling_event                                  */
    uint32_t layers;            /* being recorded from now on; 0 = none                        */
    uint32_t device_count;
    const uint32_t *devices;    /* of the configuration; borrowed for the call, as all here    */
    const char *metrics;        /* of the configuration or the options; NULL = none            */
    const char *options;        /* the options text; NULL = none                               */
    /* end of ABI 0 */
};
typedef void varve_profiling_callback(const struct varve_profiling_command *command, void *context);

#define VARVE_PROFILING_CALLBACKS_MAX 16u

/* `callback` is called, on the thread that makes the call, at each of the events above. Added late it is told at
 * once what holds: INIT, then START. Switches by other processes and by schedules are not told: they are one
 * store; ask varve_layers(). VARVE_EXISTS: it is there with this context. VARVE_LIMIT: too many. */
VARVE_API enum varve_code varve_profiling_callback_add(varve_profiling_callback *callback, void *context,
                                                       struct varve_error *error);
/* VARVE_NOT_FOUND: it is not there. */
VARVE_API enum varve_code varve_profiling_callback_remove(varve_profiling_callback *callback, void *context,
                                                          struct varve_error *error);

#ifdef __cplusplus
}
#endif
#endif
