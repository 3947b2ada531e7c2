/* SPDX-License-Identifier: Apache-2.0 */
/* values.h — what passes between the operations of a program: which result of which operation, or
 * which argument of a function, another operation takes, and how large it is.
 *
 * Values are found by their names in the text, within the regions in which MLIR lets a name be
 * seen; so any dialect in any form has them. Thread-safe on a shared module. */
#ifndef VV_MLIR_VALUES_VALUES_H
#define VV_MLIR_VALUES_VALUES_H

#include "mlir/module/module.h"

#define VV_MLIR_BYTES_UNKNOWN (-1)

struct vv_mlir_value {
    uint32_t op;          /* row: the operation that makes it, or whose argument it is           */
    uint32_t number;      /* of the result or argument                                          */
    bool is_argument;     /* of a region of `op`: a function's                                  */
    struct vv_mlir_span type; /* "tensor<4x8xf32>"; empty = not known                            */
    int64_t bytes;        /* of its data; VV_MLIR_BYTES_UNKNOWN                                  */
};

struct vv_mlir_use {
    uint32_t value;       /* row in values                                                      */
    uint32_t op;          /* row: who takes it                                                  */
};

struct vv_mlir_values {
    struct vv_mlir_value *values;
    struct vv_mlir_use *uses;  /* in order of op; each pair once                                 */
    size_t value_count, use_count, value_capacity, use_capacity;
};

enum varve_code vv_mlir_values_find(const struct vv_mlir_module *module,
                                    struct vv_mlir_values *out_values, struct varve_error *error);
void vv_mlir_values_deinit(struct vv_mlir_values *values); /* of a zeroed one, too */

/* The types of an operation's results, in order; fewer than results are written if the text does
 * not say them. Returns their number. */
uint32_t vv_mlir_result_types(const struct vv_mlir_module *module, uint32_t op,
                              struct vv_mlir_span *out_types, uint32_t most);
/* The types of what it takes in, in order: those before "->" in the generic form, those of ins( )
 * in linalg's. Returns their number; 0 if the text does not say them so. */
uint32_t vv_mlir_input_types(const struct vv_mlir_module *module, uint32_t op,
                             struct vv_mlir_span *out_types, uint32_t most);
/* The size of each dimension of a type with a shape: "tensor<4x?xf32>" has 4 and -1. Returns the
 * rank, at most `most`; -1 = this is no such type, or its rank is not known. */
int vv_mlir_type_sizes(const char *text, struct vv_mlir_span type, int64_t *out_sizes, int most);
/* Bytes of a value of this type: tensors, memrefs and vectors of any dialect whose sizes are all
 * known, and scalars. */
int64_t vv_mlir_type_bytes(const char *text, struct vv_mlir_span type);

#endif
