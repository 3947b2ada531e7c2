/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.cl — the arithmetic of all operators, written once: OpenCL C that is C, too.
 *
 * kernels.c includes this file, and hands the same text to OpenCL's compiler. A kernel makes one
 * item of its output, a row or a chunk, so any split of the items over workers gives the same
 * bits. A layer's parameters are one matrix: a row a feature, its weights and then its bias.
 * What kernels read and write never overlaps. */

#ifdef __OPENCL_VERSION__
#define float4_of (float4)
#define KERNEL(name)                                                                        \
    static void name(const struct kernel_arguments *a, __global float *arena, unsigned int item)
#define OPENCL_ENTRY(name)                                                                  \
    __kernel void run_##name(struct kernel_arguments arguments, __global float *arena)      \
    {                                                                                       \
        unsigned int item = get_global_id(0);                                               \
        if (item < arguments.items)                                                         \
            name(&arguments, arena, item);                                                  \
    }
#endif


/* ---- rows of floats, four at a time ---- */

/* y += a x */
static void axpy(float a, __global const float *x, __global float *y, unsigned int count)
{
    unsigned int i = 0;
    for (; i + 4 <= count; i += 4)
        vstore4(vload4(0, y + i) + a * vload4(0, x + i), 0, y + i);
    for (; i < count; i++)
        y[i] += a * x[i];
}

static float dot_product(__global const float *x, __global const float *y, unsigned int count)
{
    float4 sums = float4_of(0.0f);
    float lanes[4], sum = 0.0f;
    unsigned int i = 0;
    for (; i + 4 <= count; i += 4)
        sums += vload4(0, x + i) * vload4(0, y + i);
    for (; i < count; i++)
        sum += x[i] * y[i];
    vstore4(sums, 0, lanes);
    return sum + ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
}

