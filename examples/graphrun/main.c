/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — graphrun: a graph runtime learns digits, marked for Varve from end to end.
 *
 * The network, the data and the optimizer are those of examples/train, so the losses are, too. This
 * file has the steps and their phases; runtime.h has what it calls. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <varve/varve.h>

#include "../train/loader.h"
#include "message.h"
#include "network.h"
#include "options.h"
#include "plan.h"
#include "watch.h"
#include "weights.h"

#define HELD_OUT_BATCH 64

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct program {
    struct options options;
    struct runtime runtime;
    struct graph training_graph, inference_graph;
    struct model training, inference;
    struct loader loader;
};

static bool is_first(const struct program *program)
{
    return program->runtime.communicator.rank == 0;
}

/* ---- graphs and models ---- */

static bool write_plan(const struct program *program)
{
    FILE *file = fopen(program->options.plan, "w");
    bool written = file != NULL && plan_write_csv(&program->training_graph, 0, file) &&
                   (program->options.held_out == 0 ||
                    plan_write_csv(&program->inference_graph, 1, file));
    if (file != NULL && fclose(file) != 0)
        written = false;
    if (!written)
        return refuse("cannot write '%s': %s", program->options.plan, strerror(errno));
    return true;
}

static bool compile(struct program *program)
{
    int64_t ranks = program->runtime.communicator.ranks;
    struct network network = {
        .description = program->options.network,
        .batch = (int64_t)program->options.batch / ranks,
        .global_batch = (int64_t)program->options.batch,
        .is_parallel = ranks > 1,
    };
    if (network.batch * ranks != network.global_batch)
        return refuse("--batch %" PRIu64 " does not divide by %" PRId64 " processes; give another",
                      program->options.batch, ranks);
    if (!network_build_training(&network, &program->training_graph) ||
        !runtime_compile(&program->runtime, &program->training_graph))
        return false;
    network.batch = network.global_batch = HELD_OUT_BATCH;
    return program->options.held_out == 0 ||
           (network_build_inference(&network, &program->inference_graph) &&
            runtime_compile(&program->runtime, &program->inference_graph));
}

static bool show_plans(const struct program *program)
{
    if (!is_first(program))
        return true;
    if (program->options.print_plan || program->options.break_plan) {
        plan_print(&program->training_graph, stdout);
        if (program->options.held_out > 0)
            plan_print(&program->inference_graph, stdout);
    }
    return program->options.plan == NULL || write_plan(program);
}

static bool load(struct program *program)
{
    struct model *model = &program->training;
    if (!model_load(model, &program->runtime, &program->training_graph))
        return false;
    if (program->options.print_points && is_first(program))
        points_print(&program->training_graph, model->points, stdout);
    return weights_draw(model, program->options.seed);
}

/* ---- training ---- */

/* One run of the model, phase by phase. */
static bool learn(struct program *program, int64_t step, const struct batch *batch)
{
    struct model *model = &program->training;
    static struct varve_site phases[PHASE_COUNT] = {
        [PHASE_DATA] = VARVE_SITE_INIT("data", VARVE_LAYER_STEP),
        [PHASE_FORWARD] = VARVE_SITE_INIT("forward", VARVE_LAYER_STEP),
        [PHASE_BACKWARD] = VARVE_SITE_INIT("backward", VARVE_LAYER_STEP),
        [PHASE_OPTIMIZER] = VARVE_SITE_INIT("optimizer", VARVE_LAYER_STEP),
    };
    VARVE_SITE(wait, "wait", VARVE_LAYER_STEP);
    bool done = true;
    model_begin(model, step, batch);
    for (int phase = PHASE_DATA; phase < PHASE_COUNT && done; phase++) {
        varve_begin(&phases[phase]);
        done = model_launch(model, phase);
        varve_end();
    }
    varve_begin(&wait);
    done = model_wait(model) && done;
    varve_end();
    model_end(model);
    return done;
}

static bool run_step(struct program *program, int64_t step)
{
    VARVE_SITE(data, "data", VARVE_LAYER_STEP);
    VARVE_SITE(loss_counter, "loss", VARVE_LAYER_METRIC);
    struct batch batch;
    varve_step_begin(step);
    varve_begin(&data);
    bool done = loader_take(&program->loader, &batch);
    varve_end();
    if (done) {
        done = learn(program, step, &batch);
        batch_deinit(&batch);
    } else {
        refuse("out of memory in step %" PRId64 "; try a smaller --batch", step);
    }
    double loss = done ? (double)program->training.result[0] : 0.0;
    if (done)
        varve_counter(&loss_counter, loss);
    varve_step_end();
    bool is_due =
        step % (int64_t)program->options.every == 0 || step == (int64_t)program->options.steps;
    if (done && is_due && is_first(program))
        printf("step %3" PRId64 "  loss %.6f\n", step, loss);
    return done;
}

