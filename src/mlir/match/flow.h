/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h — what each operation of a function, of its loops and of the functions that it calls is
 * made from. Called by arguments.c alone. */
#ifndef VV_MLIR_MATCH_FLOW_H
#define VV_MLIR_MATCH_FLOW_H

#include "mlir/match/matching.h"

/* Gives anchors to the operations that run when the entries, rows of functions, are called. */
enum varve_code vv_mlir_flow(struct vv_mlir_matching *matching, const struct vv_mlir_ops *entries,
                             struct varve_error *error);

#endif