static float sum_of(__global const float *x, unsigned int count)
{
    float lanes[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    for (unsigned int i = 0; i < count; i++)
        lanes[i % 4] += x[i];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

static void fill(__global float *x, float value, unsigned int count)
{
    for (unsigned int i = 0; i < count; i++)
        x[i] = value;
}

/* Where row[x] and row[x + shift] are both inside a row: from `first` on, `count` of them. */
struct overlap {
    unsigned int first, count;
};

static struct overlap overlap_of(unsigned int width, int shift)
{
    unsigned int distance = (unsigned int)(shift < 0 ? -shift : shift);
    struct overlap overlap;
    overlap.first = shift < 0 ? distance : 0;
    overlap.count = distance < width ? width - distance : 0;
    return overlap;
}

/* y[x] += a row[x + shift], where row has such an element. */
static void axpy_shifted(float a, __global const float *row, int shift, __global float *y,
                         unsigned int width)
{
    struct overlap overlap = overlap_of(width, shift);
    if (overlap.count > 0)
        axpy(a, row + (int)overlap.first + shift, y + overlap.first, overlap.count);
}

/* ---- conv2d: filters with an odd side, edges filled with 0 ---- */

/* An item is a row of the output. */
KERNEL(conv2d)
{
    unsigned int row = item % a->height, feature = item / a->height % a->features;
    unsigned int sample = item / a->height / a->features;
    unsigned int taps = a->channels * a->side * a->side, edge = a->side / 2;
    __global const float *weights = arena + a->inputs[1] + feature * (taps + 1);
    __global const float *image =
        arena + a->inputs[0] + sample * a->channels * a->height * a->width;
    __global float *out = arena + a->outputs[0] + item * a->width;
    fill(out, weights[taps], a->width);
    for (unsigned int tap = 0; tap < taps; tap++) {
        unsigned int channel = tap / (a->side * a->side), y = row + tap / a->side % a->side;
        if (y >= edge && y < a->height + edge)
            axpy_shifted(weights[tap], image + (channel * a->height + y - edge) * a->width,
                         (int)(tap % a->side) - (int)edge, out, a->width);
    }
}

/* An item is a row of the gradient by the input: each filter, turned around. */
KERNEL(conv2d_backward_input)
{
    unsigned int row = item % a->height, channel = item / a->height % a->channels;
    unsigned int sample = item / a->height / a->channels;
    unsigned int square = a->side * a->side, taps = a->channels * square, edge = a->side / 2;
    __global const float *gradient =
        arena + a->inputs[0] + sample * a->features * a->height * a->width;
    __global float *out = arena + a->outputs[0] + item * a->width;
    fill(out, 0.0f, a->width);
    for (unsigned int feature = 0; feature < a->features; feature++) {
        __global const float *weights =
            arena + a->inputs[1] + feature * (taps + 1) + channel * square;
        for (unsigned int tap = 0; tap < square; tap++) {
            unsigned int y = row + edge;
            if (y >= tap / a->side && y < a->height + tap / a->side)
                axpy_shifted(weights[tap],
                             gradient + (feature * a->height + y - tap / a->side) * a->width,
                             (int)edge - (int)(tap % a->side), out, a->width);
        }
    }
}

/* An item is a row of taps in one filter, or a feature's bias. */
KERNEL(conv2d_backward_parameters)
{
    unsigned int lines = a->channels * a->side, line = item % (lines + 1);
    unsigned int feature = item / (lines + 1), edge = a->side / 2, plane = a->height * a->width;
    __global const float *gradient = arena + a->inputs[0] + feature * plane;
    __global float *out =
        arena + a->outputs[0] + feature * (lines * a->side + 1) + line * a->side;
    unsigned int channel = line / a->side, shift_y = line % a->side;
    fill(out, 0.0f, line < lines ? a->side : 1);
    for (unsigned int sample = 0; sample < a->batch; sample++, gradient += a->features * plane) {
        __global const float *image =
            arena + a->inputs[1] + (sample * a->channels + channel) * plane;
        if (line == lines) {
            out[0] += sum_of(gradient, plane);
            continue;
        }
        for (unsigned int tap = 0; tap < a->side; tap++) {
            int shift = (int)tap - (int)edge;
            struct overlap overlap = overlap_of(a->width, shift);
            float sum = 0.0f;
            for (unsigned int row = 0; row < a->height; row++)
                if (row + shift_y >= edge && row + shift_y < a->height + edge)
                    sum += dot_product(gradient + row * a->width + overlap.first,
                                       image + (row + shift_y - edge) * a->width +
                                           (int)overlap.first + shift,
                                       overlap.count);
            out[tap] += sum;
        }
    }
}

/* ---- relu, add: an item is a chunk ---- */

KERNEL(relu)
{
    unsigned int end = item * CHUNK + CHUNK < a->count ? item * CHUNK + CHUNK : a->count;
    for (unsigned int i = item * CHUNK; i < end; i++) {
        float value = arena[a->inputs[0] + i];
        arena[a->outputs[0] + i] = value > 0.0f ? value : 0.0f;
    }
}

KERNEL(relu_backward)
{
    unsigned int end = item * CHUNK + CHUNK < a->count ? item * CHUNK + CHUNK : a->count;
    for (unsigned int i = item * CHUNK; i < end; i++)
        arena[a->outputs[0] + i] =
            arena[a->inputs[1] + i] > 0.0f ? arena[a->inputs[0] + i] : 0.0f;
}

KERNEL(add)
{
    unsigned int end = item * CHUNK + CHUNK < a->count ? item * CHUNK + CHUNK : a->count;
    for (unsigned int i = item * CHUNK; i < end; i++)
        arena[a->outputs[0] + i] = arena[a->inputs[0] + i] + arena[a->inputs[1] + i];
}

/* ---- maxpool2d: windows that do not overlap; what fits in no window is left out ---- */

/* Where the greatest element of the window lies that begins at `corner`. */
static unsigned int greatest_in_window(__global const float *image, unsigned int corner,
                                       unsigned int width, unsigned int side)
{
    unsigned int greatest = corner;
    for (unsigned int y = 0; y < side; y++)
        for (unsigned int x = 0; x < side; x++)
            if (image[corner + y * width + x] > image[greatest])
                greatest = corner + y * width + x;
    return greatest;
}

/* An item is a row of the output. */
KERNEL(maxpool2d)
{
    unsigned int lines = a->height / a->side, columns = a->width / a->side;
    __global const float *image = arena + a->inputs[0] + item / lines * a->height * a->width;
    for (unsigned int x = 0; x < columns; x++) {
        unsigned int corner = item % lines * a->side * a->width + x * a->side;
        arena[a->outputs[0] + item * columns + x] =
            image[greatest_in_window(image, corner, a->width, a->side)];
    }
}

/* An item is the rows of one plane that a row of windows covers; a plane's last item has the rest
 * of the plane, too. */
KERNEL(maxpool2d_backward)
{
    unsigned int lines = a->height / a->side, columns = a->width / a->side;
    unsigned int line = item % lines, plane = item / lines * a->height * a->width;
    unsigned int first = line * a->side, end = line + 1 < lines ? first + a->side : a->height;
    __global const float *image = arena + a->inputs[1] + plane;
    __global float *out = arena + a->outputs[0] + plane;
    fill(out + first * a->width, 0.0f, (end - first) * a->width);
    for (unsigned int x = 0; x < columns; x++) {
        unsigned int corner = first * a->width + x * a->side;
        out[greatest_in_window(image, corner, a->width, a->side)] =
            arena[a->inputs[0] + item * columns + x];
    }
}

/* ---- linear: an image is a row of channels * height * width elements ---- */

/* An item is an element of the output. */
KERNEL(linear)
{
    unsigned int width = a->channels * a->height * a->width;
    unsigned int feature = item % a->features, sample = item / a->features;
    __global const float *weights = arena + a->inputs[1] + feature * (width + 1);
    arena[a->outputs[0] + item] =
        weights[width] + dot_product(weights, arena + a->inputs[0] + sample * width, width);
}

/* An item is a sample. */
KERNEL(linear_backward_input)
{
    unsigned int width = a->channels * a->height * a->width;
    __global const float *gradient = arena + a->inputs[0] + item * a->features;
    __global float *out = arena + a->outputs[0] + item * width;
    fill(out, 0.0f, width);
    for (unsigned int feature = 0; feature < a->features; feature++)
        axpy(gradient[feature], arena + a->inputs[1] + feature * (width + 1), out, width);
}

/* An item is a feature. */
KERNEL(linear_backward_parameters)
{
    unsigned int width = a->channels * a->height * a->width;
    __global float *out = arena + a->outputs[0] + item * (width + 1);
    fill(out, 0.0f, width + 1);
    for (unsigned int sample = 0; sample < a->batch; sample++) {
        float gradient = arena[a->inputs[0] + sample * a->features + item];
        axpy(gradient, arena + a->inputs[1] + sample * width, out, width);
        out[width] += gradient;
    }
}

/* ---- cross entropy of a softmax, and its mean: an item is a sample ---- */

KERNEL(cross_entropy)
{
    __global const float *logits = arena + a->inputs[0] + item * a->features;
    __global float *probabilities = arena + a->outputs[1] + item * a->features;
    unsigned int label = ((__global const unsigned int *)arena)[a->inputs[1] + item];
    float greatest = logits[0], sum = 0.0f;
    for (unsigned int i = 1; i < a->features; i++)
        greatest = fmax(greatest, logits[i]);
    for (unsigned int i = 0; i < a->features; i++)
        sum += probabilities[i] = exp(logits[i] - greatest);
    for (unsigned int i = 0; i < a->features; i++)
        probabilities[i] /= sum;
    /* Where a broken memory plan has overwritten the label it is no class. */
    arena[a->outputs[0] + item] =
        log(sum) + greatest - (label < a->features ? logits[label] : 0.0f);
}

KERNEL(cross_entropy_backward)
{
    __global const float *probabilities = arena + a->inputs[1] + item * a->features;
    __global float *out = arena + a->outputs[0] + item * a->features;
    unsigned int label = ((__global const unsigned int *)arena)[a->inputs[2] + item];
    float gradient = arena[a->inputs[0] + item];
    for (unsigned int i = 0; i < a->features; i++)
        out[i] = gradient * (probabilities[i] - (i == label ? 1.0f : 0.0f));
}

/* The one item is the sum of all, scaled. */
KERNEL(mean)
{
    arena[a->outputs[0] + item] = a->scale * sum_of(arena + a->inputs[0], a->batch);
}

KERNEL(mean_backward)
{
    arena[a->outputs[0] + item] = a->scale;
}

/* ---- sgd_momentum: an item is a chunk of the parameters, which are written in place ---- */

KERNEL(sgd_momentum)
{
    unsigned int end = item * CHUNK + CHUNK < a->count ? item * CHUNK + CHUNK : a->count;
    for (unsigned int i = item * CHUNK; i < end; i++) {
        float velocity = a->momentum * arena[a->inputs[1] + i] + arena[a->inputs[2] + i];
        arena[a->inputs[1] + i] = velocity;
        arena[a->inputs[0] + i] -= a->rate * velocity;
    }
}

/* ---- the list of kernels ---- */

#define ALL_KERNELS(ENTRY)                                                                     \
    ENTRY(conv2d) ENTRY(conv2d_backward_input)                                                 \
    ENTRY(conv2d_backward_parameters) ENTRY(relu)                                              \
    ENTRY(relu_backward) ENTRY(add)                                                            \
    ENTRY(maxpool2d) ENTRY(maxpool2d_backward)                                                 \
    ENTRY(linear) ENTRY(linear_backward_input)                                                 \
    ENTRY(linear_backward_parameters) ENTRY(cross_entropy)                                     \
    ENTRY(cross_entropy_backward) ENTRY(mean)                                                  \
    ENTRY(mean_backward) ENTRY(sgd_momentum)

#ifdef __OPENCL_VERSION__
ALL_KERNELS(OPENCL_ENTRY)
#endif
