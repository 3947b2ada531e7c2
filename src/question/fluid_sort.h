/* SPDX-License-Identifier: Apache-2.0 */
/* fluid_sort.h — the keys that the report of PaddlePaddle Fluid's profiler can be sorted by. The
 * table needs them to sort, its text to say so. Thread-safe. */
#ifndef VV_QUESTION_FLUID_SORT_H
#define VV_QUESTION_FLUID_SORT_H

#include "base/error.h"

enum vv_fluid_sort {
    VV_FLUID_FIRST_END, VV_FLUID_CALLS, VV_FLUID_TOTAL, VV_FLUID_MIN, VV_FLUID_MAX, VV_FLUID_AVE,
    VV_FLUID_CPU, VV_FLUID_GPU
};

/* The key for a word of Fluid's ("ave") or for a column's name ("mean_ns"); NULL is "default".
 * VARVE_INVALID: there is no such key, and the message lists the keys. */
enum varve_code vv_fluid_sort_find(const char *word, enum vv_fluid_sort *out_key,
                                   struct varve_error *error);

/* What Fluid says that it sorts by: "total time". */
const char *vv_fluid_sort_says(enum vv_fluid_sort key);

#endif
