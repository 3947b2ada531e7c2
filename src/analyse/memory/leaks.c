/* SPDX-License-Identifier: Apache-2.0 */
/* leaks.c — table "memory_leaks": call paths whose allocations are not released before the last
 * step ends, in three steps or more of one thread (doc/metrics.md §10). Other threads, and other
 * ranks, have their own step of the same number. The last step is left out, because no
 * step follows that could release its allocations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/memory/lifetimes.h"
#include "derive/devices/device_work.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

#define LEAST_STEPS 3
#define PATH_DEPTH_MAX 64 /* levels of a call path, from the innermost; the outer levels of a deeper
                             path are left out */

enum { DEVICE, RANK, BYTES, LIVE_SHARE, ALLOCATIONS, STEPS, FIRST, LAST, PATH, COLUMNS };

static const struct vv_sheet_column leak_columns[COLUMNS] = {
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "bytes", "bytes", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "live_share", "of live", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "allocations", "allocations", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "steps", "steps", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "first_step", "first", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "last_step", "last", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "path", "allocated by", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_PATH },
};

struct leak {
    uint64_t allocations, steps;
    int64_t bytes, first_step, last_step; /* indices of steps                                   */
    int64_t rank;                         /* -1 = not known, or several                         */
    uint32_t pool, path;
};

/* The steps of one thread in which a row allocates. */
struct loop {
    uint64_t steps;
    uint32_t former; /* row of the last step that was counted                                   */
};

struct leaks {
    const struct vv_allocations *allocations;
    struct vv_groups paths;   /* (name, path around it + 1) -> call path                        */
    struct vv_groups holders; /* (path, pool) -> row of items                                   */
    struct vv_groups threads; /* (row of items, thread of the steps) -> row of loops            */
    struct leak *items;
    struct loop *loops;
    int64_t *last_steps;      /* by track: the greatest index of its chosen steps                */
    size_t capacity, loop_capacity, track_capacity;
};

/* The path of a slice. The step around it is left out, because its name may contain a number. */
static enum varve_code path_of(struct leaks *leaks, uint32_t slice, uint32_t *out_path,
                               struct varve_error *error)
{
    const struct vv_slices *slices = &leaks->allocations->scope->model->slices;
    uint32_t names[PATH_DEPTH_MAX], depth = 0;
    for (; slice != VV_NONE && depth < PATH_DEPTH_MAX; slice = slices->parent[slice])
        if ((slices->flags[slice] & VV_SLICE_STEP) == 0)
            names[depth++] = slices->name[slice];
    *out_path = VV_NONE;
    while (depth > 0)
        VV_TRY(vv_groups_add(&leaks->paths, names[--depth], *out_path + 1, out_path, error));
    return VARVE_OK;
}

/* Finds or adds the row of the path and the pool. A new row has only its key; all else is 0. */
static enum varve_code row_of(struct leaks *leaks, uint32_t path, uint32_t pool,
                              struct leak **out_leak, struct varve_error *error)
{
    uint32_t row, known = leaks->holders.count;
    VV_TRY(vv_groups_add(&leaks->holders, path, pool, &row, error));
    VV_TRY(VV_SCRATCH_RESERVE(leaks->holders.scratch, &leaks->items, &leaks->capacity,
                              (size_t)row + 1, error));
    *out_leak = &leaks->items[row];
    if (row == known)
        **out_leak = (struct leak){ .pool = pool, .path = path };
    return VARVE_OK;
}

/* Items of a pool are in order of time, so those of one thread's step follow each other. */
static enum varve_code count_step(struct leaks *leaks, struct leak *leak, uint32_t step,
                                  struct varve_error *error)
{
    uint32_t thread = leaks->allocations->scope->model->steps.track[step];
    uint32_t row, known = leaks->threads.count;
    VV_TRY(vv_groups_add(&leaks->threads, (uint32_t)(leak - leaks->items), thread, &row, error));
    VV_TRY(VV_SCRATCH_RESERVE(leaks->threads.scratch, &leaks->loops, &leaks->loop_capacity,
                              (size_t)row + 1, error));
    struct loop *loop = &leaks->loops[row];
    if (row == known)
        *loop = (struct loop){ .former = VV_NONE };
    loop->steps += loop->former != step;
    loop->former = step;
    leak->steps = loop->steps > leak->steps ? loop->steps : leak->steps;
    return VARVE_OK;
}