static bool run_steps(struct program *program)
{
    const struct communicator *communicator = &program->runtime.communicator;
    const struct loader_plan plan = {
        .seed = program->options.seed,
        .count = (size_t)program->training_graph.batch,
        .rank = (uint64_t)communicator->rank,
        .ranks = (uint64_t)communicator->ranks,
        .end = (int64_t)program->options.steps,
    };
    if (!loader_start(&program->loader, &plan))
        return refuse("cannot start the loader: %s", strerror(errno));
    bool done = true;
    for (int64_t step = 1; step <= (int64_t)program->options.steps && done; step++)
        done = run_step(program, step);
    loader_stop(&program->loader);
    return done;
}

/* ---- evaluation ---- */

static int count_correct(const float *logits, const struct batch *batch, size_t count)
{
    int correct = 0;
    for (size_t sample = 0; sample < count; sample++, logits += DIGIT_CLASSES) {
        int best = 0;
        for (int i = 1; i < DIGIT_CLASSES; i++)
            if (logits[i] > logits[best])
                best = i;
        correct += best == batch->labels[sample];
    }
    return correct;
}

static bool infer(struct model *model, int64_t number, const struct batch *batch)
{
    model_begin(model, number, batch);
    bool done = model_launch(model, PHASE_DATA) && model_launch(model, PHASE_FORWARD);
    done = model_wait(model) && done;
    model_end(model);
    return done;
}

/* How often the network is right about samples that it was not trained on. */
static bool evaluate(struct program *program)
{
    VARVE_SCOPE_LAYER("evaluate", VARVE_LAYER_API);
    struct model *model = &program->inference;
    uint64_t held_out = program->options.held_out;
    int correct = 0;
    bool done = model_load(model, &program->runtime, &program->inference_graph) &&
                weights_copy(&program->training, model);
    for (uint64_t first = 0; first < held_out && done; first += HELD_OUT_BATCH) {
        struct batch batch;
        uint64_t rest = held_out - first;
        if (!batch_init(&batch, program->options.seed, HELD_OUT_FIRST + first, HELD_OUT_BATCH))
            return refuse("out of memory in the evaluation");
        done = infer(model, (int64_t)(first / HELD_OUT_BATCH), &batch);
        if (done)
            correct +=
                count_correct(model->result, &batch, rest < HELD_OUT_BATCH ? rest : HELD_OUT_BATCH);
        batch_deinit(&batch);
    }
    if (done)
        printf("held-out accuracy %.1f %% of %" PRIu64 "\n", 100.0 * correct / (double)held_out,
               held_out);
    return done;
}

/* ---- all of it ---- */

static void print_times(const struct program *program)
{
    for (const struct task_time *time = program->runtime.times; time->name != NULL; time++)
        printf("time %s: %" PRIu64 " tasks, %" PRId64 " ns\n", time->name, time->count,
               time->total_ns);
}

static bool run(struct program *program)
{
    struct runtime_options options = {
        .workers = (int)program->options.workers,
        .use_opencl = program->options.use_opencl,
        .is_parallel = program->options.is_parallel,
        .break_plan = program->options.break_plan,
        .points = { program->options.fp_point, program->options.bp_point },
    };
    bool done = (!program->options.watch || watch_start()) &&
                runtime_open(&program->runtime, &options) && compile(program) &&
                show_plans(program) &&
                load(program) && run_steps(program) &&
                (program->options.held_out == 0 || !is_first(program) || evaluate(program));
    if (done && program->options.print_times && is_first(program))
        print_times(program);
    model_unload(&program->inference);
    model_unload(&program->training);
    if (program->options.watch) {
        watch_stop();
        if (done && is_first(program))
            watch_print(stdout);
    }
    if (done && fflush(stdout) != 0)
        done = refuse("cannot write the results: %s", strerror(errno));
    if (!done)
        communicator_abort(&program->runtime.communicator);
    runtime_close(&program->runtime);
    return done;
}

int main(int argc, char **argv)
{
    static struct program program;
    switch (options_parse(argc, argv, &program.options)) {
    case OPTIONS_HELP:
        return EXIT_DONE;
    case OPTIONS_WRONG:
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    return run(&program) ? EXIT_DONE : EXIT_FAILED;
}
