/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h — reads metrics of GPUs while a program runs, in a process of its own beside it.
 *
 * That process loads libvarve.so as the program does, and records into the same trace, so the
 * values are on the trace's clock. Its folder is one more process of the trace. It ends when this
 * process ends it, or is gone. A driver that hangs holds up neither the program nor this process.
 * Not thread-safe. */
#ifndef VV_CLI_METRICS_WATCH_H
#define VV_CLI_METRICS_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "cli/metrics/wishes.h"
#include "cli/recording/child.h"

#define VV_WATCH_MISSING_BYTES 400u

struct vv_metric_watch {
    pid_t pid;    /* 0 = there is none                                                           */
    int lifeline; /* that process ends when this is closed                                       */
    char missing[VV_WATCH_MISSING_BYTES]; /* what the trace does not have of them; "" = nothing  */
};

/* Begins, and waits until the first values are read. The `settings` are those of the program.
 * VARVE_UNSUPPORTED, VARVE_NOT_FOUND: there is no driver, or no GPU that the program may see; the
 * message says so. */
enum varve_code vv_metric_watch_begin(const struct vv_metric_wishes *wishes,
                                      const struct vv_child_setting *settings,
                                      size_t setting_count, struct vv_metric_watch *out_watch,
                                      struct varve_error *error);

/* Ends it, and waits. Returns whether the trace has a folder of that process. `missing` then also
 * says what is missing because the process ended early, or late. */
bool vv_metric_watch_end(struct vv_metric_watch *watch, const char *trace);

#endif
