/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h — the kernels of kernels.cl, for a processor and as text for OpenCL.
 *
 * Called by cpu_device.c and opencl_device.c. Thread-safe. */
#ifndef GRAPHRUN_KERNELS_H
#define GRAPHRUN_KERNELS_H

#include "kernel_arguments.h"

/* Makes item `item` of an operator's output, which lies in `arena`. */
typedef void kernel(const struct kernel_arguments *arguments, float *arena, unsigned int item);

/* The kernel of this name; NULL = there is none. */
kernel *kernel_find(const char *name);

/* Two texts of OpenCL C, to be compiled one behind the other. The kernel NAME is run_NAME, with two
 * arguments: a struct kernel_arguments and the arena. */
#define KERNEL_TEXTS 2
extern const char *const kernel_texts[KERNEL_TEXTS];

#endif
