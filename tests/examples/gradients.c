/* SPDX-License-Identifier: Apache-2.0 */
/* gradients.c — is every backward function of examples/train the derivative of its forward one?
 *
 * Built and run by test_gradients.py. A layer's output is reduced to one number,
 *     objective = sum of direction[i] * output[i],   direction random,
 * whose derivative by each input, weight and bias is what the backward function says when
 * `direction` is its output gradient. That is compared with (objective(x + h) - objective(x - h)) /
 * 2h.
 * conv2d and linear are linear in each of these, relu and maxpool2d linear as long as no element
 * passes the bend or another (the inputs are chosen so), so only rounding remains there.
 * Prints a line for each comparison; the exit code is 1 if one is beyond the tolerance. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "layers.h"
#include "network.h"
#include "rng.h"

#define BATCH 3
#define COUNT_MAX 512
#define STEP 0.02f
#define TOLERANCE 1e-3
#define NETWORK_TOLERANCE 0.02 /* relative; the whole network bends between x - h and x + h */

struct workbench {
    struct layer layer;
    float input[COUNT_MAX], output[COUNT_MAX], direction[COUNT_MAX], input_gradient[COUNT_MAX];
    float parameters[COUNT_MAX], gradients[COUNT_MAX], workspace[COUNT_MAX];
};

static double objective(struct workbench *bench)
{
    size_t count = BATCH * shape_count(bench->layer.output);
    double sum = 0.0;
    bench->layer.kind->forward(&bench->layer, BATCH, bench->input, bench->output);
    for (size_t i = 0; i < count; i++)
        sum += (double)bench->direction[i] * (double)bench->output[i];
    return sum;
}

static bool report(const char *layer, const char *what, size_t count, double worst)
{
    bool right = count > 0 && worst <= TOLERANCE;
    printf("%-13s %-9s %4zu derivatives  worst difference %.1e  %s\n", layer, what, count, worst,
           right ? "right" : "WRONG");
    return right;
}

/* Compares the derivatives by values[0 … count-1] with `analytic`. */
static bool compare(struct workbench *bench, const char *what, size_t count, float *values,
                    const float *analytic)
{
    double worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        float value = values[i], above = value + STEP, below = value - STEP;
        values[i] = above;
        double difference = objective(bench);
        values[i] = below;
        difference -= objective(bench);
        values[i] = value;
        double numeric = difference / ((double)above - (double)below);
        worst = fmax(worst, fabs(numeric - (double)analytic[i]));
    }
    return report(bench->layer.kind->forward_site.name, what, count, worst);
}

/* Inputs that differ from 0 and from each other by more than 2 * STEP. */
static void fill_input(struct workbench *bench, struct rng *rng)
{
    size_t count = BATCH * shape_count(bench->layer.input);
    for (size_t i = 0; i < count; i++)
        bench->input[i] = ((float)i - (float)count / 2.0f + 0.5f) * 4.0f * STEP;
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = rng_next(rng) % (i + 1);
        float value = bench->input[i];
        bench->input[i] = bench->input[other];
        bench->input[other] = value;
    }
}

static bool check_layer(struct layer_kind *kind, struct shape input, size_t channels, size_t side)
{
    static struct workbench bench;
    bench = (struct workbench){
        .layer = { .kind = kind, .input = input, .channels = channels, .side = side }
    };
    struct layer *layer = &bench.layer;
    kind->setup(layer);
    size_t inputs = BATCH * shape_count(layer->input);
    size_t outputs = BATCH * shape_count(layer->output);
    size_t parameters = layer->weight_count + layer->bias_count;
    if (inputs > COUNT_MAX || outputs > COUNT_MAX || parameters > COUNT_MAX ||
        layer->workspace_count > COUNT_MAX)
        return report(kind->forward_site.name, "too large", 0, INFINITY);

    struct rng rng = rng_stream(7, 0);
    fill_input(&bench, &rng);
    for (size_t i = 0; i < outputs; i++)
        bench.direction[i] = rng_uniform(&rng, -1.0f, 1.0f);
    for (size_t i = 0; i < parameters; i++)
        bench.parameters[i] = rng_uniform(&rng, -1.0f, 1.0f);
    layer->weight = bench.parameters;
    layer->bias = bench.parameters + layer->weight_count;
    layer->weight_gradient = bench.gradients;
    layer->bias_gradient = bench.gradients + layer->weight_count;
    layer->workspace = bench.workspace;
    kind->backward(layer, BATCH, bench.input, bench.direction, bench.input_gradient);

    bool right = compare(&bench, "input", inputs, bench.input, bench.input_gradient);
    if (parameters > 0) {
        right &=
            compare(&bench, "weight", layer->weight_count, layer->weight, layer->weight_gradient);
        right &= compare(&bench, "bias", layer->bias_count, layer->bias, layer->bias_gradient);
    }
    return right;
}

