/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c — PyTorch has ten thousands of kernels, so they lie in blocks by number. */
#include "collect/rocm/symbols.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 4096u
#define BLOCK_KERNELS 1024u

static struct vv_rocm_symbol *blocks[BLOCKS];

/* "gemm.kd" is the symbol of what describes the kernel `gemm`. */
static size_t length_of(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".kd") == 0 ? length - 3 : length;
}

bool vv_rocm_symbol_add(uint64_t kernel, const char *name, uint32_t registers)
{
    uint64_t block = kernel / BLOCK_KERNELS;
    if (block >= BLOCKS || name == NULL)
        return false;
    if (blocks[block] == NULL)
        blocks[block] = calloc(BLOCK_KERNELS, sizeof *blocks[block]);
    if (blocks[block] == NULL)
        return false;
    size_t length = length_of(name);
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, name, length);
    copy[length] = '\0';
    struct vv_rocm_symbol *symbol = &blocks[block][kernel % BLOCK_KERNELS];
    free(symbol->name);
    *symbol = (struct vv_rocm_symbol){ copy, registers };
    return true;
}

const struct vv_rocm_symbol *vv_rocm_symbol_of(uint64_t kernel)
{
    uint64_t block = kernel / BLOCK_KERNELS;
    if (block >= BLOCKS || blocks[block] == NULL)
        return NULL;
    const struct vv_rocm_symbol *symbol = &blocks[block][kernel % BLOCK_KERNELS];
    return symbol->name != NULL ? symbol : NULL;
}
