/* SPDX-License-Identifier: Apache-2.0 */
/* others.h — other recorders, as far as they are found. */
#ifndef VARVE_BENCH_OTHERS_H
#define VARVE_BENCH_OTHERS_H

#define BENCH_OTHERS 3

/* Loads those that were built into `folder`, and starts them. */
void bench_others_start(const char *folder);
/* `count` pairs of each that runs, as one more sample of it. */
void bench_others_sample(long count);
/* A row each, and ends them. */
void bench_others_print(double floor_ns);

#endif
