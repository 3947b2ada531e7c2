/* SPDX-License-Identifier: Apache-2.0 */
/* graph_gradients.c — does the backward pass that examples/graphrun derives give the gradients?
 *
 * Built and run by test_graphrun.py. The network has every kind of layer, and sums whose inputs
 * have gradients from two sides. Its parameters are moved along a part of the gradient, each time
 * another one, and the loss must change as the gradient says:
 *     (loss(p + h d) - loss(p - h d)) / 2h = d . gradient,   d = a random part of it, of length 1.
 * The gradient is what the optimizer's velocity is after one step from rest. Prints a line for each
 * comparison; the exit code is 1 if one is beyond the tolerance. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../train/rng.h"
#include "network.h"
#include "runtime.h"
#include "weights.h"

#define NETWORK                                                                           \
    "conv2d 4 3 relu maxpool2d 3 conv2d 4 3 add 1 relu linear 12 relu linear 12 add 2 linear 10"
#define BATCH 3
#define DRAWS 6
#define STEPS_BEFORE 5
#define STEP 0.002f
#define TOLERANCE 0.02

struct bench {
    struct model *model;
    const struct batch *batch;
};

/* A step; its loss. */
static double run(struct bench *bench)
{
    bool done = true;
    model_begin(bench->model, 0, bench->batch);
    for (int phase = 0; phase <= PHASE_OPTIMIZER && done; phase++)
        done = model_launch(bench->model, phase);
    if (!done || !model_wait(bench->model))
        exit(2);
    model_end(bench->model);
    return (double)bench->model->result[0];
}

/* The loss where parameter tensor `tensor` has these values. */
static double loss_at(struct bench *bench, int tensor, const float *values)
{
    if (!model_write(bench->model, tensor, values))
        exit(2);
    return run(bench);
}

static void restore(struct bench *bench, float *const *values, int velocity_of, float *velocity)
{
    const struct graph *graph = bench->model->graph;
    for (int i = 0; i < graph->tensor_count; i++) {
        if (i == velocity_of && !model_read(bench->model, i, velocity))
            exit(2);
        if (values[i] != NULL && !model_write(bench->model, i, values[i]))
            exit(2);
    }
}

/* Compares along a random half of the gradient. */
static bool compare(struct bench *bench, float *const *values, int tensor, int velocity,
                    struct rng *rng)
{
    const struct tensor *shape = &bench->model->graph->tensors[tensor];
    size_t count = shape->bytes / sizeof(float);
    float *gradient = calloc(count, sizeof *gradient), *moved = calloc(count, sizeof *moved);
    double length = 0.0, losses[2];
    if (gradient == NULL || moved == NULL)
        exit(2);
    loss_at(bench, tensor, values[tensor]);
    restore(bench, values, velocity, gradient);
    for (size_t i = 0; i < count; i++) {
        gradient[i] *= (float)(rng_next(rng) >> 63);
        length += (double)gradient[i] * (double)gradient[i];
    }
    length = sqrt(length);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < count; i++)
            moved[i] = values[tensor][i] + (side ? STEP : -STEP) * gradient[i] / (float)length;
        losses[side] = loss_at(bench, tensor, moved);
        restore(bench, values, NONE, NULL);
    }
    double slope = (losses[1] - losses[0]) / (2 * (double)STEP);
    bool right = length > 0.0 && fabs(slope - length) <= TOLERANCE * length + 3e-4;
    printf("%-24s gradient %.5f, slope %.5f  %s\n", shape->name, length, slope,
           right ? "right" : "WRONG");
    free(gradient);
    free(moved);
    return right;
}

/* The optimizer's state of these parameters. */
static int velocity_of(const struct graph *graph, int parameters)
{
    for (int i = 0; i < graph->node_count; i++)
        if (node_updates(&graph->nodes[i], 0) && graph->nodes[i].inputs[0] == parameters)
            return graph->nodes[i].inputs[1];
    return NONE;
}

/* A few steps: at first all biases are 0, and with them many elements lie just at relu's bend. The
 * optimizer's state is at rest again afterwards. */
static void leave_the_bends(struct bench *bench, float **out_values)
{
    const struct graph *graph = bench->model->graph;
    for (int i = 0; i < graph->tensor_count; i++) {
        if (graph->tensors[i].role == TENSOR_VALUE)
            continue;
        out_values[i] = calloc(graph->tensors[i].bytes, 1);
        if (out_values[i] == NULL)
            exit(2);
    }
    for (int step = 0; step < STEPS_BEFORE; step++)
        run(bench);
    for (int i = 0; i < graph->tensor_count; i++)
        if (graph->tensors[i].role == TENSOR_PARAMETER &&
            !model_read(bench->model, i, out_values[i]))
            exit(2);
    restore(bench, out_values, NONE, NULL);
}

static bool compare_all(struct bench *bench, struct rng *rng)
{
    const struct graph *graph = bench->model->graph;
    float *values[TENSORS_MAX] = { NULL };
    bool right = true;
    leave_the_bends(bench, values);
    for (int i = 0; i < graph->tensor_count; i++)
        for (int draw = 0; draw < DRAWS && graph->tensors[i].role == TENSOR_PARAMETER; draw++)
            right &= compare(bench, values, i, velocity_of(graph, i), rng);
    for (int i = 0; i < graph->tensor_count; i++)
        free(values[i]);
    return right;
}

int main(void)
{
    static struct graph graph;
    static struct runtime runtime;
    struct runtime_options options = { .workers = 2 };
    struct network network = { NETWORK, BATCH, BATCH, false };
    struct model model = { .runtime = NULL };
    struct batch batch;
    struct rng rng = rng_stream(5, 0);
    if (!runtime_open(&runtime, &options) || !network_build_training(&network, &graph) ||
        !runtime_compile(&runtime, &graph) || !model_load(&model, &runtime, &graph) ||
        !weights_draw(&model, 3) || !batch_init(&batch, 1, 0, BATCH))
        return 2;
    struct bench bench = { &model, &batch };
    bool right = compare_all(&bench, &rng);
    batch_deinit(&batch);
    model_unload(&model);
    runtime_close(&runtime);
    return right ? 0 : 1;
}
