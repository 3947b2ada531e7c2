/* SPDX-License-Identifier: Apache-2.0 */
/* streams.c — table "idle_streams": why each stream was idle, by HTA's rules (doc/metrics.md §8.3).
 *
 * A gap lies between the latest end so far of a stream's work and the begin of its next piece of
 * work. The gap is
 *     host wait    if the next piece was launched after the gap began;
 *     kernel wait  otherwise, if it is shorter than 30 us: the usual time from one kernel to the
 *                  next;
 *     other        otherwise: the stream waits for another one, or the launch is not known.
 * Laws: the three sum to idle_ns; idle_ns + busy_ns = span_ns. With compat HTA a gap begins where
 * the piece before it ends, even if an earlier piece still runs. Such a gap may be negative; then
 * the second law does not hold. */
#include <inttypes.h>
#include <stdio.h>

#include "derive/devices/streams.h"
#include "question/question.h"

#define KERNEL_WAIT_NS 30000

enum { ROW, DEVICE, RANK, STREAM, HOST_WAIT, KERNEL_WAIT, OTHER, IDLE, BUSY, SPAN, EVENTS,
       COLUMNS };

static const struct vv_sheet_column stream_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "stream", "stream", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "host_wait_ns", "host wait", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "kernel_wait_ns", "kernel wait", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "other_wait_ns", "other", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "idle_ns", "idle", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "busy_ns", "busy", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "span_ns", "span", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "events", "events", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
};

static size_t cause_of(const struct vv_device_work *work, const struct vv_work_item *next,
                       int64_t from_ns)
{
    struct vv_interval call;
    if (vv_device_call(work, next, &call) && call.begin_ns > from_ns)
        return HOST_WAIT;
    return next->begin_ns - from_ns < KERNEL_WAIT_NS ? KERNEL_WAIT : OTHER;
}

/* HTA's idle breakdown leaves out waits for the device. HTA's other figures include them. */
static bool counts(const struct vv_device_work *work, const struct vv_work_item *item)
{
    return vv_is_device_work(work->scope->model, item->activity);
}

static void measure(const struct vv_device_work *work, const struct vv_streams *streams,
                    const struct vv_device_stream *stream, int64_t *values)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN, former_end_ns = 0, cut_ns = 0;
    uint16_t stretch = 0; /* of the work that ends at end_ns                                    */
    for (size_t i = stream->first; i < stream->last; i++) {
        const struct vv_work_item *item = &work->items[streams->rows[i]];
        if (!counts(work, item))
            continue;
        int64_t from_ns = work->is_hta ? former_end_ns : end_ns;
        if (values[EVENTS]++ == 0)
            begin_ns = item->begin_ns;
        else if (item->begin_ns > from_ns && item->stretch != stretch)
            cut_ns += item->begin_ns - from_ns;
        else if (work->is_hta || item->begin_ns > from_ns)
            values[cause_of(work, item, from_ns)] += item->begin_ns - from_ns;
        former_end_ns = item->end_ns;
        stretch = item->end_ns >= end_ns ? item->stretch : stretch;
        end_ns = item->end_ns > end_ns ? item->end_ns : end_ns;
    }
    values[STREAM] = stream->number;
    values[IDLE] = values[HOST_WAIT] + values[KERNEL_WAIT] + values[OTHER];
    values[SPAN] = values[EVENTS] > 0 ? end_ns - begin_ns - cut_ns : 0;
    values[BUSY] = values[SPAN] - values[IDLE];
}

static enum varve_code put_row(struct vv_sheet *sheet, const struct vv_device *device,
                               const int64_t *values, struct varve_error *error)
{
    size_t row;
    char name[40] = "total";
    VV_TRY(vv_sheet_row(sheet, device != NULL ? VV_ROW_PLAIN : VV_ROW_TOTAL, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, device != NULL ? "stream" : "total", error));
    if (device != NULL) {
        vv_device_text(device->id, name, sizeof name);
        vv_sheet_int(sheet, row, STREAM, values[STREAM]);
        if (device->rank >= 0)
            vv_sheet_int(sheet, row, RANK, device->rank);
    }
    for (size_t c = HOST_WAIT; c < COLUMNS; c++)
        vv_sheet_int(sheet, row, c, values[c]);
    return vv_sheet_text(sheet, row, DEVICE, name, error);
}

static enum varve_code put_streams(const struct vv_device_work *work,
                                   const struct vv_streams *streams, struct vv_sheet *sheet,
                                   struct varve_error *error)
{
    int64_t sums[COLUMNS] = { 0 };
    for (size_t s = 0; s < streams->count; s++) {
        int64_t values[COLUMNS] = { 0 };
        measure(work, streams, &streams->streams[s], values);
        VV_TRY(put_row(sheet, &work->devices[streams->streams[s].device], values, error));
        for (size_t c = HOST_WAIT; c < COLUMNS; c++)
            sums[c] += values[c];
    }
    return streams->count > 1 ? put_row(sheet, NULL, sums, error) : VARVE_OK;
}

enum varve_code vv_analyse_idle_streams(const struct vv_model *model,
                                        const struct vv_question *question,
                                        struct vv_scratch *scratch, struct vv_sheet *out,
                                        struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_streams streams;
    vv_sheet_init(out, "idle_streams", "IDLE STREAMS", stream_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    VV_TRY(vv_streams_init(&streams, &work, scratch, error));
    VV_TRY(put_streams(&work, &streams, out, error));
    if (work.count == 0)
        return vv_no_work_policy(&scope, out, error);
    return vv_sheet_policy(
        out, error, "gaps between the work of a stream%s: launched late, under 30 us, other%s",
        vv_device_part_label(&scope), vv_compat_text(question));
}
