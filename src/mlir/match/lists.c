/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/match/lists.h"

enum varve_code vv_mlir_list_add(struct vv_mlir_list *list, uint32_t key, uint32_t op,
                                 struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(list->scratch, &list->keys, &list->key_capacity, list->count + 1,
                              error));
    VV_TRY(VV_SCRATCH_RESERVE(list->scratch, &list->ops, &list->op_capacity, list->count + 1,
                              error));
    list->keys[list->count] = key;
    list->ops[list->count++] = op;
    if (key >= list->key_limit)
        list->key_limit = key + 1;
    return VARVE_OK;
}

/* Sorts by counting, so the operations of a key stay in order. */
enum varve_code vv_mlir_list_finish(struct vv_mlir_list *list, struct varve_error *error)
{
    uint32_t *sorted, sum = 0;
    VV_TRY(VV_SCRATCH_ZEROS(list->scratch, &list->starts, (size_t)list->key_limit + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(list->scratch, &sorted, list->count, error));
    for (size_t i = 0; i < list->count; i++)
        list->starts[list->keys[i] + 2]++;
    for (uint32_t key = 0; key < list->key_limit; key++) {
        sum += list->starts[key + 2];
        list->starts[key + 2] = sum;
    }
    for (size_t i = 0; i < list->count; i++)
        sorted[list->starts[list->keys[i] + 1]++] = list->ops[i];
    vv_scratch_release(list->scratch, list->ops);
    vv_scratch_release(list->scratch, list->keys);
    list->ops = sorted;
    list->keys = NULL;
    return VARVE_OK;
}

struct vv_mlir_ops vv_mlir_list_of(const struct vv_mlir_list *list, uint32_t key)
{
    if (list->starts == NULL || key >= list->key_limit)
        return (struct vv_mlir_ops){ NULL, 0 };
    return (struct vv_mlir_ops){ list->ops + list->starts[key],
                                 list->starts[key + 1] - list->starts[key] };
}
