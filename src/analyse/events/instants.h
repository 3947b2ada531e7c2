/* SPDX-License-Identifier: Apache-2.0 */
/* instants.h — which marks, values and arrows a selection keeps, and the columns that say where
 * each of them is, and in which step.
 *
 * Warm-up steps count: such records are facts, not durations that a slow start would blur. So the
 * rows add up to what table "trace" says. Thread-compatible. */
#ifndef VV_ANALYSE_EVENTS_INSTANTS_H
#define VV_ANALYSE_EVENTS_INSTANTS_H

#include "derive/select/scope.h"
#include "derive/select/step_at.h"

struct vv_instants {
    struct vv_scope scope;
    struct vv_step_finder steps;
};

enum varve_code vv_instants_init(struct vv_instants *instants, const struct vv_model *model,
                                 const struct vv_selection *selection, struct vv_scratch *scratch,
                                 struct varve_error *error);

/* Does the record on this track count? *out_step is its step, or VV_NONE, as `track` may be. */
bool vv_instant_counts(const struct vv_instants *instants, uint32_t track, int64_t time_ns,
                       uint32_t *out_step);
/* Row of the track's process, or VV_NONE. */
uint32_t vv_instant_process(const struct vv_instants *instants, uint32_t track);

struct vv_place { uint32_t track, step; }; /* rows; or VV_NONE */

/* The columns that vv_put_place fills, from `first` on. */
enum { VV_PLACE_STEP, VV_PLACE_THREAD, VV_PLACE_PROCESS, VV_PLACE_RANK, VV_PLACE_COLUMNS };
#define VV_PLACE_OF                                                                  \
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },           \
    { "thread", "thread", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_MUCH_ROOM }, \
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },                \
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false }

enum varve_code vv_put_place(const struct vv_instants *instants, struct vv_sheet *sheet, size_t row,
                             size_t first, struct vv_place place, struct varve_error *error);
/* pid and rank alone. `process` is a row or VV_NONE; `column` is that of the pid. */
void vv_put_process(const struct vv_scope *scope, struct vv_sheet *sheet, size_t row,
                    size_t column, uint32_t process);

/* A row that stands for `rows` others with `count` records: "N more: --top 0", or "total". */
enum varve_code vv_put_count(struct vv_sheet *sheet, enum vv_row_kind kind, const int *columns,
                             uint64_t rows, uint64_t count, struct varve_error *error);
enum { VV_COUNT_ROW, VV_COUNT_NAME, VV_COUNT_NUMBER }; /* what `columns` lists                   */

#endif
