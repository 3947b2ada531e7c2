/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.c — table "roofline": how close operators come to the peak of their device.
 * doc/metrics.md §17.
 *
 * Law: the times of the rows, of the remainder that was cut off and of the work without a formula
 * sum to the total's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/operators/work.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

enum {
    TIME, SHARE, CALLS, FLOP, BYTES, INTENSITY, RATE, BYTE_RATE, BOUND, ROOF, EFFICIENCY, LEAST,
    DEVICE, SHAPES, ROW, NAME,
    COLUMNS
};

static const struct vv_sheet_column roofline_columns[COLUMNS] = {
    { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "flop", "work", VV_CELL_REAL, VV_UNIT_FLOP, true, false },
    { "bytes", "bytes", VV_CELL_REAL, VV_UNIT_BYTES, true, false },
    { "flop_per_byte", "FLOP/B", VV_CELL_REAL, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "flop_per_s", "rate", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, false, false },
    { "bytes_per_s", "traffic", VV_CELL_REAL, VV_UNIT_BYTES_PER_S, false, VV_TEXT_IF_ROOM },
    { "bound", "bound", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "roof_flop_per_s", "roof", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, true, false },
    { "efficiency", "of roof", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "least_ns", "at roof", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "shapes", "shapes", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

/* All calls of one name and one set of shapes on one device. */
struct tally {
    uint32_t name, shapes, device;
    int64_t calls, time_ns;
    struct vv_op_cost cost; /* of all calls                                                     */
    double least_ns;        /* of all calls; 0 = not known                                      */
    double peak_flop, peak_bytes;
};

struct view {
    struct vv_op_work ops;
    struct vv_groups kinds, groups;
    struct tally *tallies;
};

static enum varve_code tally_ops(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->ops.scope.model;
    VV_TRY(VV_SCRATCH_ZEROS(view->groups.scratch, &view->tallies, view->ops.count, error));
    for (size_t i = 0; i < view->ops.count; i++) {
        const struct vv_costed_op *op = &view->ops.items[i];
        uint32_t name = model->slices.name[op->slice],
                 shapes = model->ops.shapes[model->slices.op[op->slice]];
        uint32_t kind, group;
        VV_TRY(vv_groups_add(&view->kinds, name, shapes, &kind, error));
        VV_TRY(vv_groups_add(&view->groups, kind, op->device, &group, error));
        struct tally *tally = &view->tallies[group];
        if (tally->calls == 0)
            *tally = (struct tally){ .name = name,
                                     .shapes = shapes,
                                     .device = op->device,
                                     .cost = { .dtype = op->cost.dtype },
                                     .peak_flop = op->peak_flop,
                                     .peak_bytes = op->peak_bytes };
        tally->calls++;
        tally->time_ns += op->time_ns;
        tally->cost.flop += op->cost.flop;
        tally->cost.bytes += op->cost.bytes;
        tally->least_ns += vv_least_ns(&op->cost, op->peak_flop, op->peak_bytes);
    }
    return VARVE_OK;
}

static int compare_tallies(const void *a, const void *b, void *model)
{
    const struct tally *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns > right->time_ns ? -1 : 1;
    if (left->name != right->name)
        return strcmp(vv_text_of(model, left->name), vv_text_of(model, right->name));
    if (left->shapes != right->shapes)
        return strcmp(vv_text_of(model, left->shapes), vv_text_of(model, right->shapes));
    return (left->device > right->device) - (left->device < right->device);
}

static void put_rates(struct vv_sheet *sheet, size_t row, const struct tally *tally)
{
    vv_sheet_real(sheet, row, FLOP, tally->cost.flop);
    vv_sheet_real(sheet, row, BYTES, tally->cost.bytes);
    if (tally->cost.bytes > 0)
        vv_sheet_real(sheet, row, INTENSITY, tally->cost.flop / tally->cost.bytes);
    if (tally->time_ns > 0) {
        vv_sheet_real(sheet, row, RATE, tally->cost.flop / (double)tally->time_ns * 1e9);
        vv_sheet_real(sheet, row, BYTE_RATE, tally->cost.bytes / (double)tally->time_ns * 1e9);
    }
    if (tally->least_ns > 0) {
        vv_sheet_int(sheet, row, LEAST, (int64_t)tally->least_ns);
        if (tally->time_ns > 0)
            vv_sheet_real(sheet, row, EFFICIENCY, tally->least_ns / (double)tally->time_ns);
    }
}

/* Below the ridge, peak / bandwidth, the memory limits the operator. */
static enum varve_code put_bound(struct vv_sheet *sheet, size_t row, const struct tally *tally,
                                 struct varve_error *error)
{
    const struct vv_op_cost *cost = &tally->cost;
    if (tally->least_ns <= 0 || cost->bytes <= 0)
        return VARVE_OK;
    bool is_memory =
        tally->peak_flop <= 0 || cost->flop * tally->peak_bytes < cost->bytes * tally->peak_flop;
    double roof = is_memory ? cost->flop / cost->bytes * tally->peak_bytes : tally->peak_flop;
    vv_sheet_real(sheet, row, ROOF, roof);
    return vv_sheet_text(sheet, row, BOUND, is_memory ? "memory" : "compute", error);
}

static enum varve_code put_tally(const struct view *view, const struct tally *tally,
                                 struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_model *model = view->ops.scope.model;
    char device[40] = "host";
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, TIME, tally->time_ns);
    vv_sheet_int(sheet, row, CALLS, tally->calls);
    put_rates(sheet, row, tally);
    VV_TRY(put_bound(sheet, row, tally, error));
    if (tally->device != VV_ON_HOST)
        vv_device_text(view->ops.work.devices[tally->device].id, device, sizeof device);
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, device, error));
    if (tally->shapes != 0)
        VV_TRY(vv_sheet_text(sheet, row, SHAPES, vv_text_of(model, tally->shapes), error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, "operator", error));
    return vv_sheet_text(sheet, row, NAME, vv_text_of(model, tally->name), error);
}

