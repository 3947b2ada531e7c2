/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h — the places of a text that are written anew, in the order of the text. */
#ifndef VV_MLIR_WRITE_EDITS_H
#define VV_MLIR_WRITE_EDITS_H

#include <stdio.h>

#include "mlir/module/module.h"

struct vv_mlir_edit {
    struct vv_mlir_span span; /* what is left out; empty = only put in                           */
    uint32_t op, mark;        /* rows; VV_MLIR_NONE                                              */
};

struct vv_mlir_edits {
    struct vv_mlir_edit *items;
    size_t count, capacity;
};

enum varve_code vv_mlir_edit_add(struct vv_mlir_edits *edits, struct vv_mlir_span span, uint32_t op,
                                 uint32_t mark, struct varve_error *error);
void vv_mlir_edits_sort(struct vv_mlir_edits *edits);
void vv_mlir_edits_deinit(struct vv_mlir_edits *edits);

static inline void vv_mlir_put(const struct vv_mlir_module *module, uint64_t begin, uint64_t end,
                               FILE *out)
{
    if (end > begin)
        fwrite(module->text + begin, 1, end - begin, out);
}

#endif
