/* SPDX-License-Identifier: Apache-2.0 */
/* outside.h — where the run went: in steps, and outside of them.
 *
 * Law: the parts of the run sum to its duration. Thread-compatible. */
#ifndef VV_ANALYSE_TRACE_OUTSIDE_H
#define VV_ANALYSE_TRACE_OUTSIDE_H

#include "model/model.h"

/* The parts in order of priority: an instant belongs to the first that it lies in. */
enum vv_run_part {
    VV_RUN_STEPS,     /* steps other than warm-up                                               */
    VV_RUN_COMPILE,   /* on the steps' thread: compilers, which also make steps warm-up         */
    VV_RUN_WARM_UP,   /* warm-up steps                                                          */
    VV_RUN_START,     /* before the first record of the thread: start, imports                  */
    VV_RUN_DATA,      /* waits for data                                                         */
    VV_RUN_OPERATORS, /* operators, calls and collectives, such as those of an evaluation       */
    VV_RUN_REST,      /* nothing recorded, or frames of Python alone                            */
    VV_RUN_PARTS
};

/* Of the thread that spends most time in steps; of equal threads, the one that begins first.
 * *out_has_steps: false if no thread has any; then out_ns is not written. */
enum varve_code vv_run_parts(const struct vv_model *model, struct vv_scratch *scratch,
                             bool *out_has_steps, int64_t out_ns[VV_RUN_PARTS],
                             struct varve_error *error);

/* "20.2 s of 61.1 s in steps; else warm-up 6.20 s, …": parts that take less than 0.5 % of the run
 * are left out. */
void vv_run_parts_text(const int64_t parts_ns[VV_RUN_PARTS], char *text, size_t bytes);

#endif
