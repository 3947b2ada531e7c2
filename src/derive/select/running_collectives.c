/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/running_collectives.h"

#include "varve/varve.h"

enum varve_code vv_running_collectives(const struct vv_scope *scope, struct vv_scratch *scratch,
                                       struct vv_intervals **out_of_process,
                                       struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    const struct vv_slices *slices = &model->slices;
    struct vv_intervals *sets;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &sets, model->processes.table.count, error));
    for (uint32_t p = 0; p < model->processes.table.count; p++)
        sets[p].scratch = scratch;
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t process = model->tracks.process[t], row, last;
        if (model->tracks.kind[t] != VV_TRACK_ASYNC || process >= model->processes.table.count ||
            !scope->processes[process] || scope->by_thread)
            continue;
        for (vv_track_rows(model, t, &row, &last); row < last; row++)
            if (slices->layer[row] == VARVE_LAYER_COMM)
                VV_TRY(vv_intervals_add(&sets[process], slices->begin_ns[row],
                                        slices->begin_ns[row] + slices->duration_ns[row], error));
    }
    for (uint32_t p = 0; p < model->processes.table.count; p++)
        vv_intervals_unite(&sets[p]);
    *out_of_process = sets;
    return VARVE_OK;
}
