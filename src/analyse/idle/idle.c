/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c — table "idle": why each device was idle, one row for each cause.
 *
 * gaps.h has the causes and laws. The rows of a device sum to its row "device", which is idle_ns of
 * table "devices". */
#include <stdlib.h>

#include "derive/devices/gaps.h"
#include "derive/select/source_line.h"
#include "question/question.h"

enum { ROW, CAUSE, DOING, NAME, NAME_NS, SOURCE, DEVICE, RANK, IDLE, SHARE, GAPS, LONGEST,
       LONGEST_AT, COLUMNS };

static const struct vv_sheet_column idle_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "cause", "cause", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "doing", "thread was in", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name", "mostly", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name_ns", "of it", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "source", "source", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "idle_ns", "idle", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "idle_share", "idle", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_BAR },
    { "gaps", "gaps", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "longest_ns", "longest", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "longest_at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
};

static const char *cause_text(size_t cause)
{
    static const char *const texts[] = { "launch", "dependency", "unknown" };
    return cause < VV_IDLE_LAUNCH ? "host" : texts[cause - VV_IDLE_LAUNCH];
}

/* Sorts the causes of one device, the greatest first. */
static int by_idle(const void *a, const void *b, void *context)
{
    const struct vv_idle_sum *sums = context;
    uint8_t left = *(const uint8_t *)a, right = *(const uint8_t *)b;
    if (sums[left].idle_ns != sums[right].idle_ns)
        return sums[left].idle_ns > sums[right].idle_ns ? -1 : 1;
    return (left > right) - (left < right);
}

/* Where the thread was: the range that took most of it, and the line that it is at. */
static enum varve_code put_doing(const struct vv_gaps *gaps, struct vv_sheet *sheet, size_t row,
                                 uint32_t device, enum vv_host_role role, struct varve_error *error)
{
    const struct vv_model *model = gaps->scope.model;
    const struct vv_host_stay *stay = vv_gaps_longest_stay(gaps, device, role);
    char source[VV_SOURCE_LINE_BYTES];
    VV_TRY(vv_sheet_text(sheet, row, DOING, vv_host_role_text(role), error));
    if (stay == NULL)
        return VARVE_OK;
    vv_sheet_int(sheet, row, NAME_NS, stay->time_ns);
    if (vv_source_line(model, stay->slice, source))
        VV_TRY(vv_sheet_text(sheet, row, SOURCE, source, error));
    return vv_sheet_text(sheet, row, NAME, vv_text_of(model, model->slices.name[stay->slice]),
                         error);
}

static enum varve_code put_cause(const struct vv_gaps *gaps, struct vv_sheet *sheet, size_t device,
                                 size_t cause, int64_t whole_ns, struct varve_error *error)
{
    const struct vv_idle_sum *sum = &gaps->sums[device][cause];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_put_device(sheet, row, DEVICE, &gaps->work.devices[device], error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, "cause", error));
    VV_TRY(vv_sheet_text(sheet, row, CAUSE, cause_text(cause), error));
    if (cause < VV_IDLE_LAUNCH)
        VV_TRY(put_doing(gaps, sheet, row, (uint32_t)device, (enum vv_host_role)cause, error));
    vv_sheet_int(sheet, row, IDLE, sum->idle_ns);
    vv_sheet_real(sheet, row, SHARE, (double)sum->idle_ns / (double)whole_ns);
    vv_sheet_int(sheet, row, GAPS, sum->gaps);
    vv_sheet_int(sheet, row, LONGEST, sum->longest_ns);
    vv_sheet_int(sheet, row, LONGEST_AT, sum->longest_at_ns - gaps->scope.model->run.begin_ns);
    return VARVE_OK;
}

/* If `device` is NULL, the row is that of all devices. */
static enum varve_code put_total(struct vv_sheet *sheet, const struct vv_device *device,
                                 int64_t idle_ns, int64_t gaps, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_TOTAL, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, device != NULL ? "device" : "total", error));
    VV_TRY(vv_sheet_text(sheet, row, CAUSE, device != NULL ? "all of them" : "total", error));
    if (device != NULL)
        VV_TRY(vv_put_device(sheet, row, DEVICE, device, error));
    vv_sheet_int(sheet, row, IDLE, idle_ns);
    vv_sheet_int(sheet, row, GAPS, gaps);
    return VARVE_OK;
}

static enum varve_code put_causes(const struct vv_gaps *gaps, struct vv_sheet *sheet,
                                  struct varve_error *error)
{
    int64_t total_ns = 0;
    size_t next = 0;
    for (uint32_t d = 0; d < gaps->work.device_count; d++) {
        struct vv_idle_sum *sums = gaps->sums[d];
        uint8_t order[VV_IDLE_CAUSES];
        int64_t whole_ns = 0, count = 0;
        for (uint8_t c = 0; c < VV_IDLE_CAUSES; c++) {
            order[c] = c;
            whole_ns += sums[c].idle_ns;
        }
        for (; next < gaps->count && gaps->gaps[next].device == d; next++)
            count++;
        qsort_r(order, VV_IDLE_CAUSES, sizeof *order, by_idle, sums);
        for (size_t i = 0; i < VV_IDLE_CAUSES && sums[order[i]].idle_ns > 0; i++)
            VV_TRY(put_cause(gaps, sheet, d, order[i], whole_ns, error));
        VV_TRY(put_total(sheet, &gaps->work.devices[d], whole_ns, count, error));
        total_ns += whole_ns;
    }
    if (gaps->work.device_count < 2)
        return VARVE_OK;
    return put_total(sheet, NULL, total_ns, (int64_t)gaps->count, error);
}

enum varve_code vv_analyse_idle(const struct vv_model *model, const struct vv_question *question,
                                struct vv_scratch *scratch, struct vv_sheet *out,
                                struct varve_error *error)
{
    struct vv_gaps gaps;
    vv_sheet_init(out, "idle", "IDLE DEVICES", idle_columns, COLUMNS);
    VV_TRY(vv_gaps_init(&gaps, model, question, scratch, error));
    VV_TRY(put_causes(&gaps, out, error));
    return vv_gaps_policy(&gaps, out, error);
}
