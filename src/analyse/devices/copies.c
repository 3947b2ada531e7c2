/* SPDX-License-Identifier: Apache-2.0 */
/* copies.c — table "copies": the memory copies and sets of each device, by name, with their
 * bandwidth.
 *
 * The bandwidth is that of the copies whose bytes are known and whose duration is not 0: the sum of
 * their bytes / the sum of their durations. Without such copies there is no bandwidth, and where no
 * copy's bytes are known there is no size. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "derive/devices/device_work.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

enum {
    ROW, NAME, DIRECTION, DEVICE, RANK, COPIES, BYTES, TOTAL, BANDWIDTH, MAX_BANDWIDTH, LONGEST,
    WITHOUT_DURATION,
    WITHOUT_BYTES, COLUMNS
};

static const struct vv_sheet_column copy_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "copy", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "direction", "direction", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "copies", "copies", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "bytes", "size", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "bytes_per_s", "bandwidth", VV_CELL_REAL, VV_UNIT_BYTES_PER_S, false, false },
    { "max_bytes_per_s", "best", VV_CELL_REAL, VV_UNIT_BYTES_PER_S, false, false },
    { "longest_ns", "longest", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "without_duration", "0 ns", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "without_bytes", "size unknown", VV_CELL_INT, VV_UNIT_COUNT, true, false },
};

struct tally {
    int64_t values[COLUMNS];
    int64_t timed_bytes, timed_ns; /* of the copies whose bytes and duration are known          */
    double max_bytes_per_s;
    uint8_t class;
};

struct view {
    const struct vv_device_work *work;
    struct vv_groups kinds; /* (name, row of device) -> kind                                      */
    struct tally *tallies;  /* by kind                                                            */
    size_t capacity;
    uint8_t *by_name;       /* string -> class of work: vv_device_class_of                        */
    struct vv_sheet *sheet;
};

static const char *direction_of(const char *name, uint8_t class)
{
    static const struct { const char *part, *direction; } words[] = {
        { "HtoD", "HtoD" },           { "DtoH", "DtoH" },           { "DtoD", "DtoD" },
        { "PtoP", "PtoP" },           { "HtoH", "HtoH" },           { "HOST_TO_DEVICE", "HtoD" },
        { "DEVICE_TO_HOST", "DtoH" }, { "DEVICE_TO_DEVICE", "DtoD" }, { "HostToDevice", "HtoD" },
        { "DeviceToHost", "DtoH" },   { "DeviceToDevice", "DtoD" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i].part) != NULL)
            return words[i].direction;
    return class == VV_CLASS_SET ? "set" : NULL;
}

static void add(struct tally *sum, const struct tally *part)
{
    for (size_t c = COPIES; c < COLUMNS; c++)
        if (c != LONGEST)
            sum->values[c] = vv_sum(sum->values[c], part->values[c]);
    if (part->values[LONGEST] > sum->values[LONGEST])
        sum->values[LONGEST] = part->values[LONGEST];
    if (part->max_bytes_per_s > sum->max_bytes_per_s)
        sum->max_bytes_per_s = part->max_bytes_per_s;
    sum->timed_bytes = vv_sum(sum->timed_bytes, part->timed_bytes);
    sum->timed_ns += part->timed_ns;
    sum->class = part->class;
}

static enum varve_code add_item(struct view *view, uint32_t device, const struct vv_work_item *item,
                                struct varve_error *error)
{
    const struct vv_model *model = view->work->scope->model;
    /* by HTA's rules waits, too, are of the class of copies */
    enum vv_device_class class = vv_device_class_of(model, item->activity, view->by_name);
    if ((class != VV_CLASS_COPY && class != VV_CLASS_SET) ||
        (view->work->is_hta && item->class != VV_CLASS_COPY))
        return VARVE_OK;
    int64_t bytes = (int64_t)(model->activities.bytes[item->activity] & INT64_MAX);
    int64_t duration_ns = item->end_ns - item->begin_ns;
    struct tally one = { .values = { [COPIES] = 1, [BYTES] = bytes, [TOTAL] = duration_ns,
                                     [LONGEST] = duration_ns },
                         .class = (uint8_t)class };
    size_t former = view->capacity;
    uint32_t kind;
    one.values[WITHOUT_DURATION] = duration_ns == 0;
    one.values[WITHOUT_BYTES] = bytes == 0;
    if (duration_ns > 0 && bytes > 0) {
        one.timed_bytes = bytes;
        one.timed_ns = duration_ns;
        one.max_bytes_per_s = (double)bytes / (double)duration_ns * 1e9;
    }
    VV_TRY(vv_groups_add(&view->kinds, model->slices.name[model->activities.slice[item->activity]],
                         device, &kind, error));
    VV_TRY(VV_SCRATCH_RESERVE(view->kinds.scratch, &view->tallies, &view->capacity,
                              (size_t)kind + 1, error));
    for (; former < view->capacity; former++)
        view->tallies[former] = (struct tally){ .class = VV_CLASS_COPY };
    add(&view->tallies[kind], &one);
    return VARVE_OK;
}

