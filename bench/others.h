/* SPDX-License-Identifier: Apache-2.0 */
/* others.h — other recorders, as far as they are found. */
#ifndef VARVE_BENCH_OTHERS_H
#define VARVE_BENCH_OTHERS_H

#define BENCH_OTHERS 3

struct bench_other;

/* Where this program was built: FOLDER/NAME, and FOLDER/others/NAME.so. Loads those that were built
 * there, and starts them. */
void bench_others_start(void);
/* PyTorch's RecordFunction alone, not started. NULL: *out_why says why. */
const struct bench_other *bench_others_torch(const char **out_why);
/* `count` pairs of each that runs, as one more sample of it. */
void bench_others_sample(long count);
/* A row each, and ends them. */
void bench_others_print(double floor_ns);

#endif
