/* SPDX-License-Identifier: Apache-2.0 */
/* loops.h — what is measured: each function does the same thing `count` times. */
#ifndef VARVE_BENCH_LOOPS_H
#define VARVE_BENCH_LOOPS_H

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

/* Some 100 ns of work that needs the result of the work before, inside and outside. */
void bench_calibrate_work(void);
void bench_run_work(long count);
void bench_run_work_floor(long count);
void bench_run_work_range(long count);

/* In a shared library of its own: off_site.c. */
void bench_run_library_range(long count);

#endif
