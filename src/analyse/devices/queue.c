/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c — table "queue": how much work waited on each stream (doc/metrics.md §8.4).
 *
 * The queue's length grows by one where the call begins that launched a piece of work. It falls by
 * one where the work begins. At the same instant it grows first. The length is never negative: work
 * that is recorded as beginning before its call leaves the queue at the call's begin. Only work
 * whose call is known counts. The statistics are over the points at which the length changes, as
 * HTA's are. */
#include <inttypes.h>
#include <math.h>

#include "base/radix.h"
#include "derive/devices/streams.h"
#include "numbers/samples.h"
#include "question/question.h"

#define FULL_LENGTH 1024 /* length at which CUDA makes the host wait */

enum { ROW, DEVICE, RANK, STREAM, POINTS, MEAN, DEVIATION, P25, MEDIAN, P75, MAX, FULL, COLUMNS };

static const struct vv_sheet_column queue_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "stream", "stream", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "points", "changes", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "mean_length", "mean length", VV_CELL_REAL, VV_UNIT_COUNT, false, false },
    { "deviation", "deviation", VV_CELL_REAL, VV_UNIT_COUNT, true, false },
    { "p25_length", "p25", VV_CELL_REAL, VV_UNIT_COUNT, true, false },
    { "median_length", "median", VV_CELL_REAL, VV_UNIT_COUNT, false, false },
    { "p75_length", "p75", VV_CELL_REAL, VV_UNIT_COUNT, true, false },
    { "max_length", "longest", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "full_ns", "at 1024 or more", VV_CELL_INT, VV_UNIT_NS, false, false },
};

struct view {
    const struct vv_device_work *work;
    struct vv_keyed_row *calls, *begins; /* of one stream: the instants at which the queue grows,
                                            and falls */
    size_t count;
    struct vv_samples lengths;
    struct vv_sheet *sheet;
};

/* Statistics of one stream. */
struct lengths {
    int64_t points, sum, max, full_ns;
    double mean, squares; /* Welford's mean so far, and sum of the squared differences from it */
};

static enum varve_code read_stream(struct view *view, const struct vv_streams *streams,
                                   const struct vv_device_stream *stream, struct varve_error *error)
{
    const uint64_t turn = UINT64_C(1) << 63; /* flips the top bit, so keys have the order of signed
                                                times */
    const struct vv_model *model = view->work->scope->model;
    view->count = 0;
    for (size_t i = stream->first; i < stream->last; i++) {
        const struct vv_work_item *item = &view->work->items[streams->rows[i]];
        struct vv_interval call;
        if (!vv_is_device_work(model, item->activity) || !vv_device_call(view->work, item, &call) ||
            (view->work->is_hta &&
             !vv_hta_launches(
                 vv_text_of(model, model->slices.name[model->activities.launch[item->activity]]),
                 true)))
            continue;
        int64_t begin_ns = item->begin_ns > call.begin_ns ? item->begin_ns : call.begin_ns;
        view->calls[view->count] = (struct vv_keyed_row){ (uint64_t)call.begin_ns ^ turn, 0 };
        view->begins[view->count++] = (struct vv_keyed_row){ (uint64_t)begin_ns ^ turn, 0 };
    }
    VV_TRY(vv_radix_sort(view->calls, view->count, error));
    return vv_radix_sort(view->begins, view->count, error);
}

static enum varve_code walk(struct view *view, struct lengths *out, struct varve_error *error)
{
    size_t grown = 0, fallen = 0;
    uint64_t former = 0;
    *out = (struct lengths){ 0 };
    view->lengths.count = 0;
    while (fallen < view->count) {
        bool grows = grown < view->count && view->calls[grown].key <= view->begins[fallen].key;
        uint64_t now = grows ? view->calls[grown].key : view->begins[fallen].key;
        if (grown - fallen >= FULL_LENGTH)
            out->full_ns += (int64_t)(now - former);
        former = now;
        *(grows ? &grown : &fallen) += 1;
        int64_t length = (int64_t)(grown - fallen);
        double difference = (double)length - out->mean;
        out->mean += difference / (double)++out->points;
        out->squares += difference * ((double)length - out->mean);
        out->sum += length;
        out->max = length > out->max ? length : out->max;
        /* Lengths are in quarters, so that a quartile between two lengths is exact. */
        VV_TRY(vv_samples_add(&view->lengths, 0, 4 * length, error));
    }
    return vv_samples_sort(&view->lengths, 1, error);
}

static enum varve_code put_stream(struct view *view, const struct vv_device_stream *stream,
                                  const struct lengths *lengths, struct varve_error *error)
{
    static const struct {
        size_t column;
        unsigned percent;
    } quartiles[] = { { P25, 25 }, { MEDIAN, 50 }, { P75, 75 } };
    const struct vv_device *device = &view->work->devices[stream->device];
    struct vv_sheet *sheet = view->sheet;
    char name[40];
    size_t row;
    vv_device_text(device->id, name, sizeof name);
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, "stream", error));
    VV_TRY(vv_sheet_text(sheet, row, DEVICE, name, error));
    if (device->rank >= 0)
        vv_sheet_int(sheet, row, RANK, device->rank);
    vv_sheet_int(sheet, row, STREAM, stream->number);
    vv_sheet_int(sheet, row, POINTS, lengths->points);
    vv_sheet_real(sheet, row, MEAN, (double)lengths->sum / (double)lengths->points);
    vv_sheet_real(sheet, row, DEVIATION, sqrt(lengths->squares / (double)(lengths->points - 1)));
    for (size_t i = 0; i < sizeof quartiles / sizeof *quartiles; i++)
        vv_sheet_real(sheet, row, quartiles[i].column,
                      (double)vv_samples_percentile(&view->lengths, 0, quartiles[i].percent) / 4);
    vv_sheet_int(sheet, row, MAX, lengths->max);
    vv_sheet_int(sheet, row, FULL, lengths->full_ns);
    return VARVE_OK;
}

static enum varve_code put_streams(struct view *view, struct vv_scratch *scratch,
                                   struct varve_error *error)
{
    const struct vv_device_work *work = view->work;
    struct vv_streams streams;
    VV_TRY(vv_streams_init(&streams, work, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &view->calls, work->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &view->begins, work->count, error));
    for (size_t s = 0; s < streams.count; s++) {
        struct lengths lengths;
        VV_TRY(read_stream(view, &streams, &streams.streams[s], error));
        if (view->count == 0)
            continue;
        VV_TRY(walk(view, &lengths, error));
        VV_TRY(put_stream(view, &streams.streams[s], &lengths, error));
    }
    return VARVE_OK;
}

enum varve_code vv_analyse_queue(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct view view = { .work = &work, .lengths = { .scratch = scratch }, .sheet = out };
    vv_sheet_init(out, "queue", "QUEUES", queue_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    VV_TRY(put_streams(&view, scratch, error));
    if (work.count == 0)
        return vv_no_work_policy(&scope, out, error);
    return vv_sheet_policy(out, error,
                           "work that was launched and had not begun%s; %" PRIu64
                           " pieces without a call are left out%s",
                           vv_device_part_label(&scope), work.unlinked, vv_compat_text(question));
}