static enum varve_code put_row(struct view *view, const struct vv_device *device, const char *name,
                               const struct tally *tally, struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    const char *direction = device != NULL ? direction_of(name, tally->class) : NULL;
    char text[40];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, device != NULL ? VV_ROW_PLAIN : VV_ROW_TOTAL, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, device != NULL ? "copy" : "total", error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, name, error));
    if (direction != NULL)
        VV_TRY(vv_sheet_text(sheet, row, DIRECTION, direction, error));
    if (device != NULL) {
        vv_device_text(device->id, text, sizeof text);
        VV_TRY(vv_sheet_text(sheet, row, DEVICE, text, error));
        if (device->rank >= 0)
            vv_sheet_int(sheet, row, RANK, device->rank);
    }
    bool is_sized = tally->values[WITHOUT_BYTES] < tally->values[COPIES];
    for (size_t c = COPIES; c < COLUMNS; c++)
        if (c != BANDWIDTH && c != MAX_BANDWIDTH && (c != BYTES || is_sized))
            vv_sheet_int(sheet, row, c, tally->values[c]);
    if (tally->timed_ns > 0) {
        vv_sheet_real(sheet, row, BANDWIDTH,
                      (double)tally->timed_bytes / (double)tally->timed_ns * 1e9);
        vv_sheet_real(sheet, row, MAX_BANDWIDTH, tally->max_bytes_per_s);
    }
    return VARVE_OK;
}

static int by_total(const void *a, const void *b, void *context)
{
    const struct tally *tallies = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int64_t left_ns = tallies[left].values[TOTAL], right_ns = tallies[right].values[TOTAL];
    if (left_ns != right_ns)
        return left_ns > right_ns ? -1 : 1;
    return (left > right) - (left < right);
}

static enum varve_code put_rows(struct view *view, struct varve_error *error)
{
    const struct vv_model *model = view->work->scope->model;
    struct tally total = { .class = VV_CLASS_COPY };
    uint32_t count = view->kinds.count, *order;
    VV_TRY(VV_SCRATCH_ARRAY(view->work->scope->scratch, &order, count, error));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (count > 0)
        qsort_r(order, count, sizeof *order, by_total, view->tallies);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = order[i];
        VV_TRY(put_row(view, &view->work->devices[view->kinds.extras[kind]],
                       vv_text_of(model, view->kinds.names[kind]), &view->tallies[kind], error));
        add(&total, &view->tallies[kind]);
    }
    return count > 1 ? put_row(view, NULL, "total", &total, error) : VARVE_OK;
}

static enum varve_code put_copies(struct view *view, struct varve_error *error)
{
    const struct vv_device_work *work = view->work;
    for (uint32_t d = 0; d < work->device_count; d++)
        for (size_t i = work->devices[d].first; i < work->devices[d].last; i++)
            VV_TRY(add_item(view, d, &work->items[i], error));
    return put_rows(view, error);
}

enum varve_code vv_analyse_copies(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct view view = { .work = &work, .kinds = { .scratch = scratch }, .sheet = out };
    vv_sheet_init(out, "copies", "COPIES", copy_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view.by_name, model->strings.count, error));
    VV_TRY(put_copies(&view, error));
    if (work.count == 0)
        return vv_no_work_policy(&scope, out, error);
    return vv_sheet_policy(
        out, error,
        "memory copies and sets of devices%s; bandwidth from those whose size is known "
        "and that took time%s",
        vv_device_part_label(&scope), vv_compat_text(question));
}
