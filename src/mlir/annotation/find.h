/* SPDX-License-Identifier: Apache-2.0 */
/* find.h — the annotation that an operation of a module carries. */
#ifndef VV_MLIR_ANNOTATION_FIND_H
#define VV_MLIR_ANNOTATION_FIND_H

#include "mlir/annotation/annotation.h"
#include "mlir/module/module.h"

/* The annotation of ops[row]: ours, in its location or its attributes; otherwise profiler_data, as
 * mlirgraph's pass writes it. False: it has none. */
bool vv_mlir_annotation_find(const struct vv_mlir_module *module, uint32_t row,
                             struct vv_mlir_annotation *out_annotation);

#endif
