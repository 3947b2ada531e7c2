/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.c — table "overlap": how much of a device's communication hides behind its computation
 * (doc/metrics.md §8.1).
 *
 * Let c be the union of all communication of a device, or of one kind of collective. Let C be the
 * union of computation, memset included. Then
 *     hidden = |c and C|, exposed = |c without C|.
 * Law: hidden and exposed sum to the row's communication. The rows of devices sum to the total. The
 * rows of kinds may overlap and do not sum. */
#include <inttypes.h>
#include <stdio.h>

#include "derive/devices/device_work.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

enum { ROW, NAME, DEVICE, RANK, COUNT, COMMUNICATION, HIDDEN, EXPOSED, OVERLAP_SHARE, EXPOSED_SHARE,
       SUM, COLUMNS };

static const struct vv_sheet_column overlap_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "collective", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "communication_ns", "communication", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "hidden_ns", "hidden", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "exposed_ns", "exposed", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "overlap_share", "hidden", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "exposed_share", "exposed", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    { "sum_ns", "sum of calls", VV_CELL_INT, VV_UNIT_NS, true, false },
};

struct view {
    const struct vv_device_work *work;
    struct vv_sheet *sheet;
    struct vv_intervals compute, all;
    struct vv_groups kinds;           /* names of collectives on the device at hand             */
    struct vv_intervals *of_kind;     /* by kind; kind_capacity of them are initialised         */
    int64_t *calls, *sums_ns;
    size_t kind_capacity;
    int64_t totals[COLUMNS];
};

/* ---- communication ---- */

static enum varve_code grow(struct view *view, struct varve_error *error)
{
    struct vv_scratch *scratch = view->kinds.scratch;
    size_t capacity = view->kind_capacity > 0 ? 2 * view->kind_capacity : 16,
           of_kind = view->kind_capacity, calls = of_kind, sums = of_kind;
    VV_TRY(VV_SCRATCH_RESERVE(scratch, &view->of_kind, &of_kind, capacity, error));
    VV_TRY(VV_SCRATCH_RESERVE(scratch, &view->calls, &calls, capacity, error));
    VV_TRY(VV_SCRATCH_RESERVE(scratch, &view->sums_ns, &sums, capacity, error));
    for (; view->kind_capacity < capacity; view->kind_capacity++)
        view->of_kind[view->kind_capacity] = (struct vv_intervals){ .scratch = scratch };
    return VARVE_OK;
}

static enum varve_code add(struct view *view, const struct vv_work_item *item,
                           struct varve_error *error)
{
    const struct vv_model *model = view->work->scope->model;
    uint32_t kind, former = view->kinds.count;
    VV_TRY(vv_groups_add(&view->kinds, model->slices.name[model->activities.slice[item->activity]],
                         0, &kind, error));
    if (view->kinds.count > view->kind_capacity)
        VV_TRY(grow(view, error));
    if (view->kinds.count > former) {
        view->of_kind[kind].count = 0;
        view->calls[kind] = view->sums_ns[kind] = 0;
    }
    view->calls[kind]++;
    view->sums_ns[kind] += item->end_ns - item->begin_ns;
    return vv_intervals_add(&view->of_kind[kind], item->begin_ns, item->end_ns, error);
}

/* ---- rows ---- */

static enum varve_code put_row(struct view *view, enum vv_row_kind kind, const char *const *texts,
                               int64_t rank, const int64_t *values, struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    for (size_t c = ROW; c <= DEVICE; c++)
        VV_TRY(vv_sheet_text(sheet, row, c, texts[c], error));
    if (rank >= 0)
        vv_sheet_int(sheet, row, RANK, rank);
    for (size_t c = COUNT; c < COLUMNS; c++)
        if (c != OVERLAP_SHARE && c != EXPOSED_SHARE)
            vv_sheet_int(sheet, row, c, values[c]);
    if (values[COMMUNICATION] > 0) {
        double all_ns = (double)values[COMMUNICATION];
        vv_sheet_real(sheet, row, OVERLAP_SHARE, (double)values[HIDDEN] / all_ns);
        vv_sheet_real(sheet, row, EXPOSED_SHARE, (double)values[EXPOSED] / all_ns);
    }
    return VARVE_OK;
}

static void measure(const struct view *view, const struct vv_intervals *set, int64_t *values)
{
    values[COMMUNICATION] = vv_intervals_length(set);
    values[HIDDEN] = vv_intervals_length_common(set, &view->compute);
    values[EXPOSED] = values[COMMUNICATION] - values[HIDDEN];
}

static enum varve_code put_device(struct view *view, const struct vv_device *device,
                                  struct varve_error *error)
{
    const struct vv_model *model = view->work->scope->model;
    int64_t values[COLUMNS] = { 0 };
    char name[40];
    vv_device_text(device->id, name, sizeof name);
    view->kinds = (struct vv_groups){ .scratch = view->work->scope->scratch };
    VV_TRY(vv_device_busy(view->work, device,
                          VV_CLASS_BIT(VV_CLASS_COMPUTE) | VV_CLASS_BIT(VV_CLASS_SET), VV_ALWAYS,
                          &view->compute, error));
    VV_TRY(vv_device_busy(view->work, device, VV_CLASS_BIT(VV_CLASS_COMM), VV_ALWAYS, &view->all,
                          error));
    for (size_t i = device->first; i < device->last; i++)
        if (view->work->items[i].class == VV_CLASS_COMM)
            VV_TRY(add(view, &view->work->items[i], error));
    for (uint32_t kind = 0; kind < view->kinds.count; kind++) {
        int64_t of_kind[COLUMNS] = { [COUNT] = view->calls[kind], [SUM] = view->sums_ns[kind] };
        vv_intervals_unite(&view->of_kind[kind]);
        measure(view, &view->of_kind[kind], of_kind);
        VV_TRY(put_row(view, VV_ROW_PLAIN,
                       (const char *const[]){ "collective",
                                              vv_text_of(model, view->kinds.names[kind]), name },
                       device->rank, of_kind, error));
        values[COUNT] += of_kind[COUNT];
        values[SUM] += of_kind[SUM];
    }
    measure(view, &view->all, values);
    for (size_t c = 0; c < COLUMNS; c++)
        view->totals[c] += values[c];
    return put_row(view, VV_ROW_TOTAL, (const char *const[]){ "device", "all of them", name },
                   device->rank, values, error);
}

static enum varve_code put_devices(struct view *view, const struct vv_question *question,
                                   struct varve_error *error)
{
    const struct vv_device_work *work = view->work;
    for (size_t d = 0; d < work->device_count; d++)
        VV_TRY(put_device(view, &work->devices[d], error));
    if (work->device_count > 1)
        VV_TRY(put_row(view, VV_ROW_TOTAL, (const char *const[]){ "total", "total", "" }, -1,
                       view->totals, error));
    if (work->count == 0)
        return vv_no_work_policy(work->scope, view->sheet, error);
    return vv_sheet_policy(view->sheet, error,
                           "%" PRId64
                           " pieces of communication on %zu device%s%s; hidden while the "
                           "same device computes, exposed while it does not%s",
                           view->totals[COUNT], work->device_count,
                           work->device_count == 1 ? "" : "s", vv_device_part_label(work->scope),
                           vv_compat_text(question));
}

enum varve_code vv_analyse_overlap(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_scratch *scratch, struct vv_sheet *out,
                                   struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct view view = { .work = &work, .sheet = out, .compute = { .scratch = scratch },
                         .all = { .scratch = scratch } };
    vv_sheet_init(out, "overlap", "COMMUNICATION OVERLAP", overlap_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    return put_devices(&view, question, error);
}
