/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h — what needs more than one thread to be measured. */
#ifndef VARVE_BENCH_THREADS_H
#define VARVE_BENCH_THREADS_H

#include "sampling.h"

/* `run` on two threads at once; the mean over both of what one operation took its thread.
 * Interleaved with the same on one thread. Returns 0 or an errno number. */
int bench_two_threads(void (*run)(long count), long count, struct bench_samples *out_one,
                      struct bench_samples *out_two);

/* What the first record of a thread takes it, in microseconds, for as many threads as out_us holds;
 * each begins when the one before has ended. Returns 0 or an errno number. */
int bench_first_event(struct bench_samples *out_us);

#endif
