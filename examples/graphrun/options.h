/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — the command line of graphrun. */
#ifndef GRAPHRUN_OPTIONS_H
#define GRAPHRUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    uint64_t steps, batch, seed, held_out, every, workers;
    const char *network;
    const char *plan; /* file to write, or NULL */
    const char *fp_point, *bp_point; /* nodes, or NULL */
    bool use_opencl, is_parallel, break_plan, print_plan, print_points, print_times, watch;
};

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_WRONG };

/* OPTIONS_HELP: the help was printed. OPTIONS_WRONG: one line on stderr says what is wrong. */
enum options_result options_parse(int argc, char **argv, struct options *out_options);

#endif
