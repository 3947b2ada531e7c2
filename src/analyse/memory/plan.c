/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c — tables "allocations" (the allocations with the largest bytes × lifetime) and
 * "memory_plan" (the place that each could have had in an arena, and how many others could have
 * shared its bytes). doc/metrics.md §10, arena_plan.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/memory/arena_plan.h"
#include "derive/devices/device_work.h"
#include "question/question.h"

/* ---- columns of both tables ---- */

enum { DEVICE, BYTES, AT, LIFETIME, ADDRESS, STEP, RELEASED_BY, NAME, ITEM_COLUMNS };

#define ITEM_CELLS                                                             \
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },          \
    { "bytes", "bytes", VV_CELL_INT, VV_UNIT_BYTES, false, false },            \
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },                  \
    { "lifetime_ns", "lifetime", VV_CELL_INT, VV_UNIT_NS, false, false },      \
    { "address", "address", VV_CELL_INT, VV_UNIT_NONE, true, false },          \
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, true, false },                \
    { "released_by", "released by", VV_CELL_TEXT, VV_UNIT_NONE, true, false }, \
    { "name", "allocated by", VV_CELL_TEXT, VV_UNIT_NONE, false, false }

static enum varve_code name_operator(const struct vv_model *model, uint32_t memory_row,
                                     struct vv_sheet *sheet, size_t row, size_t column,
                                     struct varve_error *error)
{
    uint32_t slice = memory_row != VV_NONE ? vv_operator_at(model, model->memory.track[memory_row],
                                                            model->memory.time_ns[memory_row])
                                           : VV_NONE;
    if (slice == VV_NONE)
        return VARVE_OK;
    if (column == NAME && model->slices.step[slice] != VV_NONE)
        vv_sheet_int(sheet, row, STEP, model->steps.index[model->slices.step[slice]]);
    return vv_sheet_text(sheet, row, column, vv_text_of(model, model->slices.name[slice]), error);
}

/* The lifetime within the run. An allocation from before the run counts from the run's begin; one
 * that is not released counts until the run's end. */
static int64_t lifetime_of(const struct vv_model *model, const struct vv_allocation *item)
{
    int64_t begin_ns = item->begin_ns != INT64_MIN ? item->begin_ns : model->run.begin_ns;
    int64_t end_ns = item->end_ns != INT64_MAX ? item->end_ns : model->run.end_ns;
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static enum varve_code put_item(const struct vv_allocations *allocations,
                                const struct vv_allocation *item, struct vv_sheet *sheet,
                                size_t *out_row, struct varve_error *error)
{
    const struct vv_model *model = allocations->scope->model;
    uint32_t known = item->made != VV_NONE ? item->made : item->freed;
    char device[40];
    vv_device_text(allocations->pools[item->pool].device, device, sizeof device);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, out_row, error));
    VV_TRY(vv_sheet_text(sheet, *out_row, DEVICE, device, error));
    vv_sheet_int(sheet, *out_row, BYTES, item->bytes);
    if (item->begin_ns != INT64_MIN)
        vv_sheet_int(sheet, *out_row, AT, item->begin_ns - model->run.begin_ns);
    vv_sheet_int(sheet, *out_row, LIFETIME, lifetime_of(model, item));
    if (model->memory.address[known] != 0 && model->memory.address[known] <= INT64_MAX)
        vv_sheet_int(sheet, *out_row, ADDRESS, (int64_t)model->memory.address[known]);
    VV_TRY(name_operator(model, item->made, sheet, *out_row, NAME, error));
    return name_operator(model, item->freed, sheet, *out_row, RELEASED_BY, error);
}

/* ---- allocations ---- */

static const struct vv_sheet_column allocation_columns[] = { ITEM_CELLS };

struct weight {
    double byte_ns;
    uint32_t item;
};

static int compare_weights(const void *a, const void *b)
{
    const struct weight *left = a, *right = b;
    if (left->byte_ns != right->byte_ns)
        return left->byte_ns > right->byte_ns ? -1 : 1;
    return (left->item > right->item) - (left->item < right->item);
}

