/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — table "memory": how much each device's allocator gave out, how much was live at once,
 * and how small an arena could have been (doc/metrics.md §10).
 *
 * Laws: peak >= begin, end; the size of the arena >= the most of the packed allocations that is
 * live at once. */
#include <inttypes.h>
#include <stdio.h>

#include "analyse/memory/arena_plan.h"
#include "analyse/memory/live.h"
#include "analyse/memory/totals.h"
#include "derive/devices/device_work.h"
#include "question/question.h"
#include "sheet/number.h"

enum {
    DEVICE, RANK, PEAK, PEAK_AT, BEGIN, END, ALLOCATIONS, ALLOCATED, RELEASES, RELEASED, UNSEEN,
    RESERVED,
    FRAGMENTATION, FREE_FRAGMENTATION, SLACK, HOLE, ARENA, ARENA_RATIO, PLANNED, COLUMNS
};

static const struct vv_sheet_column memory_columns[COLUMNS] = {
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "peak_bytes", "peak", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "peak_at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "begin_bytes", "begin", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "end_bytes", "end", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "allocations", "allocations", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "allocated_bytes", "allocated", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "releases", "releases", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "released_bytes", "released", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "releases_unseen", "releases unseen", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "reserved_peak_bytes", "reserved", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "fragmentation", "unused", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "free_fragmentation", "in pieces", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "slack_bytes", "slack", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "largest_hole_bytes", "largest hole", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "arena_bytes", "arena", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    { "arena_ratio", "arena/peak", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "planned", "planned", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};

/* Writes the most that the allocator held of the device and how much of it was not given out at the
 * first such instant, as the producer says; and the fragmentation at the peak. */
static enum varve_code put_totals(const struct vv_allocations *allocations,
                                  const struct vv_pool *pool, const struct vv_memory_peak *peak,
                                  struct vv_sheet *sheet, size_t row, struct varve_error *error)
{
    struct vv_memory_totals totals;
    const struct vv_memory_total *most = NULL, *at_peak = NULL;
    int64_t hole_bytes = -1;
    VV_TRY(vv_memory_totals_init(&totals, allocations, pool, error));
    for (size_t i = 0; i < totals.count; i++)
        if (totals.items[i].reserved_bytes > (most != NULL ? most->reserved_bytes : 0))
            most = &totals.items[i];
    if (peak != NULL)
        at_peak = vv_memory_total_at(&totals, peak->time_ns);
    if (at_peak != NULL)
        VV_TRY(vv_largest_hole(allocations, pool, at_peak, peak->time_ns, &hole_bytes, error));
    if (most != NULL) {
        vv_sheet_int(sheet, row, RESERVED, most->reserved_bytes);
        if (vv_is_consistent(most))
            vv_sheet_int(sheet, row, SLACK, most->reserved_bytes - most->allocated_bytes);
    }
    if (at_peak != NULL)
        vv_sheet_real(sheet, row, FRAGMENTATION, vv_fragmentation(at_peak));
    double in_pieces = peak != NULL ? vv_free_fragmentation_at(&totals, peak->time_ns) : -1;
    if (in_pieces >= 0)
        vv_sheet_real(sheet, row, FREE_FRAGMENTATION, in_pieces);
    if (hole_bytes >= 0)
        vv_sheet_int(sheet, row, HOLE, hole_bytes);
    return VARVE_OK;
}

static enum varve_code put_arena(const struct vv_allocations *allocations, uint32_t pool,
                                 struct vv_sheet *sheet, size_t row, struct varve_error *error)
{
    struct vv_arena_plan plan;
    VV_TRY(vv_arena_plan(allocations, pool, &plan, error));
    if (plan.count == 0)
        return VARVE_OK;
    vv_sheet_int(sheet, row, ARENA, plan.bytes);
    vv_sheet_real(sheet, row, ARENA_RATIO, (double)plan.bytes / (double)plan.live_peak_bytes);
    vv_sheet_int(sheet, row, PLANNED, (int64_t)plan.count);
    return VARVE_OK;
}

static enum varve_code put_pool(const struct vv_allocations *allocations, uint32_t number,
                                struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_pool *pool = &allocations->pools[number];
    struct vv_intervals instants = { .scratch = allocations->scope->scratch };
    struct vv_memory_peak peak = { 0 };
    struct vv_change *changes;
    size_t count, row;
    char name[40];
    vv_device_text(pool->device, name, sizeof name);
    VV_TRY(vv_chosen_instants(allocations->scope, pool->scope, &instants, error));
    VV_TRY(vv_pool_changes(allocations, number, &changes, &count, error));
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, name, error));
    if (instants.count > 0) {
        peak = vv_memory_peak(pool, changes, count, &instants);
        vv_sheet_int(sheet, row, PEAK, peak.bytes);
        vv_sheet_int(sheet, row, PEAK_AT, peak.time_ns - allocations->scope->model->run.begin_ns);
        vv_sheet_int(sheet, row, BEGIN, peak.begin_bytes);
        vv_sheet_int(sheet, row, END, peak.end_bytes);
    }
    if (pool->rank >= 0)
        vv_sheet_int(sheet, row, RANK, pool->rank);
    vv_sheet_int(sheet, row, ALLOCATIONS, (int64_t)pool->made);
    vv_sheet_int(sheet, row, ALLOCATED, pool->made_bytes);
    vv_sheet_int(sheet, row, RELEASES, (int64_t)pool->freed);
    vv_sheet_int(sheet, row, RELEASED, pool->freed_bytes);
    vv_sheet_int(sheet, row, UNSEEN, (int64_t)pool->reused);
    VV_TRY(put_totals(allocations, pool, instants.count > 0 ? &peak : NULL, sheet, row, error));
    return put_arena(allocations, number, sheet, row, error);
}

static enum varve_code state_policy(const struct vv_allocations *allocations,
                                    struct vv_sheet *sheet, struct varve_error *error)
{
    const uint64_t pauses = allocations->scope->model->resumes.table.count;
    int64_t before_bytes = 0;
    char size[VV_NUMBER_BYTES], paused[128] = "";
    if (allocations->pool_count == 0)
        return vv_sheet_policy(sheet, error, "%s", vv_allocations_none(allocations));
    for (size_t p = 0; p < allocations->pool_count; p++)
        before_bytes += allocations->pools[p].before_bytes;
    vv_number_bytes(before_bytes, size, sizeof size);
    if (pauses > 0)
        snprintf(paused, sizeof paused,
                 "; recording paused %s: what was released meanwhile stays until its address is "
                 "used again",
                 pauses == 1 ? "once" : "several times");
    return vv_sheet_policy(
        sheet, error,
        "%zu allocations; %s of what is live was allocated before the trace began%s%s",
        allocations->count, size, paused,
        allocations->by_size ? "; without addresses a release is that of the last of its size"
                             : "");
}

enum varve_code vv_analyse_memory(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_allocations allocations;
    vv_sheet_init(out, "memory", "MEMORY", memory_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_allocations_init(&allocations, &scope, question->selection.device, error));
    for (uint32_t p = 0; p < allocations.pool_count; p++)
        VV_TRY(put_pool(&allocations, p, out, error));
    VV_TRY(state_policy(&allocations, out, error));
    return vv_sheet_hide_unknown(out, RESERVED, FREE_FRAGMENTATION + 1, error);
}
