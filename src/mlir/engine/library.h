/* SPDX-License-Identifier: Apache-2.0 */
/* library.h — which libraries with MLIR's C API a user has named, and where our converters are. */
#ifndef VV_MLIR_ENGINE_LIBRARY_H
#define VV_MLIR_ENGINE_LIBRARY_H

#include <limits.h>
#include <stddef.h>

#include "mlir/engine/engine.h"

#define VV_MLIR_LIBRARIES_MAX 3

struct vv_mlir_libraries {
    char paths[VV_MLIR_LIBRARIES_MAX][PATH_MAX]; /* the best first                              */
    size_t count;
};

/* Of options->library; without it, of the active Python's environment, and then there may be none.
 * VARVE_NOT_FOUND: it names none. */
enum varve_code vv_mlir_find_libraries(const struct vv_mlir_engine_options *options,
                                       struct vv_mlir_libraries *out_libraries,
                                       struct varve_error *error);

/* The path of our executable `name`; false if this build has none. */
bool vv_mlir_find_converter(const struct vv_mlir_engine_options *options, const char *name,
                            char out_path[PATH_MAX]);

#endif
