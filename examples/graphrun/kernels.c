/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c — see kernels.h. What OpenCL C has and C has not stands here: address spaces, vectors
 * of four floats, overloaded functions. The assembler copies the files that OpenCL is to compile
 * into the program. */
#include "kernels.h"

#include <math.h>
#include <string.h>

#define __global
typedef float float4 __attribute__((vector_size(16)));

static inline float4 float4_of(float value)
{
    return (float4){ value, value, value, value };
}

static inline float4 vload4(size_t offset, const float *from)
{
    float4 values;
    memcpy(&values, from + 4 * offset, sizeof values);
    return values;
}

static inline void vstore4(float4 values, size_t offset, float *to)
{
    memcpy(to + 4 * offset, &values, sizeof values);
}

#define fmax fmaxf
#define exp expf
#define log logf

#define KERNEL(name) \
    static void name(const struct kernel_arguments *a, float *arena, unsigned int item)
#include "kernels.cl"

#define ROW(name) { #name, name },
static const struct {
    const char *name;
    kernel *run;
} kernels[] = { ALL_KERNELS(ROW) };

kernel *kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return kernels[i].run;
    return NULL;
}

extern const char kernel_arguments_text[], kernels_text[];
__asm__(".pushsection .rodata\n"
        "kernel_arguments_text: .incbin \"kernel_arguments.h\"\n .byte 0\n"
        "kernels_text: .incbin \"kernels.cl\"\n .byte 0\n"
        ".popsection\n");

const char *const kernel_texts[KERNEL_TEXTS] = { kernel_arguments_text, kernels_text };
