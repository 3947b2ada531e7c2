/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c — see layers.h. The matrix products are OpenBLAS's; a convolution becomes one by copying
 * each filter's window into a column (im2col), sample by sample.
 *
 * Ranges inside an operator (sgemm, im2col, col2im) are of layer HOST: how it is done, not what. */
#include "layers.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <cblas.h>

/* A row-major matrix, or its transpose; what the product sees has `rows` and `columns`. */
struct matrix {
    const float *data;
    size_t rows, columns;
    bool transposed;
};

static struct matrix plain(const float *data, size_t rows, size_t columns)
{
    return (struct matrix){ data, rows, columns, false };
}

/* The transpose of a matrix that is stored as `rows` x `columns`. */
static struct matrix transpose(const float *data, size_t rows, size_t columns)
{
    return (struct matrix){ data, columns, rows, true };
}

static void describe_product(struct matrix a, struct matrix b)
{
    const int64_t a_dims[] = { (int64_t)a.rows, (int64_t)a.columns };
    const int64_t b_dims[] = { (int64_t)b.rows, (int64_t)b.columns };
    const struct varve_tensor inputs[] = { { VARVE_F32, 2, a_dims }, { VARVE_F32, 2, b_dims } };
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    info.inputs = inputs;
    info.input_count = 2;
    info.flop = 2 * a.rows * a.columns * b.columns;
    info.bytes = sizeof(float) * (a.rows * a.columns + b.rows * b.columns + a.rows * b.columns);
    varve_op(&info);
}

/* product = a b + keep * product, with a.columns = b.rows. */
static void multiply(struct matrix a, struct matrix b, float keep, float *product)
{
    VARVE_SCOPE_LAYER("sgemm", VARVE_LAYER_HOST);
    if (varve_layers() != 0)
        describe_product(a, b);
    size_t a_stride = a.transposed ? a.rows : a.columns;
    size_t b_stride = b.transposed ? b.rows : b.columns;
    cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
                b.transposed ? CblasTrans : CblasNoTrans, (blasint)a.rows, (blasint)b.columns,
                (blasint)a.columns, 1.0f, a.data, (blasint)a_stride, b.data, (blasint)b_stride,
                keep, product, (blasint)b.columns);
}

/* ---- conv2d: output[channel] = bias[channel] + weight[channel] * windows of the input
 * ---------- */

static void conv2d_setup(struct layer *layer)
{
    size_t window = layer->input.channels * layer->side * layer->side;
    layer->output = (struct shape){ layer->channels, layer->input.height, layer->input.width };
    layer->weight_count = layer->channels * window;
    layer->bias_count = layer->channels;
    layer->workspace_count = window * layer->input.height * layer->input.width;
    layer->flop = 2 * window * shape_count(layer->output);
}

/* One row of the column matrix and one row of the image: where they overlap. */
struct overlap {
    size_t columns; /* index of the first element in the column matrix */
    size_t image;   /* and in the image */
    size_t count;   /* 0 where the window hangs over the edge */
};

/* Row `row` of the column matrix belongs to one place (channel, y, x) of the filter, and has one
 * element for each pixel; `line` is a line of the image that the filter's centre passes over. */
static struct overlap overlap_at(const struct layer *layer, size_t row, size_t line)
{
    size_t height = layer->input.height, width = layer->input.width, side = layer->side;
    size_t channel = row / (side * side), y = row / side % side, x = row % side;
    size_t edge = side / 2;
    size_t first = x < edge ? edge - x : 0;
    size_t end = x > edge ? width + edge - x : width;
    if (line + y < edge || line + y >= height + edge || first >= end || width + edge <= x)
        return (struct overlap){ 0, 0, 0 };
    return (struct overlap){
        .columns = (row * height + line) * width + first,
        .image = (channel * height + line + y - edge) * width + first + x - edge,
        .count = end - first,
    };
}

static void im2col(const struct layer *layer, const float *image, float *columns)
{
    VARVE_SCOPE_LAYER("im2col", VARVE_LAYER_HOST);
    memset(columns, 0, layer->workspace_count * sizeof(*columns));
    size_t rows = layer->input.channels * layer->side * layer->side;
    for (size_t row = 0; row < rows; row++) {
        for (size_t line = 0; line < layer->input.height; line++) {
            struct overlap overlap = overlap_at(layer, row, line);
            memcpy(columns + overlap.columns, image + overlap.image,
                   overlap.count * sizeof(*columns));
        }
    }
}

