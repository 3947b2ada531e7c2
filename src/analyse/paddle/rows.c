/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/paddle/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"

/* ---- sums ---- */

static enum varve_code add_event(struct vv_fluid_rows *rows, const struct vv_fluid_event *event,
                                 uint32_t block, struct varve_error *error)
{
    int64_t time_ns = vv_sum(event->cpu_ns, event->gpu_ns);
    uint32_t at, known = rows->groups.count;
    VV_TRY(vv_groups_add(&rows->groups, event->name, block, &at, error));
    VV_TRY(VV_SCRATCH_RESERVE(rows->groups.scratch, &rows->items, &rows->capacity,
                              rows->groups.count, error));
    struct vv_fluid_row *row = &rows->items[at];
    if (at == known)
        *row = (struct vv_fluid_row){ .name = event->name, .min_ns = time_ns, .max_ns = time_ns,
                                      .parent = VV_NONE, .first_child = VV_NONE,
                                      .last_child = VV_NONE, .next = VV_NONE };
    row->calls++;
    row->total_ns = vv_sum(row->total_ns, time_ns);
    row->cpu_ns = vv_sum(row->cpu_ns, event->cpu_ns);
    row->gpu_ns = vv_sum(row->gpu_ns, event->gpu_ns);
    row->min_ns = time_ns < row->min_ns ? time_ns : row->min_ns;
    row->max_ns = time_ns > row->max_ns ? time_ns : row->max_ns;
    return VARVE_OK;
}

static enum varve_code add_threads(struct vv_fluid_rows *rows, struct vv_fluid_events *events,
                                   struct varve_error *error)
{
    uint32_t merged = events->thread_count >= 2;
    VV_TRY(VV_SCRATCH_ZEROS(rows->groups.scratch, &rows->blocks, events->thread_count + merged,
                            error));
    if (merged)
        rows->blocks[rows->block_count++].track = VV_FLUID_MERGED;
    for (uint32_t i = 0; i < events->thread_count; i++) {
        const struct vv_fluid_thread *thread = &events->threads[i];
        struct vv_fluid_block *block = &rows->blocks[rows->block_count];
        block->track = thread->track;
        block->number = thread->number;
        VV_TRY(vv_fluid_events_read(events, thread, error));
        for (size_t e = 0; e < events->count; e++) {
            if (merged)
                VV_TRY(add_event(rows, &events->items[e], 0, error));
            VV_TRY(add_event(rows, &events->items[e], rows->block_count, error));
        }
        rows->block_count++;
    }
    return VARVE_OK;
}

/* ---- nesting ---- */

/* The row of the name before the last '/', or VV_NONE. */
static uint32_t parent_of(const struct vv_intern *texts, uint32_t name, const uint32_t *row_of)
{
    const char *text = vv_intern_text(texts, name), *slash = strrchr(text, '/');
    if (slash == NULL)
        return VV_NONE;
    uint32_t before = vv_intern_find(texts, text, (size_t)(slash - text));
    return before != UINT32_MAX ? row_of[before] : VV_NONE;
}

static void add_child(struct vv_fluid_rows *rows, uint32_t parent, uint32_t child)
{
    struct vv_fluid_row *row = &rows->items[parent];
    rows->items[child].parent = parent;
    if (row->first_child == VV_NONE)
        row->first_child = child;
    else
        rows->items[row->last_child].next = child;
    row->last_child = child;
}

/* `list` holds the block's rows, in order. */
static void nest_block(struct vv_fluid_rows *rows, struct vv_fluid_block *block,
                       const struct vv_intern *texts, const uint32_t *list, uint32_t *row_of)
{
    uint32_t count = block->root_count, roots = 0;
    for (uint32_t i = 0; i < count; i++)
        row_of[rows->items[list[i]].name] = list[i];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = parent_of(texts, rows->items[list[i]].name, row_of);
        if (parent != VV_NONE) {
            add_child(rows, parent, list[i]);
            continue;
        }
        block->roots[roots++] = list[i];
        block->total_ns = vv_sum(block->total_ns, rows->items[list[i]].total_ns);
    }
    for (uint32_t i = 0; i < count; i++)
        row_of[rows->items[list[i]].name] = VV_NONE;
    block->root_count = roots;
}

/* Lists the rows of each block, in order, and gives each block room for its roots. */
static enum varve_code nest(struct vv_fluid_rows *rows, const struct vv_intern *texts,
                            struct varve_error *error)
{
    struct vv_scratch *scratch = rows->groups.scratch;
    uint32_t *list, *row_of, *roots, first = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &list, rows->groups.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &roots, rows->groups.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &row_of, texts->count, error));
    for (uint32_t i = 0; i < texts->count; i++)
        row_of[i] = VV_NONE;
    for (uint32_t row = 0; row < rows->groups.count; row++)
        rows->blocks[rows->groups.extras[row]].root_count++;
    for (uint32_t b = 0; b < rows->block_count; b++) {
        rows->blocks[b].roots = roots + first;
        first += rows->blocks[b].root_count;
        rows->blocks[b].root_count = 0;
    }
    for (uint32_t row = 0; row < rows->groups.count; row++) {
        struct vv_fluid_block *block = &rows->blocks[rows->groups.extras[row]];
        list[block->roots - roots + block->root_count++] = row;
    }
    for (uint32_t b = 0; b < rows->block_count; b++)
        nest_block(rows, &rows->blocks[b], texts, list + (rows->blocks[b].roots - roots), row_of);
    return VARVE_OK;
}

/* ---- order ---- */

struct sorting { const struct vv_fluid_row *rows; enum vv_fluid_sort key; };

/* < 0: a's average is the greater one. */
static int compare_averages(const struct vv_fluid_row *a, const struct vv_fluid_row *b)
{
    __extension__ typedef __int128 product;
    product left = (product)a->total_ns * (product)b->calls,
            right = (product)b->total_ns * (product)a->calls;
    return (left < right) - (left > right);
}

static int64_t value_of(const struct vv_fluid_row *row, enum vv_fluid_sort key)
{
    return key == VV_FLUID_CALLS   ? (int64_t)row->calls
           : key == VV_FLUID_TOTAL ? row->total_ns
           : key == VV_FLUID_MIN   ? row->min_ns
           : key == VV_FLUID_MAX   ? row->max_ns
           : key == VV_FLUID_CPU   ? row->cpu_ns
                                   : row->gpu_ns;
}

/* The largest first; rows with equal values stay in order. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct vv_fluid_row *of_left = &sorting->rows[left], *of_right = &sorting->rows[right];
    int64_t value = value_of(of_left, sorting->key), other = value_of(of_right, sorting->key);
    int order = sorting->key == VV_FLUID_AVE ? compare_averages(of_left, of_right)
                                             : (value < other) - (value > other);
    return order != 0 ? order : (left > right) - (left < right);
}

enum varve_code vv_fluid_rows_make(struct vv_fluid_rows *out_rows, struct vv_fluid_events *events,
                                   enum vv_fluid_sort sort, struct varve_error *error)
{
    *out_rows = (struct vv_fluid_rows){ .groups = { .scratch = events->scope->scratch } };
    VV_TRY(add_threads(out_rows, events, error));
    VV_TRY(nest(out_rows, events->names->texts, error));
    struct sorting sorting = { .rows = out_rows->items, .key = sort };
    for (uint32_t b = 0; b < out_rows->block_count && sort != VV_FLUID_FIRST_END; b++)
        qsort_r(out_rows->blocks[b].roots, out_rows->blocks[b].root_count,
                sizeof *out_rows->blocks[b].roots, compare_rows, &sorting);
    return VARVE_OK;
}
