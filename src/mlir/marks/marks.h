/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h — what is written onto each operation that a record was found on. */
#ifndef VV_MLIR_MARKS_MARKS_H
#define VV_MLIR_MARKS_MARKS_H

#include "mlir/match/match.h"
#include "mlir/write/write.h"

/* One mark for each operation of each group, in the order of the operations; *out_marks is the
 * caller's. A group's primary operation has the sum of its records; the others have its number and
 * size alone. */
enum varve_code vv_mlir_marks_make(const struct vv_mlir_profile *profile,
                                   const struct vv_mlir_matches *matches,
                                   struct vv_mlir_mark **out_marks, size_t *out_count,
                                   struct varve_error *error);

#endif
