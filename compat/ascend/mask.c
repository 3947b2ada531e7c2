/* SPDX-License-Identifier: Apache-2.0 */
#include "ascend/mask.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "varve/varve.h"

#define L(layer) VARVE_LAYER_##layer

/* Today's bits; the bit of 2019 that means the same, 0 = none; what it records here (doc/control.md
 * has the same table); which bits it brings along. */
static const struct {
    uint64_t mask, old;
    uint32_t layers;
    uint64_t with;
} bits[] = {
    { 0x1, 0x1, L(API), 0 },
    { 0x2, 0x2, L(API) | L(OP) | L(RUNTIME) | L(DEVICE), 0x800 },
    { 0x4, 0x4, 0, 0 },
    { 0x8, 0x8, 0, 0 },
    { 0x10, 0, 0, 0 },
    { 0x20, 0x1000, L(COMM), 0 },
    { 0x40, 0x800, L(STEP), 0 },
    { 0x80, 0, L(API) | L(METRIC), 0 },
    { 0x100, 0x20, L(RUNTIME), 0 },
    { 0x200, 0, L(HOST) | L(RUNTIME), 0 },
    { 0x800, 0, L(API) | L(OP) | L(DEVICE), 0 },
    { 0x1000, 0, L(MEMORY), 0 },
    { 0x2000, 0, L(API) | L(OP) | L(RUNTIME) | L(RUNTIME_L1) | L(DEVICE), 0x802 },
    { 0x4000, 0, L(OP), 0x802 },
    { 0x8000, 0, L(API) | L(OP) | L(RUNTIME) | L(RUNTIME_L1) | L(DEVICE), 0x2802 },
    { 0x1000000, 0x10, L(HOST) | L(RUNTIME) | L(RUNTIME_L1), 0 },
    { UINT64_C(1) << 34, 0, 0, 0 },
    { UINT64_C(1) << 35, 0, 0, 0 },
    { UINT64_C(1) << 62, 0, 0, 0 },
};
#define BIT_COUNT (sizeof bits / sizeof *bits)

/* Bits of 2019 that no configuration of today may have, but commands do. */
static const struct { uint64_t mask, old; } commands[] = {
    { 0x4000000, 0x40 }, { 0x8000000, 0x80 }, { 0x10000000, 0x100 }, { 0x20000000, 0x200 },
    { 0x40000000, 0x400 }, { UINT64_C(1) << 63, UINT64_C(1) << 63 },
};

static bool is_old(void)
{
    const char *said = secure_getenv("VARVE_ASCEND_MASK");
    return said != NULL && strcmp(said, "2019") == 0;
}

uint64_t vv_mask_unknown(uint64_t mask)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands && is_old(); i++)
        mask &= ~commands[i].mask;
    for (size_t i = 0; i < BIT_COUNT; i++)
        mask &= ~bits[i].mask;
    return mask;
}

uint64_t vv_mask_completed(uint64_t mask)
{
    uint64_t completed = mask | VV_MASK_AICPU_MODEL;
    for (size_t i = 0; i < BIT_COUNT; i++)
        if ((mask & bits[i].mask) != 0)
            completed |= bits[i].with;
    return completed;
}

uint32_t vv_mask_to_layers(uint64_t mask)
{
    uint32_t layers = 0;
    for (size_t i = 0; i < BIT_COUNT; i++)
        if ((mask & bits[i].mask) != 0)
            layers |= bits[i].layers;
    return layers;
}

uint64_t vv_mask_of_layers(uint32_t layers)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < BIT_COUNT; i++)
        if (bits[i].layers != 0 && (bits[i].layers & ~layers) == 0)
            mask |= bits[i].mask;
    /* Models that are loaded already tell of themselves again. */
    if ((layers & L(OP)) != 0)
        mask |= VV_MASK_MODEL_LOAD | UINT64_C(0x80000000);
    return vv_mask_completed(mask);
}

uint64_t vv_mask_from_program(uint64_t mask)
{
    if (!is_old())
        return mask;
    uint64_t today = 0;
    for (size_t i = 0; i < BIT_COUNT; i++)
        today |= (mask & bits[i].old) != 0 ? bits[i].mask : 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        today |= (mask & commands[i].old) != 0 ? commands[i].mask : 0;
    return today;
}

uint64_t vv_mask_to_program(uint64_t mask)
{
    if (!is_old())
        return mask;
    uint64_t old = 0;
    for (size_t i = 0; i < BIT_COUNT; i++)
        old |= (mask & bits[i].mask) != 0 ? bits[i].old : 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        old |= (mask & commands[i].mask) != 0 ? commands[i].old : 0;
    return old;
}

const char *vv_metrics_name(uint32_t metrics)
{
    static const char *const names[] = {
        "ArithmeticUtilization", "PipeUtilization", "Memory", "MemoryL0", "ResourceConflictRatio",
        "MemoryUB", "L2Cache", "PipelineExecuteUtilization",
    };
    return metrics < sizeof names / sizeof *names ? names[metrics] : NULL;
}
