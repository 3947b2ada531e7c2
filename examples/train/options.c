/* SPDX-License-Identifier: Apache-2.0 */
/* options.c — see options.h. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: train [options]\n"
    "Trains a small convolutional network on digits that it draws itself.\n"
    "\n"
    "  --steps N          training steps in all (60)\n"
    "  --batch N          samples in a step (32)\n"
    "  --seed N           of the samples and the first weights (1)\n"
    "  --checkpoint FILE  write the run's state to FILE every 20 steps and at the end\n"
    "  --resume FILE      go on from a checkpoint, with its seed and batch\n"
    "  --threads N        threads of OpenBLAS (1)\n"
    "  --graph            print which operator of a step reads what another one made, and end\n"
    "  --help             this text\n"
    "\n"
    "To see where its time goes:  varve record -- train  and then  varve report\n";

enum { STEPS = 1, BATCH, SEED, THREADS, CHECKPOINT, RESUME, GRAPH, HELP };

static const struct option long_options[] = {
    { "steps", required_argument, NULL, STEPS },
    { "batch", required_argument, NULL, BATCH },
    { "seed", required_argument, NULL, SEED },
    { "threads", required_argument, NULL, THREADS },
    { "checkpoint", required_argument, NULL, CHECKPOINT },
    { "resume", required_argument, NULL, RESUME },
    { "graph", no_argument, NULL, GRAPH },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

static bool parse_number(const char *name, uint64_t least, uint64_t greatest, uint64_t *out_number)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(optarg, &end, 10);
    bool valid = isdigit((unsigned char)optarg[0]) && *end == '\0' && errno == 0 &&
                 number >= least && number <= greatest;
    if (valid)
        *out_number = number;
    else
        fprintf(stderr, "train: --%s wants a number from %" PRIu64 " to %" PRIu64 ", not '%s'\n",
                name, least, greatest, optarg);
    return valid;
}

static bool take_option(int option, const char *argument, struct options *options)
{
    switch (option) {
    case STEPS:
        return parse_number("steps", 1, STEPS_MAX, &options->steps);
    case BATCH:
        return parse_number("batch", 1, BATCH_MAX, &options->batch);
    case SEED:
        return parse_number("seed", 0, UINT64_MAX, &options->seed);
    case THREADS:
        return parse_number("threads", 1, THREADS_MAX, &options->threads);
    case CHECKPOINT:
        options->checkpoint = optarg;
        return true;
    case RESUME:
        options->resume = optarg;
        return true;
    case GRAPH:
        options->graph = true;
        return true;
    case ':':
        fprintf(stderr, "train: %s wants a value; train --help says which\n", argument);
        return false;
    default:
        if (isgraph(optopt)) /* a letter; it may stand in the middle of its argument */
            fprintf(stderr, "train: unknown option '-%c'; train --help lists them all\n", optopt);
        else
            fprintf(stderr, "train: unknown option '%s'; train --help lists them all\n", argument);
        return false;
    }
}

enum options_result options_parse(int argc, char **argv, struct options *out_options)
{
    struct options options = { .steps = 60, .batch = 32, .seed = 1, .threads = 1 };
    bool fixed_by_resume = false;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        if (option == HELP) {
            fputs(help, stdout);
            return OPTIONS_HELP;
        }
        if (!take_option(option, argv[optind - 1], &options))
            return OPTIONS_WRONG;
        fixed_by_resume |= option == BATCH || option == SEED;
    }
    if (optind < argc) {
        fprintf(stderr, "train: '%s' is no option; train --help lists them all\n", argv[optind]);
        return OPTIONS_WRONG;
    }
    if (options.resume != NULL && fixed_by_resume) {
        fprintf(stderr, "train: --resume takes seed and batch from its file; "
                        "leave --seed and --batch out\n");
        return OPTIONS_WRONG;
    }
    *out_options = options;
    return OPTIONS_RUN;
}
