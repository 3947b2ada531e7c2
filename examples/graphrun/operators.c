/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c — see operators.h. Whoever adds an operator writes a row here and a kernel in
 * kernels.cl. */
#include "operators.h"

#include "shapes.h"

#define EACH(count) (((uint64_t)(count) + CHUNK - 1) / CHUNK)

typedef const struct kernel_arguments *arguments;

static uint64_t image_elements(arguments a)
{
    return (uint64_t)a->channels * a->height * a->width;
}

/* ---- items: as the kernels count them ---- */

static uint64_t one(arguments a)
{
    (void)a;
    return 1;
}

static uint64_t samples(arguments a)
{
    return a->batch;
}

static uint64_t features(arguments a)
{
    return a->features;
}

static uint64_t chunks(arguments a)
{
    return EACH(a->count);
}

static uint64_t output_elements(arguments a)
{
    return (uint64_t)a->batch * a->features;
}

static uint64_t output_rows(arguments a)
{
    return (uint64_t)a->batch * a->features * a->height;
}

static uint64_t input_rows(arguments a)
{
    return (uint64_t)a->batch * a->channels * a->height;
}

static uint64_t lines_of_filters(arguments a)
{
    return (uint64_t)a->features * (a->channels * a->side + 1);
}

static uint64_t rows_of_windows(arguments a)
{
    return (uint64_t)a->batch * a->channels * (a->height / a->side);
}

/* ---- floating-point operations: a multiply-add counts 2, comparisons are not counted ---- */

static uint64_t none(arguments a)
{
    (void)a;
    return 0;
}

static uint64_t conv2d_flop(arguments a)
{
    return 2 * (uint64_t)a->batch * a->features * image_elements(a) * a->side * a->side;
}

static uint64_t linear_flop(arguments a)
{
    return 2 * (uint64_t)a->batch * a->features * image_elements(a);
}

static uint64_t count(arguments a)
{
    return a->count;
}

static uint64_t sgd_flop(arguments a)
{
    return 4 * (uint64_t)a->count;
}

/* ---- the table ---- */

#define KERNEL_ON(place) .task = TASK_KERNEL, .stream = STREAM_##place
#define BY(id, ...)                                                                       \
    {                                                                                     \
        .operator= OPERATOR_##id, .operands = { __VA_ARGS__ },                            \
        .operand_count = sizeof(int[]){ __VA_ARGS__ } / sizeof(int)                       \
    }
#define SAME { .is_same = true }

