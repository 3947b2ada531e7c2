/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/write/edits.h"

#include <stdlib.h>

#include "base/array.h"

enum varve_code vv_mlir_edit_add(struct vv_mlir_edits *edits, struct vv_mlir_span span, uint32_t op,
                                 uint32_t mark, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&edits->items, &edits->capacity, edits->count + 1,
                            sizeof *edits->items, error));
    edits->items[edits->count++] = (struct vv_mlir_edit){ span, op, mark };
    return VARVE_OK;
}

static int compare(const void *left, const void *right)
{
    const struct vv_mlir_edit *a = left, *b = right;
    if (a->span.begin != b->span.begin)
        return a->span.begin < b->span.begin ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

void vv_mlir_edits_sort(struct vv_mlir_edits *edits)
{
    if (edits->count > 1)
        qsort(edits->items, edits->count, sizeof *edits->items, compare);
}

void vv_mlir_edits_deinit(struct vv_mlir_edits *edits)
{
    free(edits->items);
    *edits = (struct vv_mlir_edits){ NULL, 0, 0 };
}
