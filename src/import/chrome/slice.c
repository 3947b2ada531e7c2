/* SPDX-License-Identifier: Apache-2.0 */
/* slice.c — adds a row to slices for an event with a begin. */
#include "import/chrome/number.h"
#include "import/chrome/reader.h"

/* Slices with equal begin and duration keep the producer's own order, if it gives one, whatever
 * their order in the file is. Slices without one come after these, in the order of the file. */
#define ORDER_OF_FILE (UINT32_C(1) << 31)

enum varve_code vv_chrome_add_slice(struct vv_chrome_reader *reader, int64_t duration_ns,
                                    uint32_t *out_slice, struct varve_error *error)
{
    struct vv_slices *slices = &reader->model->slices;
    const struct vv_chrome_now *now = &reader->now;
    const struct vv_dialect_class *class = now->class;
    uint32_t row;
    VV_TRY(vv_model_add_slice(reader->model, &row, error));
    slices->begin_ns[row] = now->time_ns;
    slices->duration_ns[row] = duration_ns < 0 ? 0 : duration_ns;
    slices->name[row] = now->name;
    slices->track[row] = now->place.row;
    slices->category[row] = now->category;
    slices->layer[row] = class->layer;
    slices->order[row] = ORDER_OF_FILE | now->ordinal;
    slices->flags[row] = duration_ns < 0 ? VV_SLICE_UNFINISHED : 0;
    if (class->flags & VV_DIALECT_ON_DEVICE)
        vv_chrome_track(&reader->places, now->place.row)->is_device = true;
    *out_slice = row;
    VV_TRY(vv_kineto_slice_args(reader, row, error));
    return class->flags & (VV_DIALECT_STEPS | VV_DIALECT_RUNS) ? vv_kineto_step(reader, row, error)
                                                               : VARVE_OK;
}
