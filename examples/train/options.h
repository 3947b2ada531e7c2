/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — the command line of train. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define STEPS_MAX 1000000
#define BATCH_MAX 4096
#define THREADS_MAX 256

struct options {
    uint64_t steps; /* in all, those before --resume included; 1..STEPS_MAX */
    uint64_t batch; /* samples in a step; 1..BATCH_MAX */
    uint64_t seed;
    uint64_t threads;       /* of OpenBLAS; 1..THREADS_MAX */
    const char *checkpoint; /* file to write, or NULL */
    bool graph;             /* print the edges of its data, and end */
    const char *resume;     /* file to go on from, or NULL; it decides batch and seed */
};

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_WRONG };

/* OPTIONS_HELP: the help was printed. OPTIONS_WRONG: one line on stderr says what is wrong. */
enum options_result options_parse(int argc, char **argv, struct options *out_options);

#endif
