/* SPDX-License-Identifier: Apache-2.0 */
/* errno_kept.c — calls every function of varve.h and control.h, and prints those that changed
 * errno.
 *
 * errno_kept FOLDER SITUATION: on a new thread for each round, so that each round begins with slow
 * paths; FOLDER is the output of the sessions that the program starts itself. SITUATION:
 *     plain    nothing special         closed   no descriptor can be had
 *     removed  the folder that VARVE_OUTPUT names is removed after the first round
 * Exit status 0: errno was kept always. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "varve/control.h"
#include "varve/varve.h"

#define MARKER 4711
#define ROUNDS 3

#define KEEPS(call)                                     \
    do {                                                \
        errno = MARKER;                                 \
        call;                                           \
        if (errno != MARKER) {                          \
            printf("%s: %s\n", #call, strerror(errno)); \
            changes++;                                  \
        }                                               \
    } while (0)

VARVE_SITE(range, "range", VARVE_LAYER_OP);
VARVE_SITE(second, "second", VARVE_LAYER_OP);
VARVE_SITE(counter, "counter", VARVE_LAYER_METRIC);
VARVE_SITE(copy, "copy", VARVE_LAYER_COMM);

static int changes;
static const char *output;

static void on_command(const struct varve_profiling_command *command, void *context)
{
    (void)command;
    (void)context;
}

static void records(int round)
{
    const struct varve_op_info info = VARVE_OP_INFO_INIT;
    char name[32];
    snprintf(name, sizeof name, "name %d", round);
    KEEPS(varve_step_begin(round));
    KEEPS(varve_begin(&range));
    KEEPS(varve_op(&info));
    KEEPS(varve_next(&second));
    KEEPS(varve_mark(&second));
    KEEPS(varve_end());
    KEEPS(varve_begin_name(name, VARVE_LAYER_OP));
    KEEPS(varve_end());
    KEEPS(varve_counter(&counter, 1.0));
    KEEPS(varve_async_begin(&copy, 1));
    KEEPS(varve_async_end(&copy, 1));
    KEEPS(varve_flow_out(&copy, 1));
    KEEPS(varve_flow_in(&copy, 1));
    KEEPS(varve_alloc(&info, 1, VARVE_DEVICE_CPU));
    KEEPS(varve_free(&info, VARVE_DEVICE_CPU));
    KEEPS(varve_step_end());
    KEEPS(varve_thread_name(name));
    KEEPS(varve_process_name(name));
    KEEPS(varve_layers_set(varve_layers_set(0)));
    KEEPS((void)varve_version());
    for (int i = 0; i < 20000; i++) { /* packets are exchanged */
        KEEPS(varve_begin(&range));
        KEEPS(varve_end());
    }
}

static void sessions(void)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT,
                                 nowhere = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    options.output = output;
    nowhere.output = "/proc/no/such/place.varve";
    KEEPS(varve_session_stop(&error));
    KEEPS(varve_session_start(&nowhere, &error));
    for (int i = 0; i < 2; i++) {
        KEEPS(varve_session_start(&options, &error));
        KEEPS(varve_session_start(&options, &error));
        records(i);
        KEEPS(varve_session_stop(&error));
    }
}

static void profiling(void)
{
    struct varve_profiling_settings settings = VARVE_PROFILING_SETTINGS_INIT;
    const struct varve_profiling_entry misspelt = { "ge.exec.profilingMod", "1" };
    struct varve_profiling_config *config = NULL;
    struct varve_error error;
    KEEPS(varve_profiling_finalize(&error));
    KEEPS(varve_profiling_callback_add(on_command, NULL, &error));
    KEEPS(varve_profiling_callback_add(on_command, NULL, &error));
    KEEPS(varve_profiling_poll());
    KEEPS(varve_emit_told());
    KEEPS(varve_profiling_init_options("{\"output\": 1}", &error));
    KEEPS(varve_profiling_init_map(&misspelt, 1, &error));
    KEEPS(varve_profiling_init("/proc/no/such/place.varve", &error));
    KEEPS(varve_profiling_config_create(&settings, &config, &error));
    KEEPS(varve_profiling_start(config, &error));
    KEEPS(varve_profiling_finalize(&error));
    KEEPS(varve_profiling_init(output, &error));
    for (int i = 0; i < 2; i++) {
        KEEPS(varve_profiling_start(config, &error));
        KEEPS(varve_profiling_start(config, &error));
        records(i);
        KEEPS(varve_profiling_stop(config, &error));
        KEEPS(varve_profiling_stop(config, &error));
    }
    KEEPS((void)varve_profiling_option("output"));
    KEEPS(varve_profiling_finalize(&error));
    KEEPS(varve_profiling_config_destroy(config, &error));
    KEEPS(varve_profiling_callback_remove(on_command, NULL, &error));
}

static void *run(void *round)
{
    records(*(int *)round);
    sessions();
    profiling();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 3)
        return 2;
    output = argv[1];
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (strcmp(argv[2], "closed") == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 3, 3 });
    for (int round = 0; round < ROUNDS; round++) {
        if (pthread_create(&thread, NULL, run, &round) != 0 || pthread_join(thread, NULL) != 0)
            return 99;
        if (strcmp(argv[2], "removed") == 0 && system("rm -rf \"$VARVE_OUTPUT\"") != 0)
            return 99;
    }
    return changes == 0 ? 0 : 1;
}