const struct operator operators[OPERATOR_COUNT] = {
    /* clang-format off */
    [OPERATOR_GET_NEXT] = {
        "get_next", "GetNext", .task = TASK_FETCH, .stream = STREAM_COPY,
        .image = OF_OUTPUT_0, .infer = infer_batch, .items = one, .flop = none },
    [OPERATOR_CONV2D] = {
        "conv2d", "Conv2D", KERNEL_ON(COMPUTE),
        .image = OF_INPUT_0, .infer = infer_conv2d, .items = output_rows, .flop = conv2d_flop,
        .gradients = { BY(CONV2D_BACKWARD_INPUT, OF_GRADIENT, OF_INPUT_1),
                       BY(CONV2D_BACKWARD_PARAMETERS, OF_GRADIENT, OF_INPUT_0) } },
    [OPERATOR_CONV2D_BACKWARD_INPUT] = {
        "conv2d_backward_input", "Conv2DBackpropInput", KERNEL_ON(COMPUTE),
        .image = OF_OUTPUT_0, .infer = infer_like, .items = input_rows, .flop = conv2d_flop },
    [OPERATOR_CONV2D_BACKWARD_PARAMETERS] = {
        "conv2d_backward_parameters", "Conv2DBackpropFilter", KERNEL_ON(GRADIENT),
        .image = OF_INPUT_1, .infer = infer_like, .items = lines_of_filters,
        .flop = conv2d_flop },
    [OPERATOR_RELU] = {
        "relu", "Relu", KERNEL_ON(COMPUTE),
        .image = OF_INPUT_0, .infer = infer_like, .items = chunks, .flop = none,
        .gradients = { BY(RELU_BACKWARD, OF_GRADIENT, OF_OUTPUT_0) } },
    [OPERATOR_RELU_BACKWARD] = {
        "relu_backward", "ReluGrad", KERNEL_ON(COMPUTE),
        .image = OF_OUTPUT_0, .infer = infer_like, .items = chunks, .flop = none },
    [OPERATOR_MAXPOOL2D] = {
        "maxpool2d", "MaxPool", KERNEL_ON(COMPUTE),
        .image = OF_INPUT_0, .infer = infer_maxpool2d, .items = rows_of_windows, .flop = none,
        .gradients = { BY(MAXPOOL2D_BACKWARD, OF_GRADIENT, OF_INPUT_0) } },
    [OPERATOR_MAXPOOL2D_BACKWARD] = {
        "maxpool2d_backward", "MaxPoolGrad", KERNEL_ON(COMPUTE),
        .image = OF_OUTPUT_0, .infer = infer_like, .items = rows_of_windows, .flop = none },
    [OPERATOR_LINEAR] = {
        "linear", "MatMul", KERNEL_ON(COMPUTE),
        .image = OF_INPUT_0, .infer = infer_linear, .items = output_elements,
        .flop = linear_flop,
        .gradients = { BY(LINEAR_BACKWARD_INPUT, OF_GRADIENT, OF_INPUT_1),
                       BY(LINEAR_BACKWARD_PARAMETERS, OF_GRADIENT, OF_INPUT_0) } },
    [OPERATOR_LINEAR_BACKWARD_INPUT] = {
        "linear_backward_input", "MatMulBackpropInput", KERNEL_ON(COMPUTE),
        .image = OF_OUTPUT_0, .infer = infer_like, .items = samples, .flop = linear_flop },
    [OPERATOR_LINEAR_BACKWARD_PARAMETERS] = {
        "linear_backward_parameters", "MatMulBackpropFilter", KERNEL_ON(GRADIENT),
        .image = OF_INPUT_1, .infer = infer_like, .items = features, .flop = linear_flop },
    [OPERATOR_ADD] = {
        "add", "Add", KERNEL_ON(COMPUTE),
        .image = OF_INPUT_0, .infer = infer_add, .items = chunks, .flop = count,
        .gradients = { SAME, SAME } },
    [OPERATOR_CROSS_ENTROPY] = {
        "cross_entropy", "SparseSoftmaxCrossEntropy", KERNEL_ON(COMPUTE),
        .image = OF_INPUT_0, .infer = infer_cross_entropy, .items = samples, .flop = none,
        .gradients = { BY(CROSS_ENTROPY_BACKWARD, OF_GRADIENT, OF_OUTPUT_1, OF_INPUT_1) } },
    [OPERATOR_CROSS_ENTROPY_BACKWARD] = {
        "cross_entropy_backward", "SparseSoftmaxCrossEntropyGrad", KERNEL_ON(COMPUTE),
        .image = OF_OUTPUT_0, .infer = infer_like, .items = samples, .flop = none },
    [OPERATOR_MEAN] = {
        "mean", "ReduceMean", KERNEL_ON(COMPUTE),
        .image = OF_INPUT_0, .infer = infer_scalar, .items = one, .flop = none,
        .gradients = { BY(MEAN_BACKWARD, OF_INPUT_0) } },
    [OPERATOR_MEAN_BACKWARD] = {
        "mean_backward", "ReduceMeanGrad", KERNEL_ON(COMPUTE),
        .image = OF_OUTPUT_0, .infer = infer_like, .items = samples, .flop = none },
    [OPERATOR_ALL_REDUCE] = {
        "all_reduce", "AllReduce", .task = TASK_COLLECTIVE, .stream = STREAM_COLLECTIVE,
        .image = OF_INPUT_0, .infer = infer_like, .items = one, .flop = none },
    [OPERATOR_SGD_MOMENTUM] = {
        "sgd_momentum", "ApplyMomentum", KERNEL_ON(GRADIENT), .updates = 3,
        .image = OF_INPUT_0, .infer = infer_state, .items = chunks, .flop = sgd_flop },
    [OPERATOR_NET_OUTPUT] = {
        "net_output", "NetOutput", .task = TASK_RESULT, .stream = STREAM_COPY,
        .ends_graph = true,
        .image = OF_INPUT_0, .infer = infer_nothing, .items = one, .flop = none },
    /* clang-format on */
};
