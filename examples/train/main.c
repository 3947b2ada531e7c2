/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — train: a small convolutional network learns digits, marked for Varve from end to end.
 *
 * Read this file for steps and phases, network.c for operators, loader.c for threads and flows,
 * buffer.c for memory. What it prints depends on the options alone, recorded or not. */
#include <inttypes.h>
#include <stdio.h>

#include <cblas.h>
#include <varve/varve.h>

#include "checkpoint.h"
#include "loader.h"
#include "network.h"
#include "optimizer.h"
#include "options.h"

#define STEPS_PER_LINE 10
#define STEPS_PER_CHECKPOINT 20
#define HELD_OUT_SAMPLES 512
#define HELD_OUT_BATCH 64

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct training {
    struct options options;
    struct network network;
    struct optimizer optimizer;
    struct loader loader;
    int64_t first_step; /* 1, or the one after the checkpoint's */
    int64_t last_step;
};

static struct checkpoint checkpoint_of(const struct training *training, int64_t step)
{
    return (struct checkpoint){
        .seed = training->options.seed,
        .step = step,
        .batch = (int64_t)training->options.batch,
        .count = training->network.parameter_count,
        .parameters = training->network.parameters,
        .velocity = training->optimizer.velocity,
    };
}

static bool is_due(const struct training *training, int64_t step, int64_t period)
{
    return step % period == 0 || step == training->last_step;
}

/* The work of a step on its batch, phase by phase. The phase "data" is open on entry, the last one
 * on return: varve_step_end closes it. False = no memory. */
static bool learn(struct training *training, const struct batch *batch, double *out_loss)
{
    VARVE_SITE(forward, "forward", VARVE_LAYER_STEP);
    VARVE_SITE(backward, "backward", VARVE_LAYER_STEP);
    VARVE_SITE(optimizer, "optimizer", VARVE_LAYER_STEP);
    struct pass pass;

    varve_next(&forward);
    if (!network_forward(&training->network, batch, &pass))
        return false;
    bool learned = pass_loss(&pass, out_loss);

    varve_next(&backward);
    learned = learned && network_backward(&training->network, &pass);
    pass_deinit(&pass);

    varve_next(&optimizer);
    if (learned)
        optimizer_apply(&training->optimizer, &training->network);
    return learned;
}

static bool run_step(struct training *training, int64_t step)
{
    VARVE_SITE(data, "data", VARVE_LAYER_STEP);
    VARVE_SITE(write_checkpoint, "write_checkpoint", VARVE_LAYER_STEP);
    VARVE_SITE(loss_counter, "loss", VARVE_LAYER_METRIC);
    struct batch batch;
    double loss = 0.0;

    varve_step_begin(step);
    varve_begin(&data);
    bool done = loader_take(&training->loader, &batch);
    if (done) {
        done = learn(training, &batch, &loss);
        batch_deinit(&batch);
    }
    if (!done) {
        varve_step_end();
        fprintf(stderr, "train: out of memory in step %" PRId64 "; try a smaller --batch\n", step);
        return false;
    }
    varve_counter(&loss_counter, loss);
    if (training->options.checkpoint != NULL && is_due(training, step, STEPS_PER_CHECKPOINT)) {
        varve_next(&write_checkpoint);
        struct checkpoint checkpoint = checkpoint_of(training, step);
        done = checkpoint_write(&checkpoint, training->options.checkpoint);
    }
    varve_step_end();
    if (is_due(training, step, STEPS_PER_LINE))
        printf("step %3" PRId64 "  loss %.4f\n", step, loss);
    return done;
}

static bool run_steps(struct training *training)
{
    const struct loader_plan plan = {
        .seed = training->options.seed,
        .count = training->options.batch,
        .ranks = 1,
        .first = training->first_step - 1, /* batch 0 is step 1's */
        .end = training->last_step,
    };
    if (!loader_start(&training->loader, &plan)) {
        perror("train: cannot start the loader thread");
        return false;
    }
    bool done = true;
    for (int64_t step = training->first_step; step <= training->last_step && done; step++)
        done = run_step(training, step);
    loader_stop(&training->loader);
    return done;
}

/* Prints how often the network is right about samples that it was not trained on. */
static bool evaluate(struct training *training)
{
    VARVE_SCOPE_LAYER("evaluate", VARVE_LAYER_API);
    int correct = 0;
    for (int first = 0; first < HELD_OUT_SAMPLES; first += HELD_OUT_BATCH) {
        struct batch batch;
        struct pass pass;
        if (!batch_init(&batch, training->options.seed, HELD_OUT_FIRST + (uint64_t)first,
                        HELD_OUT_BATCH))
            goto no_memory;
        bool ran = network_forward(&training->network, &batch, &pass);
        if (ran) {
            correct += pass_correct(&pass);
            pass_deinit(&pass);
        }
        batch_deinit(&batch);
        if (!ran)
            goto no_memory;
    }
    printf("held-out accuracy %.1f %% of %d\n", 100.0 * correct / HELD_OUT_SAMPLES,
           HELD_OUT_SAMPLES);
    return true;

no_memory:
    fprintf(stderr, "train: out of memory in the evaluation\n");
    return false;
}

/* Puts the run into the state of the checkpoint that --resume names. */
static int resume(struct training *training)
{
    const char *path = training->options.resume;
    struct checkpoint checkpoint = checkpoint_of(training, 0);
    if (!checkpoint_read(&checkpoint, path))
        return EXIT_FAILED;
    if (checkpoint.batch > BATCH_MAX || checkpoint.step > STEPS_MAX) {
        fprintf(stderr, "train: cannot resume from '%s': its batch or step is too great\n", path);
        return EXIT_FAILED;
    }
    if (checkpoint.step >= training->last_step) {
        fprintf(stderr,
                "train: '%s' has done step %" PRId64 " already; give --steps more than that\n",
                path, checkpoint.step);
        return EXIT_USAGE;
    }
    training->options.seed = checkpoint.seed;
    training->options.batch = (uint64_t)checkpoint.batch;
    training->first_step = checkpoint.step + 1;
    return EXIT_DONE;
}

static int end_output(void)
{
    if (fflush(stdout) == 0)
        return EXIT_DONE;
    perror("train: cannot write the results");
    return EXIT_FAILED;
}

static int train(struct training *training)
{
    if (!network_init(&training->network, training->options.seed) ||
        !optimizer_init(&training->optimizer, training->network.parameter_count)) {
        fprintf(stderr, "train: out of memory\n");
        return EXIT_FAILED;
    }
    if (training->options.graph) {
        network_print_graph(&training->network);
        return end_output();
    }
    if (training->options.resume != NULL) {
        int failure = resume(training);
        if (failure != EXIT_DONE)
            return failure;
    }
    if (!run_steps(training) || !evaluate(training))
        return EXIT_FAILED;
    return end_output();
}

int main(int argc, char **argv)
{
    struct training training = { .first_step = 1 };
    switch (options_parse(argc, argv, &training.options)) {
    case OPTIONS_HELP:
        return EXIT_DONE;
    case OPTIONS_WRONG:
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    training.last_step = (int64_t)training.options.steps;
    openblas_set_num_threads((int)training.options.threads);
    int status = train(&training);
    optimizer_deinit(&training.optimizer);
    network_deinit(&training.network);
    return status;
}
