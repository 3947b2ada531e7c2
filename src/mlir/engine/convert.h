/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h — a module from one form into another, by the first engine that can. */
#ifndef VV_MLIR_ENGINE_CONVERT_H
#define VV_MLIR_ENGINE_CONVERT_H

#include "mlir/engine/engine.h"

struct vv_mlir_conversion {
    const char *name; /* of the module, for messages                                             */
    int from, to;     /* descriptors of regular files                                            */
    enum vv_mlir_form form;
};

/* Libraries in their order, then LLVM 19, unless the options say which. The message is of the
 * first. */
enum varve_code vv_mlir_convert_by(const struct vv_mlir_conversion *conversion,
                                   const struct vv_mlir_engine_options *options,
                                   enum vv_mlir_engine *out_engine, struct varve_error *error);

#endif
