/* SPDX-License-Identifier: Apache-2.0 */
/* control_cell.c — one cell of tests/programs/control_matrix.c: brings the process into a state,
 * makes a call that switches recording, records, makes it once more, and records again. Loaded
 * after libvarve.so, which has read the environment by then. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "varve/control.h"

VARVE_SITE(before, "before", VARVE_LAYER_OP); /* in the state                                    */
VARVE_SITE(after, "after", VARVE_LAYER_OP);   /* after the first call                            */
VARVE_SITE(last, "last", VARVE_LAYER_OP);     /* after the second                                */

static struct varve_profiling_config *config;

static void record(struct varve_site *site)
{
    static _Thread_local int64_t step;
    varve_step_begin(step++);
    for (int i = 0; i < 3; i++) {
        varve_begin(site);
        varve_end();
    }
    varve_step_end();
}

/* ---- the calls ---- */

static enum varve_code begin_at(const char *output, struct varve_error *error)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = output;
    return varve_session_start(&options, error);
}

static enum varve_code profiling_init(struct varve_error *error)
{
    return varve_profiling_init("init.varve", error);
}

static enum varve_code profiling_init_default(struct varve_error *error)
{
    return varve_profiling_init(NULL, error);
}

static enum varve_code options(struct varve_error *error)
{
    return varve_profiling_init_options("{\"output\": \"options.varve\"}", error);
}

static enum varve_code options_keep(struct varve_error *error)
{
    return varve_profiling_init_options("{\"output\": \"options.varve\", \"keep\": \"1MB\"}",
                                        error);
}

static enum varve_code options_schedule(struct varve_error *error)
{
    return varve_profiling_init_options(
        "{\"output\": \"options.varve\", \"active\": 1, \"skip\": 1}", error);
}

static enum varve_code options_of_environment(struct varve_error *error)
{
    return varve_profiling_init_options(NULL, error);
}

static enum varve_code options_of_map(struct varve_error *error)
{
    const struct varve_profiling_entry map[] = {
        { "ge.exec.deviceId", "0" }, { "ge.exec.profilingMode", "1" },
        { "ge.exec.profilingOptions", "{\"output\": \"options.varve\"}" },
    };
    return varve_profiling_init_map(map, sizeof map / sizeof map[0], error);
}

static enum varve_code options_wrong(struct varve_error *error)
{
    return varve_profiling_init_options("{\"output\": \"options.varve\", \"keep\": \"never\"}",
                                        error);
}

static enum varve_code create(struct varve_error *error)
{
    struct varve_profiling_config *another = NULL;
    enum varve_code code = varve_profiling_config_create(NULL, &another, error);
    varve_profiling_config_destroy(another, NULL);
    return code;
}

static enum varve_code create_wrong(struct varve_error *error)
{
    struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
    struct varve_profiling_config *another = NULL;
    settings.metrics = "PipeUtilisation";
    return varve_profiling_config_create(&settings, &another, error);
}

/* Of the configuration that all calls share: the next one makes another. */
static enum varve_code destroy(struct varve_error *error)
{
    enum varve_code code = varve_profiling_config_destroy(config, error);
    if (code == VARVE_OK)
        config = NULL;
    return code;
}

static enum varve_code start(struct varve_error *error)
{
    return varve_profiling_start(config, error);
}

static enum varve_code stop(struct varve_error *error)
{
    return varve_profiling_stop(NULL, error);
}

static enum varve_code stop_of(struct varve_error *error)
{
    return varve_profiling_stop(config, error);
}

/* All of it in the right order: fails where the first call does. */
static enum varve_code in_order(struct varve_error *error)
{
    enum varve_code code = varve_profiling_init("order.varve", error);
    if (code == VARVE_OK)
        code = varve_profiling_start(config, error);
    record(&after);
    if (code == VARVE_OK)
        code = varve_profiling_stop(config, error);
    if (code == VARVE_OK)
        code = varve_profiling_finalize(error);
    return code;
}

static enum varve_code option(struct varve_error *error)
{
    (void)error;
    const char *effect = varve_profiling_option("output");
    return effect == NULL || strcmp(effect, "in effect") == 0 ||
                   strstr(effect, "`varve record` decides") != NULL
               ? VARVE_OK
               : VARVE_INTERNAL;
}