static enum varve_code add(struct leaks *leaks, const struct vv_allocation *item,
                           struct varve_error *error)
{
    const struct vv_scope *scope = leaks->allocations->scope;
    const struct vv_model *model = scope->model;
    uint32_t path, slice = vv_slice_at(model, model->memory.track[item->made], item->begin_ns);
    uint32_t step = slice != VV_NONE ? model->slices.step[slice] : VV_NONE;
    struct leak *leak = NULL;
    if (step == VV_NONE || !scope->steps[step] ||
        model->steps.index[step] >= leaks->last_steps[model->steps.track[step]])
        return VARVE_OK;
    VV_TRY(path_of(leaks, slice, &path, error));
    VV_TRY(row_of(leaks, path, item->pool, &leak, error));
    int64_t index = model->steps.index[step];
    int64_t rank = vv_scope_rank(scope, model->memory.track[item->made]);
    if (leak->allocations == 0 || index < leak->first_step)
        leak->first_step = index;
    if (leak->allocations == 0 || index > leak->last_step)
        leak->last_step = index;
    leak->rank = leak->allocations == 0 || rank == leak->rank ? rank : -1;
    leak->allocations++;
    leak->bytes += item->bytes;
    return count_step(leaks, leak, step, error);
}

static int compare_leaks(const void *a, const void *b)
{
    const struct leak *left = a, *right = b;
    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    if (left->pool != right->pool)
        return left->pool < right->pool ? -1 : 1;
    return (left->path > right->path) - (left->path < right->path);
}

/* ---- rows ---- */

/* "forward > conv > aten::empty". */
static void write_path(const struct leaks *leaks, uint32_t path, char *text, size_t bytes)
{
    const struct vv_model *model = leaks->allocations->scope->model;
    uint32_t names[PATH_DEPTH_MAX], depth = 0;
    size_t length = 0;
    for (; path != VV_NONE; path = leaks->paths.extras[path] - 1)
        names[depth++] = leaks->paths.names[path];
    text[0] = '\0';
    while (depth > 0 && length + 1 < bytes) {
        int written = snprintf(text + length, bytes - length, "%s%s", length > 0 ? " > " : "",
                               vv_text_of(model, names[--depth]));
        length += written > 0 ? (size_t)written : 0;
    }
}

/* The memory that is live after the last step. It is at least the leaked memory. */
static int64_t live_at_end(const struct leaks *leaks, uint32_t number)
{
    const struct vv_pool *pool = &leaks->allocations->pools[number];
    int64_t live_bytes = pool->unnamed_bytes;
    for (size_t i = pool->first; i < pool->last; i++)
        if (vv_is_kept(leaks->allocations, &leaks->allocations->items[i]))
            live_bytes += leaks->allocations->items[i].bytes;
    return live_bytes;
}

static enum varve_code put_row(const struct leaks *leaks, const struct leak *leak,
                               struct vv_sheet *sheet, struct varve_error *error)
{
    size_t row;
    char device[40], path[4096];
    vv_device_text(leaks->allocations->pools[leak->pool].device, device, sizeof device);
    write_path(leaks, leak->path, path, sizeof path);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, device, error));
    if (leak->rank >= 0)
        vv_sheet_int(sheet, row, RANK, leak->rank);
    vv_sheet_int(sheet, row, BYTES, leak->bytes);
    vv_sheet_real(sheet, row, LIVE_SHARE,
                  (double)leak->bytes / (double)live_at_end(leaks, leak->pool));
    vv_sheet_int(sheet, row, ALLOCATIONS, (int64_t)leak->allocations);
    vv_sheet_int(sheet, row, STEPS, (int64_t)leak->steps);
    vv_sheet_int(sheet, row, FIRST, leak->first_step);
    vv_sheet_int(sheet, row, LAST, leak->last_step);
    return vv_sheet_text(sheet, row, PATH, path, error);
}

