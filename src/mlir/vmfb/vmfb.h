/* SPDX-License-Identifier: Apache-2.0 */
/* vmfb.h — the locations that a program of IREE (.vmfb) carries, as MLIR text: so whatever reads
 * the locations of modules reads those of deployed programs.
 *
 *     vm.func @main {
 *       vm.instruction loc(#vm7)                one for each location of the function, in order
 *     } loc(unknown)
 *     #vm7 = loc(fused<{varve.profile = {…}}>["model.py":3:1])
 *
 * A metadata text that an earlier location has, too, is left out: IREE 3.13 keeps texts in a table
 * whose keys point to freed memory, so some locations get the text of another. The first one with a
 * text is the one that it was written for.
 *
 * The file is a flatbuffer, within a zip archive or alone (iree/schemas/bytecode_module_def.fbs).
 * Every offset is checked before it is followed. Thread-safe. */
#ifndef VV_MLIR_VMFB_VMFB_H
#define VV_MLIR_VMFB_VMFB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Of the first bytes of a file; 4096 are enough. */
VV_MUST_USE bool vv_mlir_is_vmfb(const void *head, uint64_t bytes);

/* *out_text is NUL-terminated and belongs to the caller. VARVE_CORRUPT: the message says the byte;
 * VARVE_NOT_FOUND: the program carries no locations, and the message says how it would. `path` is
 * for messages. */
enum varve_code vv_mlir_vmfb_text(const char *path, const void *data, uint64_t bytes,
                                  char **out_text, uint64_t *out_bytes, struct varve_error *error);

#endif
