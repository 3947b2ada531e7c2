/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c — names of the layer bits, for metadata, options and the environment. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/counted.h"
#include "ctf/metadata_write.h"
#include "varve/varve.h"

static const struct {
    uint32_t bit;
    const char *name;
} known[] = {
    { VARVE_LAYER_API, "API" },         { VARVE_LAYER_HOST, "HOST" },
    { VARVE_LAYER_OP, "OP" },           { VARVE_LAYER_RUNTIME, "RUNTIME" },
    { VARVE_LAYER_RUNTIME_L1, "RUNTIME_L1" }, { VARVE_LAYER_DEVICE, "DEVICE" },
    { VARVE_LAYER_COMM, "COMM" },       { VARVE_LAYER_MEMORY, "MEMORY" },
    { VARVE_LAYER_STEP, "STEP" },       { VARVE_LAYER_PYTHON, "PYTHON" },
    { VARVE_LAYER_METRIC, "METRIC" },   { VARVE_LAYER_ALL, "ALL" },
};
#define LAYER_COUNT (sizeof known / sizeof known[0])

const char *vv_layer_name(uint32_t layer)
{
    for (size_t i = 0; i < LAYER_COUNT; i++)
        if (known[i].bit == layer)
            return known[i].name;
    return "";
}

uint32_t vv_layer_single(uint32_t layers)
{
    layers &= VARVE_LAYER_ALL;
    return layers != 0 ? layers & (~layers + 1) : VARVE_LAYER_OP;
}

static uint32_t one_layer(const char *word, size_t length)
{
    for (size_t i = 0; i < LAYER_COUNT; i++)
        if (vv_text_is_in_any_case(word, length, known[i].name))
            return known[i].bit;
    return 0;
}

uint32_t vv_layers_parse(const char *text)
{
    if (*text >= '0' && *text <= '9') {
        char *end;
        unsigned long mask = strtoul(text, &end, 0);
        return *end == '\0' && mask <= VARVE_LAYER_ALL ? (uint32_t)mask : 0;
    }
    uint32_t mask = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t bit = one_layer(text, length);
        if (bit == 0)
            return 0;
        mask |= bit;
        if (text[length] == '\0')
            return mask;
        text += length + 1;
    }
}