static void add_tally(struct tally *sum, const struct tally *tally)
{
    sum->calls += tally->calls;
    sum->time_ns += tally->time_ns;
    sum->cost.flop += tally->cost.flop;
    sum->cost.bytes += tally->cost.bytes;
}

static enum varve_code put_sum(struct vv_sheet *sheet, enum vv_row_kind kind, const char *word,
                               const char *name, const struct tally *sum, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    vv_sheet_int(sheet, row, TIME, sum->time_ns);
    if (sum->calls > 0) {
        vv_sheet_int(sheet, row, CALLS, sum->calls);
        vv_sheet_real(sheet, row, FLOP, sum->cost.flop);
        vv_sheet_real(sheet, row, BYTES, sum->cost.bytes);
    }
    VV_TRY(vv_sheet_text(sheet, row, ROW, word, error));
    return vv_sheet_text(sheet, row, NAME, name, error);
}

static void put_shares(struct vv_sheet *sheet, int64_t total_ns)
{
    for (size_t row = 0; row < sheet->row_count && total_ns > 0; row++)
        vv_sheet_real(sheet, row, SHARE,
                      (double)vv_sheet_cell(sheet, row, TIME)->integer / (double)total_ns);
}

static enum varve_code put_rows(struct view *view, int64_t top, struct vv_sheet *sheet,
                                struct varve_error *error)
{
    uint32_t count = view->groups.count, shown = top > 0 && top < count ? (uint32_t)top : count;
    struct tally cut = { 0 }, sum = { 0 }, rest = { .time_ns = vv_op_work_rest_ns(&view->ops) };
    char more[60];
    if (count == 0)
        return VARVE_OK;
    qsort_r(view->tallies, count, sizeof *view->tallies, compare_tallies,
            (void *)view->ops.scope.model);
    for (uint32_t g = 0; g < count; g++) {
        const struct tally *tally = &view->tallies[g];
        add_tally(&sum, tally);
        if (g < shown)
            VV_TRY(put_tally(view, tally, sheet, error));
        else
            add_tally(&cut, tally);
    }
    snprintf(more, sizeof more, "%" PRIu32 " more: --top 0", count - shown);
    if (shown < count)
        VV_TRY(put_sum(sheet, VV_ROW_REMAINDER, "more", more, &cut, error));
    const char *name =
        view->ops.scope.admitted == NULL ? "(no formula)" : "(outside the filter, or no formula)";
    VV_TRY(put_sum(sheet, VV_ROW_REMAINDER, "rest", name, &rest, error));
    sum.time_ns += rest.time_ns;
    VV_TRY(put_sum(sheet, VV_ROW_TOTAL, "total", "total", &sum, error));
    put_shares(sheet, sum.time_ns);
    return VARVE_OK;
}

static enum varve_code state_policy(const struct view *view, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    char peaks[200], host[240] = "", left_out[60];
    vv_op_work_peaks_text(&view->ops, peaks, sizeof peaks);
    vv_scope_left_out_text(&view->ops.scope, left_out, sizeof left_out);
    if (view->ops.count == 0)
        return vv_sheet_policy(
            sheet, error,
            "no operator with a formula whose shapes were recorded (record_shapes=True "
            "in PyTorch), and none that says its FLOP%s",
            left_out);
    if (vv_op_work_is_mixed(&view->ops)) {
        size_t used = (size_t)snprintf(host, sizeof host, "; those without any ran on the host: ");
        vv_op_work_host_peaks_text(&view->ops, host + used, sizeof host - used);
    }
    return vv_sheet_policy(
        sheet, error,
        "%zu operators by the formulas of doc/metrics.md; time is that of their %s; %s%s%s",
        view->ops.count, view->ops.work.count > 0 ? "device work, summed" : "calls", peaks, host,
        left_out);
}

enum varve_code vv_analyse_roofline(const struct vv_model *model,
                                    const struct vv_question *question, struct vv_scratch *scratch,
                                    struct vv_sheet *out, struct varve_error *error)
{
    struct view view = { .kinds = { .scratch = scratch }, .groups = { .scratch = scratch } };
    vv_sheet_init(out, "roofline", "ROOFLINE", roofline_columns, COLUMNS);
    VV_TRY(vv_op_work_init(&view.ops, model, question, scratch, error));
    VV_TRY(tally_ops(&view, error));
    VV_TRY(put_rows(&view, question->top, out, error));
    return state_policy(&view, out, error);
}
