/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c — table "memory_steps": the memory that is live in each step, and the memory that the
 * step keeps (doc/metrics.md §10).
 *
 * Law of each row: begin_bytes + allocated_bytes − released_bytes = end_bytes, to the byte. An
 * allocation or release counts if begin <= its instant < end. The live memory at an instant is that
 * before the events of this instant. */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/memory/lifetimes.h"
#include "analyse/memory/totals.h"
#include "base/binary_search.h"
#include "derive/devices/device_work.h"
#include "question/question.h"

enum { STEP, DEVICE, PROCESS, BEGIN, PEAK, FRAGMENTATION, FREE_FRAGMENTATION, END, ALLOCATIONS,
       ALLOCATED, RELEASED, KEPT, COLUMNS };

static const struct vv_sheet_column step_columns[COLUMNS] = {
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "begin_bytes", "at begin", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "peak_bytes", "peak", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "fragmentation", "unused", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "free_fragmentation", "in pieces", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "end_bytes", "at end", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "allocations", "allocations", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "allocated_bytes", "allocated", VV_CELL_INT, VV_UNIT_BYTES, false, VV_TEXT_IF_ROOM },
    { "released_bytes", "released", VV_CELL_INT, VV_UNIT_BYTES, false, VV_TEXT_IF_ROOM },
    { "kept_bytes", "never released", VV_CELL_INT, VV_UNIT_BYTES, false, false },
};

struct curve {
    const struct vv_allocations *allocations;
    const struct vv_pool *pool;
    struct vv_change *changes;
    int64_t *live_bytes; /* live memory before each change                                      */
    struct vv_memory_totals totals;
    size_t count;
};

static enum varve_code draw(const struct vv_allocations *allocations, uint32_t pool,
                            struct curve *curve, struct varve_error *error)
{
    curve->allocations = allocations;
    curve->pool = &allocations->pools[pool];
    VV_TRY(vv_memory_totals_init(&curve->totals, allocations, curve->pool, error));
    VV_TRY(vv_pool_changes(allocations, pool, &curve->changes, &curve->count, error));
    VV_TRY(
        VV_SCRATCH_ARRAY(allocations->scope->scratch, &curve->live_bytes, curve->count + 1, error));
    curve->live_bytes[0] = curve->pool->before_bytes;
    for (size_t i = 0; i < curve->count; i++)
        curve->live_bytes[i + 1] = curve->live_bytes[i] + curve->changes[i].bytes;
    return VARVE_OK;
}

/* The first change at or after the instant. */
static size_t first_from(const struct curve *curve, int64_t time_ns)
{
    return VV_FIRST_NOT(i, 0, curve->count, curve->changes[i].time_ns < time_ns);
}

static enum varve_code put_step(const struct curve *curve, uint32_t step, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    const struct vv_model *model = curve->allocations->scope->model;
    int64_t begin_ns = model->steps.begin_ns[step],
            end_ns = begin_ns + model->steps.duration_ns[step];
    size_t first = first_from(curve, begin_ns), last = first_from(curve, end_ns), row;
    int64_t peak_bytes = curve->live_bytes[first], peak_at_ns = begin_ns, sums[COLUMNS] = { 0 };
    char device[40];
    for (size_t i = first; i < last; i++) {
        const struct vv_change *change = &curve->changes[i];
        /* All releases and allocations of one instant are one change of the live memory. */
        bool is_settled = i + 1 == curve->count || curve->changes[i + 1].time_ns > change->time_ns;
        if (is_settled && curve->live_bytes[i + 1] > peak_bytes) {
            peak_bytes = curve->live_bytes[i + 1];
            peak_at_ns = change->time_ns;
        }
        sums[change->bytes > 0 ? ALLOCATED : RELEASED] += llabs(change->bytes);
        sums[ALLOCATIONS] += change->bytes > 0;
        if (change->bytes > 0 &&
            vv_is_kept(curve->allocations, &curve->allocations->items[change->allocation]))
            sums[KEPT] += change->bytes;
    }
    vv_device_text(curve->pool->device, device, sizeof device);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, device, error));
    vv_sheet_int(sheet, row, STEP, model->steps.index[step]);
    vv_sheet_int(sheet, row, PROCESS, vv_pid_of(model, model->steps.track[step]));
    vv_sheet_int(sheet, row, BEGIN, curve->live_bytes[first]);
    vv_sheet_int(sheet, row, PEAK, peak_bytes);
    const struct vv_memory_total *total = vv_memory_total_at(&curve->totals, peak_at_ns);
    if (total != NULL)
        vv_sheet_real(sheet, row, FRAGMENTATION, vv_fragmentation(total));
    double in_pieces = vv_free_fragmentation_at(&curve->totals, peak_at_ns);
    if (in_pieces >= 0)
        vv_sheet_real(sheet, row, FREE_FRAGMENTATION, in_pieces);
    vv_sheet_int(sheet, row, END, curve->live_bytes[last]);
    for (size_t c = ALLOCATIONS; c < COLUMNS; c++)
        vv_sheet_int(sheet, row, c, sums[c]);
    return VARVE_OK;
}

static enum varve_code put_pool(const struct vv_allocations *allocations, uint32_t number,
                                struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_scope *scope = allocations->scope;
    const struct vv_model *model = scope->model;
    struct curve curve = { 0 };
    VV_TRY(draw(allocations, number, &curve, error));
    for (uint32_t s = 0; s < model->steps.table.count; s++) {
        uint32_t process = model->tracks.process[model->steps.track[s]];
        if (scope->steps[s] &&
            (process == VV_NONE || model->processes.scope[process] == curve.pool->scope))
            VV_TRY(put_step(&curve, s, sheet, error));
    }
    return VARVE_OK;
}

enum varve_code vv_analyse_memory_steps(const struct vv_model *model,
                                        const struct vv_question *question,
                                        struct vv_scratch *scratch, struct vv_sheet *out,
                                        struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_allocations allocations;
    vv_sheet_init(out, "memory_steps", "MEMORY BY STEP", step_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_allocations_init(&allocations, &scope, question->selection.device, error));
    for (uint32_t p = 0; p < allocations.pool_count; p++)
        VV_TRY(put_pool(&allocations, p, out, error));
    return vv_sheet_policy(
        out, error, "%s",
        allocations.pool_count == 0 ? vv_allocations_none(&allocations)
        : scope.step_count == 0
            ? "no steps in this trace"
            : "live bytes; what a step allocates and nothing releases is the last column");
}
