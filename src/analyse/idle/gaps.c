/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.c — table "idle_gaps": one row for each gap in which a device was idle, the longest first.
 *
 * gaps.h has the causes and laws. Gaps shorter than 5 us and gaps beyond --top share one row. The
 * rows sum to the total. */
#include <stdio.h>
#include <stdlib.h>

#include "derive/devices/gaps.h"
#include "question/question.h"

#define SHORT_NS 5000 /* the cost of launching makes such short gaps */

enum { ROW, AT, DURATION, HOST, LAUNCH, DEPENDENCY, UNKNOWN, DOING, BEFORE, AFTER, DEVICE, RANK,
       STEP, COLUMNS };

static const struct vv_sheet_column gap_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "duration_ns", "idle", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "host_ns", "host", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "launch_ns", "launch", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "dependency_ns", "dependency", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "unknown_ns", "unknown", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "doing", "the thread was in", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "before", "after", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "after", "until", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, true, false },
};

static int by_duration(const void *a, const void *b)
{
    const struct vv_gap *left = a, *right = b;
    int64_t left_ns = left->end_ns - left->begin_ns, right_ns = right->end_ns - right->begin_ns;
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* Moves the gaps that get a row to the front, in order. Returns their number. */
static size_t choose(struct vv_gaps *gaps)
{
    size_t count = 0, top = (size_t)gaps->question->top;
    for (size_t i = 0; i < gaps->count; i++) {
        struct vv_gap gap = gaps->gaps[i];
        if (gap.end_ns - gap.begin_ns >= SHORT_NS) {
            gaps->gaps[i] = gaps->gaps[count];
            gaps->gaps[count++] = gap;
        }
    }
    if (count > 0)
        qsort(gaps->gaps, count, sizeof *gaps->gaps, by_duration);
    return top > 0 && top < count ? top : count;
}

/* ---- rows ---- */

static uint32_t launch_of(const struct vv_gaps *gaps, const struct vv_gap *gap)
{
    return gaps->scope.model->activities.launch[gaps->work.items[gap->after].activity];
}

static void add_parts(const struct vv_gaps *gaps, const struct vv_gap *gap, int64_t *values)
{
    int64_t rest_ns = gap->end_ns - gap->begin_ns - gap->host_ns - gap->launch_ns;
    values[DURATION] += gap->end_ns - gap->begin_ns;
    values[HOST] += gap->host_ns;
    values[LAUNCH] += gap->launch_ns;
    values[launch_of(gaps, gap) != VV_NONE ? DEPENDENCY : UNKNOWN] += rest_ns;
}

static enum varve_code put_parts(struct vv_sheet *sheet, enum vv_row_kind kind, const char *name,
                                 const int64_t *values, size_t *out_row, struct varve_error *error)
{
    VV_TRY(vv_sheet_row(sheet, kind, out_row, error));
    for (size_t c = DURATION; c <= UNKNOWN; c++)
        vv_sheet_int(sheet, *out_row, c, values[c]);
    return vv_sheet_text(sheet, *out_row, ROW, name, error);
}

static enum varve_code put_gap(const struct vv_gaps *gaps, struct vv_sheet *sheet,
                               const struct vv_gap *gap, struct varve_error *error)
{
    const struct vv_model *model = gaps->scope.model;
    int64_t values[COLUMNS] = { 0 };
    uint32_t launch = launch_of(gaps, gap),
             step = launch != VV_NONE ? model->slices.step[launch] : VV_NONE;
    const uint32_t around[] = { gap->before, gap->after };
    size_t row;
    add_parts(gaps, gap, values);
    VV_TRY(put_parts(sheet, VV_ROW_PLAIN, "gap", values, &row, error));
    vv_sheet_int(sheet, row, AT, gap->begin_ns - model->run.begin_ns);
    if (gap->host_ns > 0)
        VV_TRY(vv_sheet_text(sheet, row, DOING, vv_host_role_text((enum vv_host_role)gap->doing),
                             error));
    for (size_t i = 0; i < 2; i++) {
        uint32_t slice = model->activities.slice[gaps->work.items[around[i]].activity];
        VV_TRY(vv_sheet_text(sheet, row, BEFORE + i, vv_text_of(model, model->slices.name[slice]),
                             error));
    }
    if (step != VV_NONE)
        vv_sheet_int(sheet, row, STEP, model->steps.index[step]);
    return vv_put_device(sheet, row, DEVICE, &gaps->work.devices[gap->device], error);
}

static enum varve_code put_gaps(struct vv_gaps *gaps, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    int64_t more[COLUMNS] = { 0 }, total[COLUMNS] = { 0 };
    size_t row, shown = choose(gaps);
    char text[80];
    for (size_t i = 0; i < gaps->count; i++) {
        add_parts(gaps, &gaps->gaps[i], total);
        if (i < shown)
            VV_TRY(put_gap(gaps, sheet, &gaps->gaps[i], error));
        else
            add_parts(gaps, &gaps->gaps[i], more);
    }
    if (shown < gaps->count) {
        VV_TRY(put_parts(sheet, VV_ROW_REMAINDER, "more", more, &row, error));
        snprintf(text, sizeof text, "%zu shorter gaps", gaps->count - shown);
        VV_TRY(vv_sheet_text(sheet, row, AFTER, text, error));
    }
    return gaps->count > 1 ? put_parts(sheet, VV_ROW_TOTAL, "total", total, &row, error) : VARVE_OK;
}

enum varve_code vv_analyse_idle_gaps(const struct vv_model *model,
                                     const struct vv_question *question, struct vv_scratch *scratch,
                                     struct vv_sheet *out, struct varve_error *error)
{
    struct vv_gaps gaps;
    vv_sheet_init(out, "idle_gaps", "GAPS OF DEVICES", gap_columns, COLUMNS);
    VV_TRY(vv_gaps_init(&gaps, model, question, scratch, error));
    VV_TRY(put_gaps(&gaps, out, error));
    return vv_gaps_policy(&gaps, out, error);
}
