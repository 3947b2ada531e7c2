/* SPDX-License-Identifier: Apache-2.0 */
/* process.h — runs another program for a limited time. It may crash, hang, or start programs of its
 * own: when its time is over, all of them end. No shell is involved. Thread-compatible. */
#ifndef VV_MLIR_TUNE_PROCESS_H
#define VV_MLIR_TUNE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct vv_tune_process {
    const char *const *words; /* its path and its arguments; NULL at the end                    */
    const char *out_path;     /* file for its standard output; NULL = the same as log_path      */
    const char *log_path;     /* file for what it says on standard error                        */
    int64_t limit_ms;
    const volatile sig_atomic_t *stop; /* ends it as soon as this is not 0; or NULL              */
};

enum vv_tune_end { VV_TUNE_DONE, VV_TUNE_FAILED, VV_TUNE_CRASHED, VV_TUNE_TIMED_OUT,
                   VV_TUNE_STOPPED };

struct vv_tune_ended {
    enum vv_tune_end how;
    int number;       /* exit status, or signal                                                 */
    int64_t wall_ms;
};

/* Fails only if it cannot be started. */
enum varve_code vv_tune_run(const struct vv_tune_process *process, struct vv_tune_ended *out_ended,
                            struct varve_error *error);

#endif
