/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_arguments.h — what a kernel is told: C and OpenCL C alike, the same bytes on both sides.
 *
 * Tensors are places in one block of memory, in floats from its begin. */
#ifndef GRAPHRUN_KERNEL_ARGUMENTS_H
#define GRAPHRUN_KERNEL_ARGUMENTS_H

#define KERNEL_INPUTS_MAX 3
#define KERNEL_OUTPUTS_MAX 2
#define CHUNK 1024u /* elements in an item of the operators that go element by element */

struct kernel_arguments {
    unsigned int inputs[KERNEL_INPUTS_MAX], outputs[KERNEL_OUTPUTS_MAX];
    unsigned int items;                          /* pieces of work: 0 … items - 1 */
    unsigned int count;                          /* elements of the first output, or of the state */
    unsigned int batch, channels, height, width; /* of the layer's image; a row has 1 x 1 */
    unsigned int features;                       /* channels of the layer's output */
    unsigned int side;                           /* of a filter or window */
    float scale;                                 /* 1 / samples of the whole batch */
    float rate, momentum;                        /* of the optimizer */
};

#endif
