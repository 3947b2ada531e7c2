/* SPDX-License-Identifier: Apache-2.0 */
#include "question/fluid_sort.h"

#include <string.h>

/* Fluid calls its last two keys "average time", too. They only change a line of text, so the line
 * is true here: doc/truth.md. */
static const struct { const char *word, *column, *says; } keys[] = {
    [VV_FLUID_FIRST_END] = { "default", "default", "event first end time" },
    [VV_FLUID_CALLS] = { "calls", "calls", "number of calls" },
    [VV_FLUID_TOTAL] = { "total", "total_ns", "total time" },
    [VV_FLUID_MIN] = { "min", "min_ns", "minimum time" },
    [VV_FLUID_MAX] = { "max", "max_ns", "maximum time" },
    [VV_FLUID_AVE] = { "ave", "mean_ns", "average time" },
    [VV_FLUID_CPU] = { "cpu", "cpu_ns", "CPU time" },
    [VV_FLUID_GPU] = { "gpu", "gpu_ns", "GPU time" },
};

enum varve_code vv_fluid_sort_find(const char *word, enum vv_fluid_sort *out_key,
                                   struct varve_error *error)
{
    *out_key = VV_FLUID_FIRST_END;
    if (word == NULL)
        return VARVE_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        *out_key = (enum vv_fluid_sort)i;
        if (strcmp(word, keys[i].word) == 0 || strcmp(word, keys[i].column) == 0)
            return VARVE_OK;
    }
    VV_FAIL(error, VARVE_INVALID,
            "cannot sort Fluid's report by '%s'. Try default, calls, total, min, max, ave, cpu or "
            "gpu",
            word);
}

const char *vv_fluid_sort_says(enum vv_fluid_sort key)
{
    return keys[key].says;
}
