/* SPDX-License-Identifier: Apache-2.0 */
/* options.c — see options.h. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "network.h"

static const char help[] =
    "usage: graphrun [options]\n"
    "Trains the network of examples/train as a graph: derives its backward pass, plans its\n"
    "memory, and runs it on streams of a device.\n"
    "\n"
    "  --steps N       training steps (60)\n"
    "  --batch N       samples in a step, of all processes together (32)\n"
    "  --seed N        of the samples and the first weights (1)\n"
    "  --held-out N    samples that the network is asked about at the end; 0 = none (512)\n"
    "  --every N       print the loss every N steps (10)\n"
    "  --network TEXT  other layers, such as 'conv2d 8 3 relu conv2d 8 3 add 2 linear 10':\n"
    "                  conv2d FEATURES SIDE, maxpool2d SIDE, linear FEATURES, relu, and add N,\n"
    "                  which adds the output of N layers before\n"
    "  --workers N     threads that run the operators (2)\n"
    "  --opencl        run on the first OpenCL device instead\n"
    "  --mpi           learn together with other processes: mpirun -n 2 graphrun --mpi\n"
    "  --plan FILE     write the memory plan as CSV, which varve report reads\n"
    "  --print-plan    print what the memory plan needs\n"
    "  --break-plan    let a tensor lie on another one, and print which; results will be wrong\n"
    "  --print-points  print where the streams mark the time, and why\n"
    "  --fp-point NODE, --bp-point NODE\n"
    "                  let forward start, and backward end, at these nodes\n"
    "  --times         print how long the device took for each operator\n"
    "  --watch         print how often each call of the runtime was made, and how long it took\n"
    "  --help          this text\n"
    "\n"
    "To see where its time goes:  varve record -- graphrun  and then  varve report\n";

/* Numbers first, then texts, then switches. */
enum { STEPS, BATCH, SEED, HELD_OUT, EVERY, WORKERS, NUMBER_COUNT, NETWORK = NUMBER_COUNT, PLAN,
       FP_POINT, BP_POINT, OPENCL, MPI, PRINT_PLAN, BREAK_PLAN, PRINT_POINTS, TIMES, WATCH, HELP };

static const struct option long_options[] = {
    { "steps", required_argument, NULL, STEPS },
    { "batch", required_argument, NULL, BATCH },
    { "seed", required_argument, NULL, SEED },
    { "held-out", required_argument, NULL, HELD_OUT },
    { "every", required_argument, NULL, EVERY },
    { "workers", required_argument, NULL, WORKERS },
    { "network", required_argument, NULL, NETWORK },
    { "plan", required_argument, NULL, PLAN },
    { "fp-point", required_argument, NULL, FP_POINT },
    { "bp-point", required_argument, NULL, BP_POINT },
    { "opencl", no_argument, NULL, OPENCL },
    { "mpi", no_argument, NULL, MPI },
    { "print-plan", no_argument, NULL, PRINT_PLAN },
    { "break-plan", no_argument, NULL, BREAK_PLAN },
    { "print-points", no_argument, NULL, PRINT_POINTS },
    { "times", no_argument, NULL, TIMES },
    { "watch", no_argument, NULL, WATCH },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

static const struct {
    uint64_t least, greatest;
} numbers[NUMBER_COUNT] = {
    [STEPS] = { 1, 1000000 },  [BATCH] = { 1, 4096 },    [SEED] = { 0, UINT64_MAX },
    [HELD_OUT] = { 0, 65536 }, [EVERY] = { 1, 1000000 }, [WORKERS] = { 1, 64 },
};

static bool parse_number(int option, uint64_t *out_number)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(optarg, &end, 10);
    if (!isdigit((unsigned char)optarg[0]) || *end != '\0' || errno != 0 ||
        number < numbers[option].least || number > numbers[option].greatest)
        return refuse("--%s wants a number from %" PRIu64 " to %" PRIu64 ", not '%s'",
                      long_options[option].name, numbers[option].least, numbers[option].greatest,
                      optarg);
    *out_number = number;
    return true;
}

static bool take_option(int option, const char *argument, struct options *options)
{
    const char **const texts[] = {
        [NETWORK] = &options->network,
        [PLAN] = &options->plan,
        [FP_POINT] = &options->fp_point,
        [BP_POINT] = &options->bp_point,
    };
    bool *const switches[] = {
        [OPENCL] = &options->use_opencl,           [MPI] = &options->is_parallel,
        [PRINT_PLAN] = &options->print_plan,       [BREAK_PLAN] = &options->break_plan,
        [PRINT_POINTS] = &options->print_points,   [TIMES] = &options->print_times,
        [WATCH] = &options->watch,
    };
    uint64_t *const places[NUMBER_COUNT] = {
        [STEPS] = &options->steps,       [BATCH] = &options->batch, [SEED] = &options->seed,
        [HELD_OUT] = &options->held_out, [EVERY] = &options->every, [WORKERS] = &options->workers,
    };
    if (option >= 0 && option < NUMBER_COUNT)
        return parse_number(option, places[option]);
    if (option >= NETWORK && option <= BP_POINT)
        *texts[option] = optarg;
    else if (option >= OPENCL && option <= WATCH)
        *switches[option] = true;
    else if (option == ':')
        return refuse("%s wants a value; graphrun --help says which", argument);
    else
        return refuse("unknown option '%s'; graphrun --help lists them all", argument);
    return true;
}

enum options_result options_parse(int argc, char **argv, struct options *out_options)
{
    struct options options = { .steps = 60,
                               .batch = 32,
                               .seed = 1,
                               .held_out = 512,
                               .every = 10,
                               .workers = 2,
                               .network = NETWORK_OF_TRAIN };
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        if (option == HELP) {
            fputs(help, stdout);
            return OPTIONS_HELP;
        }
        if (!take_option(option, argv[optind - 1], &options))
            return OPTIONS_WRONG;
    }
    if (optind < argc) {
        refuse("'%s' is no option; graphrun --help lists them all", argv[optind]);
        return OPTIONS_WRONG;
    }
    *out_options = options;
    return OPTIONS_RUN;
}
