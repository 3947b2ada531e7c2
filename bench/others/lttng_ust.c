/* SPDX-License-Identifier: Apache-2.0 */
/* lttng_ust.c — LTTng-UST: two events a pair, with a number each, per-user buffers, its consumer
 * writing to /tmp. Starts a session daemon of its own if none runs, and ends what it started. */
#define TRACEPOINT_DEFINE
#define TRACEPOINT_CREATE_PROBES
#include "others/lttng_events.h"

#include <stdlib.h>
#include <time.h>

#include "others/other.h"

#define SESSION "varve-bench"
#define FOLDER_VARIABLE "VARVE_BENCH_LTTNG" /* how the commands are told the folder */
#define FOLDER "\"$" FOLDER_VARIABLE "\""

static const char start_commands[] =
    "( { lttng --no-sessiond list || lttng-sessiond --daemonize --pidfile=" FOLDER "/pid; } &&"
    "  lttng create " SESSION " --output=" FOLDER "/trace &&"
    "  lttng enable-channel -u -s " SESSION " --subbuf-size=1M --num-subbuf=8 all &&"
    "  lttng enable-event -u -s " SESSION " -c all 'varve_bench:*' &&"
    "  lttng start " SESSION " ) >/dev/null 2>&1";
static const char stop_commands[] =
    "( lttng destroy " SESSION "; [ ! -f " FOLDER "/pid ] || kill $(cat " FOLDER "/pid);"
    "  rm -rf " FOLDER " ) >/dev/null 2>&1";

static void stop(void)
{
    if (system(stop_commands) != 0)
        return; /* nothing to add: it was told to end */
}

/* The daemon tells us which events are on some time later. */
static const char *start(void)
{
    static char folder[] = "/tmp/varve-bench-XXXXXX";
    if (mkdtemp(folder) == NULL || setenv(FOLDER_VARIABLE, folder, 1) != 0)
        return "it cannot make a folder in /tmp";
    if (system(start_commands) != 0) {
        stop();
        return "lttng could not start a session: try  lttng create";
    }
    for (int i = 0; i < 500; i++) {
        if (tracepoint_enabled(varve_bench, begin) && tracepoint_enabled(varve_bench, end))
            return NULL;
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    }
    stop();
    return "its session daemon did not turn the events on within 5 s";
}

static void run(long count)
{
    for (long i = 0; i < count; i++) {
        tracepoint(varve_bench, begin, 1);
        __asm__ volatile("" ::: "memory");
        tracepoint(varve_bench, end, 1);
        __asm__ volatile("" ::: "memory");
    }
}

const struct bench_other bench_other = { "u32 payload", start, run, stop };
