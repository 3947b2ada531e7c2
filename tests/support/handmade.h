/* SPDX-License-Identifier: Apache-2.0 */
/* handmade.h — small models written by hand, for unit tests of what comes after the model.
 *
 * Include after cmocka.h. Times are nanoseconds after HANDMADE_BEGIN_NS. Anything that fails ends
 * the test. Rows are those before vv_model_finish sorts. */
#ifndef VARVE_TESTS_HANDMADE_H
#define VARVE_TESTS_HANDMADE_H

#include <string.h>

#include "model/model.h"
#include "sheet/sheet.h"
#include "varve/varve.h"

#define HANDMADE_BEGIN_NS INT64_C(1763700000000000000)
#define HANDMADE_UNUSED __attribute__((unused))

static inline uint32_t handmade_text(struct vv_model *model, const char *text)
{
    uint32_t id;
    assert_int_equal(vv_model_text(model, text, &id, NULL), VARVE_OK);
    return id;
}

/* One process, pid 100. */
static inline struct vv_model *handmade_model(void)
{
    struct vv_model *model;
    uint32_t process;
    assert_int_equal(vv_model_create(&model, NULL), VARVE_OK);
    assert_int_equal(vv_model_add_process(model, &process, NULL), VARVE_OK);
    model->processes.pid[process] = 100;
    model->processes.name[process] = handmade_text(model, "made");
    model->processes.clock_uncertainty_ns[process] = -1;
    model->run.begin_ns = HANDMADE_BEGIN_NS;
    model->run.end_ns = HANDMADE_BEGIN_NS + 1000;
    model->run.exit_code = model->run.signal = -1;
    model->run.clock_uncertainty_ns = -1;
    return model;
}

static inline uint32_t handmade_track(struct vv_model *model, const char *name, int64_t tid)
{
    uint32_t track;
    assert_int_equal(vv_model_add_track(model, &track, NULL), VARVE_OK);
    model->tracks.process[track] = 0;
    model->tracks.tid[track] = tid;
    model->tracks.name[track] = handmade_text(model, name);
    model->tracks.kind[track] = VV_TRACK_THREAD;
    return track;
}

/* A slice [begin, end) of a layer. */
static inline uint32_t handmade_slice(struct vv_model *model, uint32_t track, const char *name,
                                      uint16_t layer, int64_t begin, int64_t end)
{
    uint32_t slice;
    assert_int_equal(vv_model_add_slice(model, &slice, NULL), VARVE_OK);
    model->slices.track[slice] = track;
    model->slices.name[slice] = handmade_text(model, name);
    model->slices.layer[slice] = layer;
    model->slices.begin_ns[slice] = HANDMADE_BEGIN_NS + begin;
    model->slices.duration_ns[slice] = end - begin;
    model->slices.order[slice] = slice;
    return slice;
}

HANDMADE_UNUSED static inline uint32_t handmade_op(struct vv_model *model, uint32_t track,
                                                   const char *name, int64_t begin, int64_t end)
{
    return handmade_slice(model, track, name, VARVE_LAYER_OP, begin, end);
}

HANDMADE_UNUSED static inline uint32_t handmade_phase(struct vv_model *model, uint32_t track,
                                                      const char *name, int64_t begin, int64_t end)
{
    return handmade_slice(model, track, name, VARVE_LAYER_STEP, begin, end);
}

HANDMADE_UNUSED static inline uint32_t handmade_step(struct vv_model *model, uint32_t track,
                                                     int64_t index, int64_t begin, int64_t end)
{
    uint32_t step, slice = handmade_slice(model, track, "step", VARVE_LAYER_STEP, begin, end);
    model->slices.flags[slice] |= VV_SLICE_STEP;
    assert_int_equal(vv_model_add_step(model, &step, NULL), VARVE_OK);
    model->steps.index[step] = index;
    model->steps.begin_ns[step] = HANDMADE_BEGIN_NS + begin;
    model->steps.duration_ns[step] = end - begin;
    model->steps.track[step] = track;
    return step;
}

/* Gives the slice arguments: FLOP, sequence number, forward thread. Returns the row in ops. */
HANDMADE_UNUSED static inline uint32_t handmade_arguments(struct vv_model *model, uint32_t slice,
                                                          uint64_t flop, int64_t sequence,
                                                          uint64_t forward_tid)
{
    uint32_t op;
    assert_int_equal(vv_model_add_op(model, &op, NULL), VARVE_OK);
    model->ops.flop[op] = flop;
    model->ops.sequence[op] = sequence;
    model->ops.forward_tid[op] = forward_tid;
    model->slices.op[slice] = op;
    return op;
}

HANDMADE_UNUSED static inline void handmade_finish(struct vv_model *model)
{
    struct varve_error error = { 0 };
    enum varve_code code = vv_model_finish(model, &error);
    if (code != VARVE_OK)
        fail_msg("%s", error.message);
}

/* ---- reading sheets ---- */

/* The row whose text column `key_column` is `key`; SIZE_MAX if none is. */
HANDMADE_UNUSED static inline size_t sheet_row_of(const struct vv_sheet *sheet,
                                                  const char *key_column, const char *key)
{
    size_t column = vv_sheet_find(sheet, key_column);
    assert_true(column != SIZE_MAX);
    for (size_t row = 0; row < sheet->row_count; row++) {
        const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
        if (cell->present && strcmp(cell->text, key) == 0)
            return row;
    }
    return SIZE_MAX;
}

HANDMADE_UNUSED static inline const struct vv_cell *sheet_cell_of(const struct vv_sheet *sheet,
                                                                  size_t row, const char *column)
{
    size_t index = vv_sheet_find(sheet, column);
    assert_true(index != SIZE_MAX);
    assert_true(row < sheet->row_count);
    return vv_sheet_cell(sheet, row, index);
}

HANDMADE_UNUSED static inline int64_t sheet_int_of(const struct vv_sheet *sheet, size_t row,
                                                   const char *column)
{
    const struct vv_cell *cell = sheet_cell_of(sheet, row, column);
    assert_true(cell->present);
    return cell->integer;
}

#endif