static enum varve_code put_weightiest(const struct vv_allocations *allocations, int64_t top,
                                      struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_model *model = allocations->scope->model;
    struct weight *weights;
    VV_TRY(VV_SCRATCH_ARRAY(allocations->scope->scratch, &weights, allocations->count, error));
    for (size_t i = 0; i < allocations->count; i++)
        weights[i] = (struct weight){ (double)allocations->items[i].bytes *
                                          (double)lifetime_of(model, &allocations->items[i]),
                                      (uint32_t)i };
    qsort(weights, allocations->count, sizeof *weights, compare_weights);
    size_t shown = top > 0 && (size_t)top < allocations->count ? (size_t)top : allocations->count,
           row;
    for (size_t i = 0; i < shown; i++)
        VV_TRY(put_item(allocations, &allocations->items[weights[i].item], sheet, &row, error));
    if (allocations->count == 0)
        return vv_sheet_policy(sheet, error, "%s", vv_allocations_none(allocations));
    return vv_sheet_policy(
        sheet, error, "%zu of %zu allocations, the largest product of bytes and lifetime first",
        shown, allocations->count);
}

enum varve_code vv_analyse_allocations(const struct vv_model *model,
                                       const struct vv_question *question,
                                       struct vv_scratch *scratch, struct vv_sheet *out,
                                       struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_allocations allocations;
    vv_sheet_init(out, "allocations", "ALLOCATIONS", allocation_columns, ITEM_COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_allocations_init(&allocations, &scope, question->selection.device, error));
    return put_weightiest(&allocations, question->top, out, error);
}

/* ---- memory_plan ---- */

enum { OFFSET = ITEM_COLUMNS, OVERLAPS, SHARES, PLAN_COLUMNS };

static const struct vv_sheet_column plan_columns[PLAN_COLUMNS] = {
    ITEM_CELLS,
    { "offset_bytes", "offset", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "overlaps", "live with", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "shares", "shares with", VV_CELL_INT, VV_UNIT_COUNT, false, false },
};

static enum varve_code put_placement(const struct vv_allocations *allocations,
                                     const struct vv_arena_plan *plan, size_t at,
                                     struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_allocation *item = &allocations->items[plan->placements[at].allocation];
    int64_t offset = plan->placements[at].offset_bytes, overlaps = 0, shares = 0;
    size_t row;
    for (size_t i = 0; i < plan->count; i++) {
        const struct vv_allocation *other = &allocations->items[plan->placements[i].allocation];
        int64_t other_offset = plan->placements[i].offset_bytes;
        bool is_live = other->begin_ns < item->end_ns && item->begin_ns < other->end_ns;
        bool is_there = other_offset < offset + item->bytes && offset < other_offset + other->bytes;
        overlaps += i != at && is_live;
        shares += i != at && is_there;
    }
    VV_TRY(put_item(allocations, item, sheet, &row, error));
    vv_sheet_int(sheet, row, OFFSET, offset);
    vv_sheet_int(sheet, row, OVERLAPS, overlaps);
    vv_sheet_int(sheet, row, SHARES, shares);
    return VARVE_OK;
}

static enum varve_code put_plans(const struct vv_allocations *allocations, int64_t top,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    size_t planned = 0;
    for (uint32_t p = 0; p < allocations->pool_count; p++) {
        struct vv_arena_plan plan;
        VV_TRY(vv_arena_plan(allocations, p, &plan, error));
        planned += plan.count;
        for (size_t i = 0; i < plan.count && (top <= 0 || i < (size_t)top); i++)
            VV_TRY(put_placement(allocations, &plan, i, sheet, error));
    }
    if (allocations->count == 0)
        return vv_sheet_policy(sheet, error, "%s", vv_allocations_none(allocations));
    return vv_sheet_policy(
        sheet, error,
        "the largest %zu of %zu allocations, best fit by decreasing size; of one "
        "device at most %d",
        planned, allocations->count, VV_ARENA_PLAN_MOST);
}

enum varve_code vv_analyse_memory_plan(const struct vv_model *model,
                                       const struct vv_question *question,
                                       struct vv_scratch *scratch, struct vv_sheet *out,
                                       struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_allocations allocations;
    vv_sheet_init(out, "memory_plan", "MEMORY PLAN", plan_columns, PLAN_COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_allocations_init(&allocations, &scope, question->selection.device, error));
    return put_plans(&allocations, question->top, out, error);
}
