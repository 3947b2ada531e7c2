/* SPDX-License-Identifier: Apache-2.0 */
/* types.h — when two names of kinds of operations mean the same: "aten::mm" and "torch.aten.mm",
 * "_FusedMatMul" and "tf.MatMul", HLO's "dot" and "stablehlo.dot_general". Thread-safe.
 *
 * A kind is a short text: the name without dialect, overload and version, in small letters without
 * "_" and "-"; words of one meaning are replaced by the first of them. */
#ifndef VV_MLIR_MATCH_TYPES_H
#define VV_MLIR_MATCH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VV_MLIR_KIND_BYTES = 48 };

struct vv_mlir_kind {
    char exact[VV_MLIR_KIND_BYTES];  /* "" = says nothing: a fusion, a call, a copy              */
    char family[VV_MLIR_KIND_BYTES]; /* the same after words of one meaning have been replaced    */
    bool is_fused;                   /* "_FusedX": a pattern that begins with X                  */
};

/* The kind that a type of a profile, or an operation's name in a module, stands for. */
void vv_mlir_kind_of(const char *text, size_t bytes, struct vv_mlir_kind *out_kind);

#endif
