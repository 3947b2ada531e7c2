/* SPDX-License-Identifier: Apache-2.0 */
/* torch_range.h — the ranges that PyTorch's emit_nvtx makes of its operators, for importers of
 * NVTX and roctx. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_TORCH_RANGE_H
#define VV_IMPORT_ROWS_TORCH_RANGE_H

#include <stdbool.h>

#include "model/model.h"

/* What the text of a range says if PyTorch made the range of an operator: its name without what
 * stands behind, and whether it is an operator. Other texts are names. */
struct vv_torch_range {
    uint32_t name, said; /* strings */
    bool is_operator;
};
enum varve_code vv_torch_range(struct vv_model *model, uint32_t text,
                               struct vv_torch_range *out_range, struct varve_error *error);
/* Adds what stands behind the name: columns of the operator, arguments of the slice. */
enum varve_code vv_torch_range_columns(struct vv_model *model, uint32_t slice,
                                       const struct vv_torch_range *range,
                                       struct varve_error *error);

#endif
