/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h — what each operation of a function, of its loops and of the functions that it calls is
 * made from. Called by arguments.c alone. */
#ifndef VV_MLIR_MATCH_FLOW_H
#define VV_MLIR_MATCH_FLOW_H

#include "mlir/match/matching.h"

/* Gives anchors to the operations that run when the entries, rows of functions, are called. */
enum varve_code vv_mlir_flow(struct vv_mlir_matching *matching, const struct vv_mlir_ops *entries,
                             struct varve_error *error);

/* What flow.c asks arguments.c. */
bool vv_mlir_is_form(const struct vv_mlir_matching *matching, uint32_t op);
enum varve_code vv_mlir_read_owner(struct vv_mlir_matching *matching, uint32_t op,
                                   uint32_t *out_owner, struct varve_error *error);
/* The operation is made from this, too: it has an anchor for each call of its function. */
enum varve_code vv_mlir_add_anchor(struct vv_mlir_matching *matching, uint32_t op,
                                   const struct vv_mlir_anchor *anchor, struct varve_error *error);

#endif
