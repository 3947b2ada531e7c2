/* SPDX-License-Identifier: Apache-2.0 */
/* build.c — vv_model_finish: from added rows to the laws that model.h states. */
#include "model/build.h"

#include <stdlib.h>

#include "model/columns.h"
#include "model/order.h"

static bool slice_before(const void *context, uint64_t a, uint64_t b)
{
    const struct vv_slices *slices = context;
    if (slices->track[a] != slices->track[b])
        return slices->track[a] < slices->track[b];
    if (slices->begin_ns[a] != slices->begin_ns[b])
        return slices->begin_ns[a] < slices->begin_ns[b];
    if (slices->duration_ns[a] != slices->duration_ns[b])
        return slices->duration_ns[a] > slices->duration_ns[b];
    return slices->order[a] < slices->order[b];
}

enum varve_code vv_build_order(struct vv_model *model, struct varve_error *error)
{
    uint64_t *order;
    VV_TRY(vv_order_rows(model->slices.table.count, slice_before, &model->slices, &order, error));
    if (order == NULL)
        return VARVE_OK;
    enum varve_code code = vv_model_permute(model, VV_TABLE_SLICES, order, error);
    free(order);
    return code;
}

enum varve_code vv_model_finish(struct vv_model *model, struct varve_error *error)
{
    VV_TRY(vv_build_order(model, error));
    VV_TRY(vv_build_nest(model, error));
    VV_TRY(vv_build_steps(model, error));
    VV_TRY(vv_build_flows(model, error));
    return vv_build_activities(model, error);
}
