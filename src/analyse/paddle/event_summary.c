/* SPDX-License-Identifier: Apache-2.0 */
/* event_summary.c — table "event_summary": the report of PaddlePaddle Fluid's profiler, by its
 * rules. present/fluid.c prints it as Fluid does (--compat paddle).
 *
 * names.h, events.h and rows.h have the rules; doc/truth.md says what differs from Varve's own.
 * Rows in order: each row before its children; first the report of all threads, then the threads,
 * the newest first. Laws: in each block the shares of the rows of depth 0 sum to 1; total_ns =
 * cpu_ns + gpu_ns. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/paddle/rows.h"
#include "question/question.h"
#include "sheet/cells.h"

#define NUMBER_BYTES 32

enum { REPORT, EVENT, CALLS, TOTAL, CPU, CPU_RATIO, GPU, GPU_RATIO, MIN, MAX, AVE, RATIO, DEPTH,
       THREAD, THREAD_NAME, COLUMNS };

static const struct vv_sheet_column event_columns[COLUMNS] = {
    { "report", "report", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "event", "event", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "cpu_ns", "cpu", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "cpu_ratio", "cpu ratio", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "gpu_ns", "gpu", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "gpu_ratio", "gpu ratio", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "min_ns", "min", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "mean_ns", "ave", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "ratio", "ratio", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "depth", "depth", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "thread", "thread", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "thread_name", "thread name", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct summary {
    const struct vv_scope *scope;
    struct vv_fluid_events events;
    struct vv_fluid_rows rows;
    struct vv_sheet *sheet;
    char *event;      /* "thread0::matmul" */
    size_t event_capacity;
};

static struct vv_cell share(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns > 0 ? vv_real_cell((double)part_ns / (double)whole_ns)
                        : (struct vv_cell){ .present = false };
}

static enum varve_code write_event(struct summary *summary, const struct vv_fluid_block *block,
                                   uint32_t name, struct varve_error *error)
{
    const char *text = vv_intern_text(summary->events.names->texts, name);
    size_t needed = strlen(text) + NUMBER_BYTES;
    VV_TRY(VV_SCRATCH_RESERVE(summary->scope->scratch, &summary->event, &summary->event_capacity,
                              needed, error));
    if (block->track == VV_FLUID_MERGED)
        snprintf(summary->event, needed, "%s", text);
    else
        snprintf(summary->event, needed, "thread%" PRIu32 "::%s", block->number, text);
    return VARVE_OK;
}

static enum varve_code put_row(struct summary *summary, const struct vv_fluid_block *block,
                               const struct vv_fluid_row *row, int64_t depth,
                               struct varve_error *error)
{
    struct vv_cell cells[COLUMNS] = { 0 };
    char thread_name[80];
    VV_TRY(write_event(summary, block, row->name, error));
    cells[REPORT] = vv_text_cell(block->track == VV_FLUID_MERGED ? "merged" : "threads");
    cells[EVENT] = vv_text_cell(summary->event);
    cells[CALLS] = vv_int_cell((int64_t)row->calls);
    cells[TOTAL] = vv_int_cell(row->total_ns);
    cells[MIN] = vv_int_cell(row->min_ns);
    cells[MAX] = vv_int_cell(row->max_ns);
    cells[AVE] = vv_int_cell(row->total_ns / (int64_t)row->calls);
    cells[RATIO] = share(row->total_ns, block->total_ns);
    cells[DEPTH] = vv_int_cell(depth);
    if (summary->events.gpu_ns != NULL) {
        cells[CPU] = vv_int_cell(row->cpu_ns);
        cells[CPU_RATIO] = share(row->cpu_ns, row->total_ns);
        cells[GPU] = vv_int_cell(row->gpu_ns);
        cells[GPU_RATIO] = share(row->gpu_ns, row->total_ns);
    }
    if (block->track != VV_FLUID_MERGED) {
        vv_track_text(summary->scope->model, block->track, thread_name, sizeof thread_name);
        cells[THREAD] = vv_int_cell(block->number);
        cells[THREAD_NAME] = vv_text_cell(thread_name);
    }
    return vv_row_put(summary->sheet, VV_ROW_PLAIN, cells, error);
}

