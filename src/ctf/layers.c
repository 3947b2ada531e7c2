/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c — names of the layer bits, for metadata, options and the environment. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/counted.h"
#include "base/text/nearest.h"
#include "ctf/foreign_layers.h"
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

static bool find_layers(const char *word, size_t length, uint32_t *out_layers)
{
    for (size_t i = 0; i < LAYER_COUNT; i++)
        if (vv_text_is_in_any_case(word, length, known[i].name)) {
            *out_layers = known[i].bit;
            return true;
        }
    for (size_t i = 0; i < VV_FOREIGN_LAYERS; i++)
        if (vv_text_is_in_any_case(word, length, vv_foreign_layers[i].name)) {
            *out_layers = vv_foreign_layers[i].layers;
            return true;
        }
    return false;
}

static enum varve_code no_such_layer(const char *word, size_t length, struct varve_error *error)
{
    char copy[64];
    const char *names[LAYER_COUNT + VV_FOREIGN_LAYERS + 1] = { NULL }, **next = names;
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 60 ? length : 60), word);
    for (size_t i = 0; i < LAYER_COUNT; i++)
        *next++ = known[i].name;
    for (size_t i = 0; i < VV_FOREIGN_LAYERS; i++)
        *next++ = vv_foreign_layers[i].name;
    const char *nearest = vv_nearest(copy, names);
    VV_FAIL(error, VARVE_INVALID,
            "no such layer '%s'%s%s. Write all, or some of API, HOST, OP, RUNTIME, RUNTIME_L1, "
            "DEVICE, COMM, MEMORY, STEP, PYTHON, METRIC with commas between",
            copy, nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "");
}

static enum varve_code parse_words(const char *text, uint32_t *out_layers,
                                   struct varve_error *error)
{
    uint32_t mask = 0, layers = 0;
    for (const char *word = text;;) {
        size_t length = strcspn(word, ",");
        if (!find_layers(word, length, &layers))
            return no_such_layer(word, length, error);
        mask |= layers;
        if (word[length] == '\0')
            break;
        word += length + 1;
    }
    if (mask == 0)
        VV_FAIL(error, VARVE_INVALID,
                "'%.60s' turns no layer of Varve's on, so nothing would be recorded", text);
    *out_layers = mask;
    return VARVE_OK;
}

enum varve_code vv_layers_parse(const char *text, uint32_t *out_layers, struct varve_error *error)
{
    if (*text < '0' || *text > '9')
        return parse_words(text, out_layers, error);
    char *end;
    unsigned long mask = strtoul(text, &end, 0);
    if (*end != '\0' || mask == 0 || mask > VARVE_LAYER_ALL)
        VV_FAIL(error, VARVE_INVALID,
                "'%.60s' is no mask of layers: it is a number from 1 to 0x%x", text,
                VARVE_LAYER_ALL);
    *out_layers = (uint32_t)mask;
    return VARVE_OK;
}