/* No steps: a schedule would count them. */
static void on_command(const struct varve_profiling_command *command, void *context)
{
    (void)command, (void)context;
    for (int i = 0; i < 3; i++) {
        varve_begin(&after);
        varve_end();
    }
    if (varve_profiling_finalize(NULL) != VARVE_STATE) /* not from a callback */
        abort();
}

static enum varve_code add(struct varve_error *error)
{
    return varve_profiling_callback_add(on_command, &config, error);
}

static enum varve_code take_out(struct varve_error *error)
{
    return varve_profiling_callback_remove(on_command, &config, error);
}

static enum varve_code poll_for_switches(struct varve_error *error)
{
    (void)error;
    varve_profiling_poll();
    return VARVE_OK;
}

static enum varve_code session_start(struct varve_error *error)
{
    return begin_at("session.varve", error);
}

static enum varve_code session_start_default(struct varve_error *error)
{
    return varve_session_start(NULL, error);
}

static enum varve_code session_dump(struct varve_error *error)
{
    return varve_session_dump("dump.varve", error);
}

static enum varve_code session_dump_default(struct varve_error *error)
{
    return varve_session_dump(NULL, error);
}

static enum varve_code layers_all(struct varve_error *error)
{
    (void)error;
    varve_layers_set(VARVE_LAYER_ALL);
    return VARVE_OK;
}

static enum varve_code layers_none(struct varve_error *error)
{
    (void)error;
    varve_layers_set(0);
    return varve_layers() == 0 ? VARVE_OK : VARVE_INTERNAL;
}

static const struct call {
    const char *name;
    enum varve_code (*function)(struct varve_error *error);
} calls[] = {
    { "init", profiling_init },
    { "init-default", profiling_init_default },
    { "options", options },
    { "options-keep", options_keep },
    { "options-schedule", options_schedule },
    { "options-environment", options_of_environment },
    { "options-map", options_of_map },
    { "options-wrong", options_wrong },
    { "finalize", varve_profiling_finalize },
    { "config-create", create },
    { "config-create-wrong", create_wrong },
    { "config-destroy", destroy },
    { "start", start },
    { "stop", stop },
    { "stop-config", stop_of },
    { "in-order", in_order },
    { "option", option },
    { "callback-add", add },
    { "callback-remove", take_out },
    { "poll", poll_for_switches },
    { "session-start", session_start },
    { "session-start-default", session_start_default },
    { "session-stop", varve_session_stop },
    { "dump", session_dump },
    { "dump-default", session_dump_default },
    { "layers-all", layers_all },
    { "layers-none", layers_none },
};

static const struct call *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

/* ---- what each of them keeps ---- */

static const char *flaw_of(enum varve_code code, const struct varve_error *error,
                           const struct varve_error *former)
{
    const char *end = memchr(error->message, '\0', sizeof error->message);
    if (errno != EXFULL)
        return "errno is another";
    if (code == VARVE_OK)
        return memcmp(error, former, sizeof *error) == 0 ? NULL
                                                         : "the error is written without a failure";
    if (code != error->code)
        return "the error has another code";
    if (end == NULL || end < error->message + 8)
        return "no sentence";
    for (const char *byte = error->message; byte < end; byte++)
        if ((unsigned char)*byte < 0x20 || *byte == 0x7f)
            return "a control byte in the sentence";
    return NULL;
}

/* "CODE sentence". */
static void make(const struct call *call)
{
    struct varve_error error, former;
    memset(&error, 0x5a, sizeof error);
    memcpy(&former, &error, sizeof former);
    if (config == NULL && varve_profiling_config_create(NULL, &config, NULL) != VARVE_OK)
        abort();
    errno = EXFULL;
    enum varve_code code = call->function(&error);
    const char *flaw = flaw_of(code, &error, &former);
    printf("\t%d %s", (int)code, flaw != NULL ? "FLAW: " : "");
    printf("%s", flaw != NULL ? flaw : code != VARVE_OK ? error.message : "");
}

/* ---- the states ---- */

/* The rest of the cell happens in a forked child; its parent records, and ends as it does. */
static void go_on_in_child(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        return;
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    record(&last);
    exit(WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status));
}