/* Puts a row and all rows below it. */
static enum varve_code put_tree(struct summary *summary, const struct vv_fluid_block *block,
                                uint32_t root, struct varve_error *error)
{
    const struct vv_fluid_row *rows = summary->rows.items;
    uint32_t at = root;
    for (int64_t depth = 0;;) {
        VV_TRY(put_row(summary, block, &rows[at], depth, error));
        if (rows[at].first_child != VV_NONE) {
            at = rows[at].first_child;
            depth++;
            continue;
        }
        for (; at != root && rows[at].next == VV_NONE; depth--)
            at = rows[at].parent;
        if (at == root)
            return VARVE_OK;
        at = rows[at].next;
    }
}

static enum varve_code put_rows(struct summary *summary, struct varve_error *error)
{
    for (uint32_t b = 0; b < summary->rows.block_count; b++)
        for (uint32_t i = 0; i < summary->rows.blocks[b].root_count; i++)
            VV_TRY(put_tree(summary, &summary->rows.blocks[b], summary->rows.blocks[b].roots[i],
                            error));
    return VARVE_OK;
}

/* ---- what is not in the rows ---- */

static uint64_t count_async(const struct vv_model *model)
{
    uint64_t count = 0;
    uint32_t first, last;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        if (model->tracks.kind[track] != VV_TRACK_ASYNC)
            continue;
        vv_track_rows(model, track, &first, &last);
        count += last - first;
    }
    return count;
}

static void append(char *text, size_t bytes, uint64_t count, const char *says)
{
    size_t length = strlen(text);
    if (count > 0)
        snprintf(text + length, bytes - length, "; %" PRIu64 " %s", count, says);
}

static enum varve_code put_policy(const struct summary *summary, struct varve_error *error)
{
    const struct vv_model *model = summary->scope->model;
    const struct vv_fluid_events *events = &summary->events;
    char besides[200] = "";
    append(besides, sizeof besides, events->unfinished, "without an end left out");
    append(besides, sizeof besides, count_async(model), "asynchronous ranges left out");
    append(besides, sizeof besides, model->run.lost, "records were lost");
    if (events->thread_count == 0)
        return vv_sheet_policy(summary->sheet, error, "no ranges of threads here%s", besides);
    return vv_sheet_policy(summary->sheet, error,
                           "ranges of %" PRIu32 " thread%s, by the rules of PaddlePaddle Fluid%s",
                           events->thread_count, events->thread_count == 1 ? "" : "s", besides);
}

enum varve_code vv_analyse_event_summary(const struct vv_model *model,
                                         const struct vv_question *question,
                                         struct vv_scratch *scratch, struct vv_sheet *out,
                                         struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_fluid_names names;
    struct summary summary = { .scope = &scope, .sheet = out };
    struct vv_selection selection = question->selection;
    enum vv_fluid_sort sort;
    selection.warm_up = true; /* Fluid knows none */
    vv_sheet_init(out, "event_summary", "EVENT SUMMARY", event_columns, COLUMNS);
    VV_TRY(vv_fluid_sort_find(question->sort, &sort, error));
    VV_TRY(vv_scope_init(&scope, model, &selection, scratch, error));
    struct vv_scope all = vv_unfiltered(&scope);
    VV_TRY(vv_device_work_init(&work, &all, selection.device, error));
    VV_TRY(vv_fluid_names_init(&names, model, scratch, error));
    VV_TRY(vv_fluid_events_init(&summary.events, &scope, &names, &work, error));
    VV_TRY(vv_fluid_rows_make(&summary.rows, &summary.events, sort, error));
    VV_TRY(put_rows(&summary, error));
    return put_policy(&summary, error);
}
