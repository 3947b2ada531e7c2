/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h — the two places of an annotation. */
#ifndef VV_MLIR_WRITE_KINDS_H
#define VV_MLIR_WRITE_KINDS_H

#include "mlir/write/write.h"

typedef enum varve_code vv_mlir_writer(const struct vv_mlir_module *module,
                                       const struct vv_mlir_mark *marks, size_t count,
                                       const struct vv_mlir_write_options *options, FILE *out,
                                       struct varve_error *error);
vv_mlir_writer vv_mlir_write_locations, vv_mlir_write_attributes;

#endif
