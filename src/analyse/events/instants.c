/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/events/instants.h"

#include <inttypes.h>
#include <stdio.h>

enum varve_code vv_instants_init(struct vv_instants *instants, const struct vv_model *model,
                                 const struct vv_selection *selection, struct vv_scratch *scratch,
                                 struct varve_error *error)
{
    struct vv_selection with_warm_up = *selection;
    with_warm_up.warm_up = true;
    VV_TRY(vv_scope_init(&instants->scope, model, &with_warm_up, scratch, error));
    return vv_step_finder_init(&instants->steps, model, scratch, error);
}

uint32_t vv_instant_process(const struct vv_instants *instants, uint32_t track)
{
    return track != VV_NONE ? instants->scope.model->tracks.process[track] : VV_NONE;
}

bool vv_instant_counts(const struct vv_instants *instants, uint32_t track, int64_t time_ns,
                       uint32_t *out_step)
{
    const struct vv_scope *scope = &instants->scope;
    uint32_t process = vv_instant_process(instants, track);
    *out_step = vv_step_at(&instants->steps, track, time_ns);
    if (process != VV_NONE && !scope->processes[process])
        return false;
    if (scope->by_thread && (track == VV_NONE || !scope->tracks[track]))
        return false;
    return vv_step_counts(scope, *out_step);
}

void vv_put_process(const struct vv_scope *scope, struct vv_sheet *sheet, size_t row,
                    size_t column, uint32_t process)
{
    if (process == VV_NONE)
        return;
    vv_sheet_int(sheet, row, column, scope->model->processes.pid[process]);
    if (scope->ranks[process] >= 0)
        vv_sheet_int(sheet, row, column + 1, scope->ranks[process]);
}

enum varve_code vv_put_place(const struct vv_instants *instants, struct vv_sheet *sheet, size_t row,
                             size_t first, struct vv_place place, struct varve_error *error)
{
    const struct vv_model *model = instants->scope.model;
    char thread[120];
    if (place.step != VV_NONE)
        vv_sheet_int(sheet, row, first + VV_PLACE_STEP, model->steps.index[place.step]);
    vv_put_process(&instants->scope, sheet, row, first + VV_PLACE_PROCESS,
                   vv_instant_process(instants, place.track));
    if (place.track == VV_NONE)
        return VARVE_OK;
    vv_track_text(model, place.track, thread, sizeof thread);
    return vv_sheet_text(sheet, row, first + VV_PLACE_THREAD, thread, error);
}

enum varve_code vv_put_count(struct vv_sheet *sheet, enum vv_row_kind kind, const int *columns,
                             uint64_t rows, uint64_t count, struct varve_error *error)
{
    char more[60];
    bool is_total = kind == VV_ROW_TOTAL;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    snprintf(more, sizeof more, "%" PRIu64 " more: --top 0", rows);
    VV_TRY(vv_sheet_text(sheet, row, (size_t)columns[VV_COUNT_ROW], is_total ? "total" : "more",
                         error));
    VV_TRY(vv_sheet_text(sheet, row, (size_t)columns[VV_COUNT_NAME], is_total ? "total" : more,
                         error));
    vv_sheet_int(sheet, row, (size_t)columns[VV_COUNT_NUMBER], (int64_t)count);
    return VARVE_OK;
}