/* The transpose of im2col: adds each element back to the pixel that it was copied from. */
static void col2im(const struct layer *layer, const float *columns, float *image)
{
    VARVE_SCOPE_LAYER("col2im", VARVE_LAYER_HOST);
    memset(image, 0, shape_count(layer->input) * sizeof(*image));
    size_t rows = layer->input.channels * layer->side * layer->side;
    for (size_t row = 0; row < rows; row++) {
        for (size_t line = 0; line < layer->input.height; line++) {
            struct overlap overlap = overlap_at(layer, row, line);
            for (size_t i = 0; i < overlap.count; i++)
                image[overlap.image + i] += columns[overlap.columns + i];
        }
    }
}

static void conv2d_forward(const struct layer *layer, size_t batch, const float *input,
                           float *out_output)
{
    size_t pixels = layer->input.height * layer->input.width;
    size_t window = layer->input.channels * layer->side * layer->side;
    for (size_t sample = 0; sample < batch; sample++) {
        float *output = out_output + sample * shape_count(layer->output);
        for (size_t channel = 0; channel < layer->channels; channel++)
            for (size_t i = 0; i < pixels; i++)
                output[channel * pixels + i] = layer->bias[channel];
        im2col(layer, input + sample * shape_count(layer->input), layer->workspace);
        multiply(plain(layer->weight, layer->channels, window),
                 plain(layer->workspace, window, pixels), 1.0f, output);
    }
}

static void conv2d_backward(const struct layer *layer, size_t batch, const float *input,
                            const float *output_gradient, float *out_input_gradient)
{
    size_t pixels = layer->input.height * layer->input.width;
    size_t window = layer->input.channels * layer->side * layer->side;
    for (size_t sample = 0; sample < batch; sample++) {
        const float *gradient = output_gradient + sample * shape_count(layer->output);
        for (size_t channel = 0; channel < layer->channels; channel++)
            for (size_t i = 0; i < pixels; i++)
                layer->bias_gradient[channel] += gradient[channel * pixels + i];
        im2col(layer, input + sample * shape_count(layer->input), layer->workspace);
        multiply(plain(gradient, layer->channels, pixels),
                 transpose(layer->workspace, window, pixels), 1.0f, layer->weight_gradient);
        if (out_input_gradient == NULL)
            continue;
        multiply(transpose(layer->weight, layer->channels, window),
                 plain(gradient, layer->channels, pixels), 0.0f, layer->workspace);
        col2im(layer, layer->workspace, out_input_gradient + sample * shape_count(layer->input));
    }
}

struct layer_kind layer_conv2d = {
    VARVE_SITE_INIT("conv2d", VARVE_LAYER_OP),
    VARVE_SITE_INIT("conv2d_backward", VARVE_LAYER_OP),
    conv2d_setup,
    conv2d_forward,
    conv2d_backward,
};

/* ---- relu: output = max(input, 0)
 * --------------------------------------------------------------- */

static void relu_setup(struct layer *layer)
{
    layer->output = layer->input;
}

static void relu_forward(const struct layer *layer, size_t batch, const float *input,
                         float *out_output)
{
    size_t count = batch * shape_count(layer->input);
    for (size_t i = 0; i < count; i++)
        out_output[i] = input[i] > 0.0f ? input[i] : 0.0f;
}

static void relu_backward(const struct layer *layer, size_t batch, const float *input,
                          const float *output_gradient, float *out_input_gradient)
{
    size_t count = batch * shape_count(layer->input);
    for (size_t i = 0; out_input_gradient != NULL && i < count; i++)
        out_input_gradient[i] = input[i] > 0.0f ? output_gradient[i] : 0.0f;
}

struct layer_kind layer_relu = {
    VARVE_SITE_INIT("relu", VARVE_LAYER_OP),
    VARVE_SITE_INIT("relu_backward", VARVE_LAYER_OP),
    relu_setup,
    relu_forward,
    relu_backward,
};

/* ---- maxpool2d: output = the greatest of each window
 * -------------------------------------------- */

static void maxpool2d_setup(struct layer *layer)
{
    layer->output = (struct shape){ layer->input.channels, layer->input.height / layer->side,
                                    layer->input.width / layer->side };
}

/* Where in `input` the greatest element lies of the window that output element `index` looks at. */
static size_t greatest_in_window(const struct layer *layer, const float *input, size_t index)
{
    size_t side = layer->side, width = layer->input.width;
    size_t column = index % layer->output.width;
    size_t line = index / layer->output.width % layer->output.height;
    size_t plane = index / (layer->output.width * layer->output.height);
    size_t corner = (plane * layer->input.height + line * side) * width + column * side;
    size_t greatest = corner;
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++)
            if (input[corner + y * width + x] > input[greatest])
                greatest = corner + y * width + x;
    return greatest;
}