static bool check_cross_entropy(void)
{
    enum { CLASSES = 4, LOGITS = BATCH * CLASSES };
    const int labels[BATCH] = { 2, 0, 3 };
    float logits[LOGITS], probabilities[LOGITS], gradient[LOGITS];
    struct rng rng = rng_stream(8, 0);
    for (int i = 0; i < LOGITS; i++)
        logits[i] = rng_uniform(&rng, -2.0f, 2.0f);
    cross_entropy(BATCH, CLASSES, logits, labels, probabilities);
    cross_entropy_backward(BATCH, CLASSES, probabilities, labels, gradient);
    double worst = 0.0;
    for (int i = 0; i < LOGITS; i++) {
        float value = logits[i];
        logits[i] = value + STEP;
        double difference = cross_entropy(BATCH, CLASSES, logits, labels, probabilities);
        logits[i] = value - STEP;
        difference -= cross_entropy(BATCH, CLASSES, logits, labels, probabilities);
        logits[i] = value;
        worst = fmax(worst, fabs(difference / (2.0 * (double)STEP) - (double)gradient[i]));
    }
    return report("cross_entropy", "logits", LOGITS, worst);
}

static double network_loss(struct network *network, const struct batch *batch, bool backward)
{
    struct pass pass;
    double loss = NAN;
    if (!network_forward(network, batch, &pass))
        return loss;
    if (!pass_loss(&pass, &loss) || (backward && !network_backward(network, &pass)))
        loss = NAN;
    pass_deinit(&pass);
    return loss;
}

/* One step of length h along the gradient g changes the loss by h |g|. */
static bool check_network(void)
{
    const double step = 1e-3;
    struct network network;
    struct batch batch;
    if (!network_init(&network, 9))
        return report("network", "no memory", 0, INFINITY);
    if (!batch_init(&batch, 9, 0, 16)) {
        network_deinit(&network);
        return report("network", "no memory", 0, INFINITY);
    }
    network_loss(&network, &batch, true);
    double squares = 0.0, difference = 0.0;
    for (size_t i = 0; i < network.parameter_count; i++)
        squares += (double)network.gradients[i] * (double)network.gradients[i];
    double norm = sqrt(squares);
    for (int side = 1; side >= -1; side -= 2) {
        for (size_t i = 0; i < network.parameter_count; i++)
            network.parameters[i] +=
                (float)((side == 1 ? step : -2.0 * step) * (double)network.gradients[i] / norm);
        difference += side * network_loss(&network, &batch, false);
    }
    double numeric = difference / (2.0 * step);
    bool right = fabs(numeric - norm) <= NETWORK_TOLERANCE * norm;
    printf("network       gradient's length %.4f, by differences %.4f  %s\n", norm, numeric,
           right ? "right" : "WRONG");
    batch_deinit(&batch);
    network_deinit(&network);
    return right;
}

int main(void)
{
    bool right = check_layer(&layer_conv2d, (struct shape){ 2, 4, 5 }, 3, 3);
    right &= check_layer(&layer_conv2d, (struct shape){ 1, 3, 3 }, 2, 5);
    right &= check_layer(&layer_relu, (struct shape){ 2, 3, 4 }, 0, 0);
    right &= check_layer(&layer_maxpool2d, (struct shape){ 2, 5, 4 }, 0, 2);
    right &= check_layer(&layer_linear, (struct shape){ 2, 3, 2 }, 5, 0);
    right &= check_cross_entropy();
    right &= check_network();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
