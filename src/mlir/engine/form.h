/* SPDX-License-Identifier: Apache-2.0 */
/* form.h — what a file is, by its first bytes: MLIR text, bytecode, or what other tools write. */
#ifndef VV_MLIR_ENGINE_FORM_H
#define VV_MLIR_ENGINE_FORM_H

#include "mlir/engine/engine.h"

/* Fails with VARVE_CORRUPT for a file that is neither text nor bytecode. `path` is for the message
 * alone. */
enum varve_code vv_mlir_form_of(const char *path, const char *text, uint64_t bytes,
                                enum vv_mlir_form *out_form, struct varve_error *error);

#endif
