/* SPDX-License-Identifier: Apache-2.0 */
/* arg_walk.h — goes through the arguments of a slice or mark, including those that it shares with
 * others. Thread-compatible. */
#ifndef VV_MODEL_ARG_WALK_H
#define VV_MODEL_ARG_WALK_H

#include "model/model.h"

struct vv_arg_walk {
    const struct vv_args *args;
    uint32_t own, own_end;       /* rows still to visit                                         */
    uint32_t shared, shared_end; /* the same in the rows that the last VV_ARG_ROWS named         */
};

static inline struct vv_arg_walk vv_arg_walk(const struct vv_model *model, uint32_t first,
                                             uint32_t count)
{
    return (struct vv_arg_walk){ &model->args, count > 0 ? first : 0, count > 0 ? first + count : 0,
                                 0, 0 };
}

/* Gives the row of the next argument; false after the last. */
static inline bool vv_arg_next(struct vv_arg_walk *walk, uint32_t *out_row)
{
    while (walk->shared == walk->shared_end) {
        if (walk->own == walk->own_end)
            return false;
        *out_row = walk->own++;
        if (walk->args->kind[*out_row] != VV_ARG_ROWS)
            return true;
        walk->shared = (uint32_t)walk->args->value[*out_row];
        walk->shared_end = walk->shared + (uint32_t)(walk->args->value[*out_row] >> 32);
    }
    *out_row = walk->shared++;
    return true;
}

#endif
