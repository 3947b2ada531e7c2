/* SPDX-License-Identifier: Apache-2.0 */
/* own_floor.h — parts of reading a trace of ours, each alone: what any reader does that makes such
 * columns. And what of the work of two threads only one of them can do.
 *
 * Each function returns seconds; 0: it cannot be done here. */
#ifndef VARVE_BENCH_OWN_FLOOR_H
#define VARVE_BENCH_OWN_FLOOR_H

#include <stddef.h>

#include "base/workers.h"

/* Copies the streams of a trace into one buffer, a packet at a time. */
double bench_own_copy_s(const char *path);
/* Finds each record of the streams, which lie in memory already: its class, its length, its instant
 * in nanoseconds, and the sum of its words. Ends find their begins, and rows of ranges are made and
 * not kept. */
double bench_own_walk_s(const char *path);
/* The same. And operators are known again whose tensors are as those of one before, because such
 * operators share rows; and each release finds its allocation, which says how much it gives
 * back. */
double bench_own_know_s(const char *path);
/* Takes so much memory from the system in large pages, and writes all of it. */
double bench_own_write_s(double bytes);

/* Processor seconds of this thread inside of vv_workers_run so far: the linker puts this function
 * in its place (--wrap). */
extern double bench_shared_s;
void __wrap_vv_workers_run(unsigned threads, size_t pieces, vv_work *work, void *context);
void __real_vv_workers_run(unsigned threads, size_t pieces, vv_work *work, void *context);

/* Processor seconds of this thread. */
double bench_thread_s(void);

#endif
