/* SPDX-License-Identifier: Apache-2.0 */
/* loops.h — what is measured: each function does the same thing `count` times. */
#ifndef VARVE_BENCH_LOOPS_H
#define VARVE_BENCH_LOOPS_H

#include <stdbool.h>

#include "varve/error.h"

void bench_run_empty(long count);
void bench_run_floor(long count);    /* two bare reads of the clock                             */
void bench_run_range(long count);    /* varve_begin, varve_end                                  */
/* varve_execute_begin, varve_execute_end, of a graph that must be registered first */
void bench_register_graph(void);
void bench_run_execute(long count);
void bench_run_next(long count);     /* varve_next, in an open range                            */
void bench_run_argument(long count); /* varve_arg_i64 in an open range                         */
void bench_run_collective(long count); /* varve_collective, likewise                            */
void bench_run_outputs(long count); /* varve_op with four inputs and an output, likewise       */
void bench_run_operator(long count); /* a range, and varve_op with four inputs of rank 4        */
void bench_run_plain_operator(long count); /* a range, and varve_op that has no inputs           */

/* varve_activity, varve_launch in an open range, and varve_device_begin and _end of backend host,
 * of a device that must be added first. */
bool bench_add_device(struct varve_error *error);
void bench_run_activity(long count);
void bench_run_launch(long count);
void bench_run_device_work(long count);

/* Some 100 ns of work that needs the result of the work before, inside and outside. */
void bench_calibrate_work(void);
void bench_run_work(long count);
void bench_run_work_floor(long count);
void bench_run_work_range(long count);

/* In a shared library of its own: off_site.c. */
void bench_run_library_range(long count);

#endif
