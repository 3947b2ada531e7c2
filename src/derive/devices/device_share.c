/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/device_share.h"

#include <string.h>

static void add_up(const struct vv_slices *slices, struct vv_device_share *share)
{
    memcpy(share->total_ns, share->self_ns, slices->table.count * sizeof *share->total_ns);
    /* children come after their parents */
    for (uint32_t row = (uint32_t)slices->table.count; row > 0; row--)
        if (slices->parent[row - 1] != VV_NONE)
            share->total_ns[slices->parent[row - 1]] += share->total_ns[row - 1];
}

enum varve_code vv_device_share(const struct vv_device_work *work, struct vv_scratch *scratch,
                                struct vv_device_share *out_share, struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    size_t rows = model->slices.table.count;
    *out_share = (struct vv_device_share){ 0 };
    out_share->count = work->count;
    if (work->count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_share->self_ns, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_share->total_ns, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_share->kernels, rows, error));
    for (size_t i = 0; i < work->count; i++) {
        uint32_t owner = vv_device_owner(model, work->items[i].activity);
        int64_t duration_ns = work->items[i].end_ns - work->items[i].begin_ns;
        out_share->work_ns += duration_ns;
        if (owner == VV_NONE)
            continue;
        out_share->self_ns[owner] += duration_ns;
        out_share->kernels[owner]++;
    }
    add_up(&model->slices, out_share);
    return VARVE_OK;
}