/* Of each thread: another rank may have made fewer steps. */
static enum varve_code find_last_steps(struct leaks *leaks, struct varve_error *error)
{
    const struct vv_scope *scope = leaks->allocations->scope;
    const struct vv_steps *steps = &scope->model->steps;
    size_t tracks = scope->model->tracks.table.count;
    VV_TRY(VV_SCRATCH_RESERVE(leaks->paths.scratch, &leaks->last_steps, &leaks->track_capacity,
                              tracks, error));
    for (size_t track = 0; track < tracks; track++)
        leaks->last_steps[track] = INT64_MIN;
    for (uint64_t s = 0; s < steps->table.count; s++)
        if (scope->steps[s] && steps->index[s] > leaks->last_steps[steps->track[s]])
            leaks->last_steps[steps->track[s]] = steps->index[s];
    return VARVE_OK;
}

/* In enough steps? Repeats that were taken for steps may be layers: what one makes lives until the
 * program's own step ends, so of the last ones all is kept. */
static bool is_often(const struct leaks *leaks, const struct leak *leak)
{
    const struct vv_scope *scope = leaks->allocations->scope;
    const struct vv_steps *steps = &scope->model->steps;
    bool is_repeat = steps->table.count > 0 && steps->origin[0] == VV_STEP_REPEAT;
    return leak->steps >= LEAST_STEPS && (!is_repeat || 2 * leak->steps >= scope->step_count);
}

static enum varve_code find(struct leaks *leaks, struct vv_sheet *sheet, struct varve_error *error)
{
    VV_TRY(find_last_steps(leaks, error));
    for (size_t i = 0; i < leaks->allocations->count; i++) {
        const struct vv_allocation *item = &leaks->allocations->items[i];
        if (item->made != VV_NONE && vv_is_kept(leaks->allocations, item))
            VV_TRY(add(leaks, item, error));
    }
    if (leaks->holders.count > 0)
        qsort(leaks->items, leaks->holders.count, sizeof *leaks->items, compare_leaks);
    for (uint32_t i = 0; i < leaks->holders.count; i++)
        if (is_often(leaks, &leaks->items[i]))
            VV_TRY(put_row(leaks, &leaks->items[i], sheet, error));
    return VARVE_OK;
}

static enum varve_code state_policy(const struct vv_allocations *allocations,
                                    struct vv_sheet *sheet, struct varve_error *error)
{
    if (allocations->count == 0)
        return vv_sheet_policy(sheet, error, "%s", vv_allocations_none(allocations));
    if (allocations->scope->step_count <= LEAST_STEPS)
        return vv_sheet_policy(sheet, error, "needs more than %d steps; here are %llu", LEAST_STEPS,
                               (unsigned long long)allocations->scope->step_count);
    return vv_sheet_policy(sheet, error,
                           "%scall paths that allocate in %d steps or more what is not released "
                           "before the last step ends; what the last step allocates is left out",
                           sheet->row_count == 0 ? "none: " : "", LEAST_STEPS);
}

enum varve_code vv_analyse_memory_leaks(const struct vv_model *model,
                                        const struct vv_question *question,
                                        struct vv_scratch *scratch, struct vv_sheet *out,
                                        struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_allocations allocations;
    struct leaks leaks = { .allocations = &allocations,
                           .paths = { .scratch = scratch }, .holders = { .scratch = scratch },
                           .threads = { .scratch = scratch } };
    vv_sheet_init(out, "memory_leaks", "MEMORY NEVER RELEASED", leak_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_allocations_init(&allocations, &scope, question->selection.device, error));
    VV_TRY(find(&leaks, out, error));
    return state_policy(&allocations, out, error);
}
