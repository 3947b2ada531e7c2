/* SPDX-License-Identifier: Apache-2.0 */
/* read.h — what reading a module is made of. */
#ifndef VV_MLIR_MODULE_READ_H
#define VV_MLIR_MODULE_READ_H

#include "mlir/module/module.h"

/* text[at] opens a bracket: ( [ { or <. The byte behind the one that closes it; strings and
 * comments inside are passed over. VARVE_CORRUPT: it is not closed, or by another one. */
enum varve_code vv_mlir_skip_brackets(const struct vv_mlir_module *module, uint64_t at,
                                      uint64_t *out_end, struct varve_error *error);

/* Does the '<' (the '>') at this place belong to a pair of brackets, and not to "->", "<=" …? */
bool vv_mlir_opens(const char *text, uint64_t at, uint64_t end);
bool vv_mlir_closes(const char *text, uint64_t at, uint64_t end);

/* Fills module->slots. */
enum varve_code vv_mlir_index_aliases(struct vv_mlir_module *module, struct varve_error *error);

/* Fills module->places and parts for all operations that have been found. */
enum varve_code vv_mlir_read_locations(struct vv_mlir_module *module, struct varve_error *error);

#endif
