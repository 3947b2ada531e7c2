/* SPDX-License-Identifier: Apache-2.0 */
/* outputs.h — compares what two programs have computed: files of NumPy arrays, one behind the
 * other, as iree-run-module writes them. Thread-safe. */
#ifndef VV_MLIR_TUNE_OUTPUTS_H
#define VV_MLIR_TUNE_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct vv_tune_difference {
    bool is_equal;        /* byte for byte                                                      */
    double max_abs;       /* infinite: a value is not a number, or infinite, in only one of them */
    double max_rel;       /* max_abs of an array / its largest magnitude in the first file      */
    uint64_t values;
};

/* VARVE_CORRUPT: a file is no NumPy array of a type that is known, or the arrays differ in number,
 * type or shape. */
enum varve_code vv_tune_compare(const char *first_path, const char *second_path,
                                struct vv_tune_difference *out_difference,
                                struct varve_error *error);

#endif
