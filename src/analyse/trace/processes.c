/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c — tables "processes" and "threads": the processes and tracks of the trace, with their
 * records and times.
 *
 * A row of "threads" is a track: a thread, a lane of asynchronous ranges, or a stream of a
 * device. */
#include <stdio.h>
#include <string.h>

#include "derive/operators/own_time.h"
#include "derive/select/scope.h"
#include "derive/select/track_order.h"
#include "question/question.h"

enum { PID, NAME, HOST, EVENTS, LOST, CLOCK, BEGIN, DURATION, STORAGE, PROCESS_COLUMNS };

static const struct vv_sheet_column process_columns[PROCESS_COLUMNS] = {
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "host", "host", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "events", "events", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "lost", "lost", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "clock_uncertainty_ns", "clock ±", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "storage", "recorded into", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

/* Shows the storage columns to people only where the storage is not the usual one. */
static enum varve_code show_storage(struct vv_sheet *sheet, struct varve_error *error)
{
    struct vv_sheet_column *columns = vv_arena_alloc(&sheet->arena, sizeof process_columns);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the processes");
    memcpy(columns, process_columns, sizeof process_columns);
    for (size_t row = 0; row < sheet->row_count; row++)
        if (vv_sheet_cell(sheet, row, STORAGE)->present)
            columns[STORAGE].hidden = false;
    sheet->columns = columns;
    return VARVE_OK;
}

/* An id below 0 means: the file has a text instead of a number, or says that there is none. */
static void put_id(struct vv_sheet *sheet, size_t row, size_t column, int64_t id)
{
    if (id >= 0)
        vv_sheet_int(sheet, row, column, id);
}

static enum varve_code put_process(const struct vv_model *model, uint32_t p, struct vv_sheet *sheet,
                                   struct varve_error *error)
{
    const struct vv_processes *processes = &model->processes;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, vv_text_of(model, processes->name[p]), error));
    if (processes->host[p] != 0)
        VV_TRY(vv_sheet_text(sheet, row, HOST, vv_text_of(model, processes->host[p]), error));
    if (processes->storage[p] != 0)
        VV_TRY(vv_sheet_text(sheet, row, STORAGE, vv_text_of(model, processes->storage[p]), error));
    put_id(sheet, row, PID, processes->pid[p]);
    vv_sheet_int(sheet, row, EVENTS, (int64_t)processes->events[p]);
    vv_sheet_int(sheet, row, LOST, (int64_t)processes->lost[p]);
    vv_sheet_int(sheet, row, BEGIN, processes->begin_ns[p]);
    vv_sheet_int(sheet, row, DURATION, processes->end_ns[p] - processes->begin_ns[p]);
    if (processes->clock_uncertainty_ns[p] >= 0)
        vv_sheet_int(sheet, row, CLOCK, processes->clock_uncertainty_ns[p]);
    return VARVE_OK;
}

enum varve_code vv_analyse_processes(const struct vv_model *model,
                                     const struct vv_question *question, struct vv_scratch *scratch,
                                     struct vv_sheet *out, struct varve_error *error)
{
    (void)question;
    uint32_t *order;
    vv_sheet_init(out, "processes", "PROCESSES", process_columns, PROCESS_COLUMNS);
    VV_TRY(vv_process_order(model, scratch, &order, error));
    for (uint64_t i = 0; i < model->processes.table.count; i++)
        VV_TRY(put_process(model, order[i], out, error));
    return show_storage(out, error);
}

enum { THREAD_NAME, TID, THREAD_PROCESS, KIND, SLICES, THREAD_LOST, BUSY, THREAD_COLUMNS };

static const struct vv_sheet_column thread_columns[THREAD_COLUMNS] = {
    { "name", "thread", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "tid", "id", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "process", "process", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "kind", "kind", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "slices", "slices", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "lost", "lost", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "busy_ns", "busy", VV_CELL_INT, VV_UNIT_NS, false, false },
};

static enum varve_code put_thread(const struct vv_model *model, uint32_t track, int64_t busy_ns,
                                  struct vv_sheet *sheet, struct varve_error *error)
{
    static const char *const kinds[] = { [VV_TRACK_THREAD] = "thread", [VV_TRACK_ASYNC] = "async",
                                         [VV_TRACK_DEVICE] = "device" };
    char name[120];
    uint32_t first, last;
    size_t row;
    vv_track_text(model, track, name, sizeof name);
    vv_track_rows(model, track, &first, &last);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, THREAD_NAME, name, error));
    VV_TRY(vv_sheet_text(sheet, row, KIND, kinds[model->tracks.kind[track]], error));
    if (model->tracks.kind[track] != VV_TRACK_ASYNC)
        put_id(sheet, row, TID, model->tracks.tid[track]);
    put_id(sheet, row, THREAD_PROCESS, vv_pid_of(model, track));
    vv_sheet_int(sheet, row, SLICES, last - first);
    vv_sheet_int(sheet, row, THREAD_LOST, (int64_t)model->tracks.lost[track]);
    vv_sheet_int(sheet, row, BUSY, busy_ns);
    return VARVE_OK;
}

enum varve_code vv_analyse_threads(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_scratch *scratch, struct vv_sheet *out,
                                   struct varve_error *error)
{
    (void)question;
    size_t rows = (size_t)model->slices.table.count + 1;
    uint32_t *stack;
    int64_t *own_ns;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &stack, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &own_ns, rows, error));
    uint32_t *order;
    vv_sheet_init(out, "threads", "THREADS", thread_columns, THREAD_COLUMNS);
    VV_TRY(vv_track_order(model, scratch, &order, error));
    for (uint64_t i = 0; i < model->tracks.table.count; i++) {
        uint32_t track = order[i], first, last;
        vv_track_rows(model, track, &first, &last);
        int64_t busy_ns = vv_own_time(&model->slices, first, last, INT64_MAX, stack, own_ns);
        VV_TRY(put_thread(model, track, busy_ns, out, error));
    }
    return VARVE_OK;
}
