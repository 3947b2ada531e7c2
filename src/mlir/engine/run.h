/* SPDX-License-Identifier: Apache-2.0 */
/* run.h — one run of a converter, in a process of its own that cannot outlive its time. */
#ifndef VV_MLIR_ENGINE_RUN_H
#define VV_MLIR_ENGINE_RUN_H

#include "mlir/engine/engine.h"

struct vv_mlir_run {
    const char *program; /* path                                                                 */
    const char *library; /* its first word; NULL = it takes none                                 */
    const char *name;    /* of the module, for messages                                          */
    const char *form;    /* word                                                                 */
    int from, to;        /* descriptors of files                                                 */
    int64_t limit_ms;
};

/* VARVE_CORRUPT: it refuses the module; VARVE_UNSUPPORTED: the library or the module is not of the
 * kind that it takes, or it crashed; VARVE_LIMIT: it was ended after its time. */
enum varve_code vv_mlir_run(const struct vv_mlir_run *run, struct varve_error *error);

#endif
