/* SPDX-License-Identifier: Apache-2.0 */
/* lists.h — operations by a number: of a text, of a tag. Thread-compatible.
 *
 * Add operations in their order, then finish; then the operations of a number are found at once. */
#ifndef VV_MLIR_MATCH_LISTS_H
#define VV_MLIR_MATCH_LISTS_H

#include "base/scratch.h"
#include "mlir/module/module.h"

struct vv_mlir_ops {   /* some operations, in order; borrowed                                    */
    const uint32_t *items;
    size_t count;
};

struct vv_mlir_list {
    struct vv_scratch *scratch;
    uint32_t *keys, *ops;    /* as they were added                                              */
    size_t count, key_capacity, op_capacity;
    uint32_t *starts;        /* after finish: key -> its first in ops; key_limit + 1 of them     */
    uint32_t key_limit;
};

enum varve_code vv_mlir_list_add(struct vv_mlir_list *list, uint32_t key, uint32_t op,
                                 struct varve_error *error);
enum varve_code vv_mlir_list_finish(struct vv_mlir_list *list, struct varve_error *error);
/* Those of a number; none for any that was not added. */
struct vv_mlir_ops vv_mlir_list_of(const struct vv_mlir_list *list, uint32_t key);

#endif