static void maxpool2d_forward(const struct layer *layer, size_t batch, const float *input,
                              float *out_output)
{
    size_t count = batch * shape_count(layer->output);
    for (size_t i = 0; i < count; i++)
        out_output[i] = input[greatest_in_window(layer, input, i)];
}

static void maxpool2d_backward(const struct layer *layer, size_t batch, const float *input,
                               const float *output_gradient, float *out_input_gradient)
{
    if (out_input_gradient == NULL)
        return;
    memset(out_input_gradient, 0, batch * shape_count(layer->input) * sizeof(*out_input_gradient));
    size_t count = batch * shape_count(layer->output);
    for (size_t i = 0; i < count; i++)
        out_input_gradient[greatest_in_window(layer, input, i)] += output_gradient[i];
}

struct layer_kind layer_maxpool2d = {
    VARVE_SITE_INIT("maxpool2d", VARVE_LAYER_OP),
    VARVE_SITE_INIT("maxpool2d_backward", VARVE_LAYER_OP),
    maxpool2d_setup,
    maxpool2d_forward,
    maxpool2d_backward,
};

/* ---- linear: output = weight input + bias
 * ------------------------------------------------------- */

static void linear_setup(struct layer *layer)
{
    size_t features = shape_count(layer->input);
    layer->input = (struct shape){ features, 1, 1 };
    layer->output = (struct shape){ layer->channels, 1, 1 };
    layer->side = 1;
    layer->weight_count = layer->channels * features;
    layer->bias_count = layer->channels;
    layer->flop = 2 * layer->weight_count;
}

static void linear_forward(const struct layer *layer, size_t batch, const float *input,
                           float *out_output)
{
    size_t inputs = layer->input.channels, outputs = layer->channels;
    for (size_t sample = 0; sample < batch; sample++)
        memcpy(out_output + sample * outputs, layer->bias, outputs * sizeof(*layer->bias));
    multiply(plain(input, batch, inputs), transpose(layer->weight, outputs, inputs), 1.0f,
             out_output);
}

static void linear_backward(const struct layer *layer, size_t batch, const float *input,
                            const float *output_gradient, float *out_input_gradient)
{
    size_t inputs = layer->input.channels, outputs = layer->channels;
    for (size_t sample = 0; sample < batch; sample++)
        for (size_t i = 0; i < outputs; i++)
            layer->bias_gradient[i] += output_gradient[sample * outputs + i];
    multiply(transpose(output_gradient, batch, outputs), plain(input, batch, inputs), 1.0f,
             layer->weight_gradient);
    if (out_input_gradient != NULL)
        multiply(plain(output_gradient, batch, outputs), plain(layer->weight, outputs, inputs),
                 0.0f, out_input_gradient);
}

struct layer_kind layer_linear = {
    VARVE_SITE_INIT("linear", VARVE_LAYER_OP),
    VARVE_SITE_INIT("linear_backward", VARVE_LAYER_OP),
    linear_setup,
    linear_forward,
    linear_backward,
};

/* ---- cross entropy of a softmax
 * ----------------------------------------------------------------- */

double cross_entropy(size_t batch, size_t classes, const float *logits, const int *labels,
                     float *out_probabilities)
{
    double loss = 0.0;
    for (size_t sample = 0; sample < batch; sample++) {
        const float *logit = logits + sample * classes;
        float *probability = out_probabilities + sample * classes;
        float greatest = logit[0], sum = 0.0f;
        for (size_t i = 1; i < classes; i++)
            greatest = fmaxf(greatest, logit[i]);
        for (size_t i = 0; i < classes; i++)
            sum += probability[i] = expf(logit[i] - greatest);
        for (size_t i = 0; i < classes; i++)
            probability[i] /= sum;
        loss += logf(sum) + greatest - logit[labels[sample]];
    }
    return loss / (double)batch;
}

void cross_entropy_backward(size_t batch, size_t classes, const float *probabilities,
                            const int *labels, float *out_logits_gradient)
{
    for (size_t sample = 0; sample < batch; sample++) {
        for (size_t i = 0; i < classes; i++) {
            size_t at = sample * classes + i;
            float target = (int)i == labels[sample] ? 1.0f : 0.0f;
            out_logits_gradient[at] = (probabilities[at] - target) / (float)batch;
        }
    }
}
