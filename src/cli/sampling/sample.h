/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h — where a program's processor time goes, by instruction: for kernels that let nobody use
 * perf. The program runs under ptrace. 1000 times a second each of its threads that has run since
 * is stopped, and its instruction pointer and processor time are read: nothing else is done to it,
 * and nothing of ours is in it. Children are sampled, too.
 *
 * A sample stands for the time that its thread has run since its last one, by the scheduler's own
 * account. Only functions that run are seen, not their callers. One call at a time. */
#ifndef VV_CLI_SAMPLING_SAMPLE_H
#define VV_CLI_SAMPLING_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

struct vv_sample {
    int64_t time_ns;     /* CLOCK_MONOTONIC                                                     */
    int64_t period_ns;   /* of the processor                                                    */
    pid_t pid, tid;
    uint32_t command;    /* row in names                                                        */
    uint32_t object;     /* row in names: the file that holds the instruction; 0 = none           */
    uint64_t address;    /* as the file's own tables count; in no file: in memory                */
};

struct vv_samples {
    struct vv_sample *items;
    size_t count, capacity;
    char **names;        /* the first is ""                                                     */
    size_t name_count, name_capacity;
    int64_t period_ns;   /* of all                                                              */
};

/* Runs the program to its end. *out_status is as waitpid says. VARVE_NOT_FOUND: it cannot be
 * started; VARVE_UNSUPPORTED: this kernel lets nobody look at it, and it did not run. */
enum varve_code vv_sample_run(char *const *command, struct vv_samples *out_samples,
                              int *out_status, struct varve_error *error);
void vv_samples_deinit(struct vv_samples *samples); /* of a zeroed one, too */

/* Row of a name; UINT32_MAX: no memory. */
uint32_t vv_sample_name(struct vv_samples *samples, const char *name, size_t length);

/* Writes them as `perf script -F comm,pid,tid,time,period,event,ip,sym,srcline` does. Functions and
 * lines are those of addr2line; *out_has_lines is false if there is no such program. */
enum varve_code vv_samples_write(const struct vv_samples *samples, FILE *out, bool *out_has_lines,
                                 struct varve_error *error);

#endif