static bool bring_into(const char *state)
{
    if (strcmp(state, "recorded") == 0 || strcmp(state, "paused") == 0 ||
        strcmp(state, "recorded-child") == 0)
        record(&before);
    if (strcmp(state, "paused") == 0)
        varve_layers_set(0);
    if (strcmp(state, "child") == 0 || strcmp(state, "recorded-child") == 0)
        go_on_in_child();
    return true;
}

__attribute__((visibility("default"))) int cell_run(bool begins, const char *state,
                                                    const char *first, const char *second);

/* `begins`: by varve_session_start. Prints, after a tabulator each, what the two calls returned. */
int cell_run(bool begins, const char *state, const char *first, const char *second)
{
    const struct call *one = find_call(first), *other = find_call(second);
    if (one == NULL || other == NULL || (begins && begin_at("began.varve", NULL) != VARVE_OK))
        return 3;
    bring_into(state);
    make(one);
    record(&after);
    make(other);
    record(&last);
    return 0;
}

/* ---- all at once ---- */

static void *switch_sessions(void *rounds)
{
    char output[32];
    for (long i = 0; i < *(const long *)rounds; i++) {
        snprintf(output, sizeof output, "session.%ld.varve", i % 2);
        begin_at(output, NULL);
        record(&before);
        varve_session_stop(NULL);
    }
    return NULL;
}

static bool is_over;

/* Until the others have done. */
static void *dump_sessions(void *unused)
{
    (void)unused;
    for (long i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
        char output[32];
        snprintf(output, sizeof output, "dump.%ld.varve", i % 3);
        varve_session_dump(i % 2 != 0 ? output : NULL, NULL);
    }
    return NULL;
}

/* Each round begins in another way: a file that grows, a ring, a schedule that counts steps. */
static void *profile(void *rounds)
{
    static enum varve_code (*const begin[])(struct varve_error *) = {
        profiling_init, options_keep, options_schedule, options
    };
    for (long i = 0; i < *(const long *)rounds; i++) {
        begin[i % 4](NULL);
        varve_profiling_start(config, NULL);
        varve_profiling_option("output");
        record(&after);
        varve_profiling_stop(config, NULL);
        varve_profiling_finalize(NULL);
    }
    return NULL;
}

static void *switch_layers(void *rounds)
{
    for (long i = 0; i < *(const long *)rounds; i++) {
        varve_layers_set(i % 2 != 0 ? VARVE_LAYER_OP : VARVE_LAYER_ALL);
        record(&last);
    }
    return NULL;
}

/* A thread that lives for one round: what it names is new to the session, or not. */
static void *live(void *round)
{
    char name[32];
    snprintf(name, sizeof name, "name %ld", *(const long *)round % 5);
    varve_thread_name(name);
    varve_begin_name(name, VARVE_LAYER_OP);
    varve_alloc(&name, sizeof name, 0);
    record(&before);
    varve_free(&name, 0);
    varve_end();
    return NULL;
}

static void *end_threads(void *rounds)
{
    for (long i = 0; i < *(const long *)rounds; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live, &i) == 0)
            pthread_join(thread, NULL);
    }
    return NULL;
}

static void hear(const struct varve_profiling_command *command, void *heard)
{
    (void)command;
    __atomic_fetch_add((long *)heard, 1, __ATOMIC_RELAXED);
}

static void *listen(void *rounds)
{
    static long heard;
    for (long i = 0; i < *(const long *)rounds; i++) {
        varve_profiling_callback_add(hear, &heard, NULL);
        varve_profiling_poll();
        record(&after);
        varve_profiling_callback_remove(hear, &heard, NULL);
    }
    return NULL;
}

__attribute__((visibility("default"))) int crowd_run(long rounds);

/* Threads that begin, end and switch, each `rounds` times, and dump all the while. */
int crowd_run(long rounds)
{
    static void *(*const roles[])(void *) = { switch_sessions, profile,     switch_layers,
                                              end_threads,     listen,      dump_sessions };
    enum { ROLES = sizeof roles / sizeof roles[0] };
    pthread_t threads[ROLES];
    varve_profiling_config_create(NULL, &config, NULL);
    for (size_t i = 0; i < ROLES; i++)
        if (pthread_create(&threads[i], NULL, roles[i], &rounds) != 0)
            return 3;
    for (size_t i = 0; i < ROLES - 1; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    pthread_join(threads[ROLES - 1], NULL);
    varve_profiling_config_destroy(config, NULL);
    return 0;
}
