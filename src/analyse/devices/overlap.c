/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.c — table "overlap": how much of a device's communication hides behind its computation (doc/metrics.md §8.1).
 *
 * Of the union M of all communication of a device, and of each kind of collective by itself, c:
 *     hidden = |c and C|,  exposed = |c without C|,  where C is the union of computation, memset included.
 * Law: hidden and exposed sum to the row's communication. The devices' rows sum to the total; the kinds' overlap. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "derive/devices/device_work.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

enum { ROW, NAME, DEVICE, RANK, COUNT, COMMUNICATION, HIDDEN, EXPOSED, OVERLAP_SHARE, EXPOSED_SHARE, SUM, COLUMNS };

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

static void deinit(struct view *view)
{
    for (size_t k = 0; k < view->kind_capacity; k++)
        vv_intervals_deinit(&view->of_kind[k]);
    free(view->of_kind);
    free(view->calls);
    free(view->sums_ns);
    vv_groups_deinit(&view->kinds);
    vv_intervals_deinit(&view->compute);
    vv_intervals_deinit(&view->all);
}

/* ---- what communicates ---- */

static enum varve_code grow(struct view *view, struct varve_error *error)
{
    size_t capacity = view->kind_capacity > 0 ? 2 * view->kind_capacity : 16;
    struct vv_intervals *of_kind = reallocarray(view->of_kind, capacity, sizeof *of_kind);
    view->of_kind = of_kind != NULL ? of_kind : view->of_kind;
    int64_t *calls = reallocarray(view->calls, capacity, sizeof *calls);
    view->calls = calls != NULL ? calls : view->calls;
    int64_t *sums_ns = reallocarray(view->sums_ns, capacity, sizeof *sums_ns);
    view->sums_ns = sums_ns != NULL ? sums_ns : view->sums_ns;
    if (of_kind == NULL || calls == NULL || sums_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu kinds of collectives", capacity);
    for (; view->kind_capacity < capacity; view->kind_capacity++)
        of_kind[view->kind_capacity] = (struct vv_intervals){ 0 };
    return VARVE_OK;
}

static enum varve_code add(struct view *view, const struct vv_work_item *item, struct varve_error *error)
{
    const struct vv_model *model = view->work->scope->model;
    uint32_t kind, former = view->kinds.count;
    VV_TRY(vv_groups_add(&view->kinds, model->slices.name[model->activities.slice[item->activity]], 0, &kind, error));
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

static enum varve_code put_row(struct view *view, enum vv_row_kind kind, const char *const *texts, int64_t rank,
                               const int64_t *values, struct varve_error *error)
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

static enum varve_code put_device(struct view *view, const struct vv_device *device, struct varve_error *error)
{
    const struct vv_model *model = view->work->scope->model;
    int64_t values[COLUMNS] = { 0 };
    char name[40];
    vv_device_text(device->id, name, sizeof name);
    vv_groups_deinit(&view->kinds);
    VV_TRY(vv_device_busy(view->work, device, VV_CLASS_BIT(VV_CLASS_COMPUTE) | VV_CLASS_BIT(VV_CLASS_SET), VV_ALWAYS,
                          &view->compute, error));
    VV_TRY(vv_device_busy(view->work, device, VV_CLASS_BIT(VV_CLASS_COMM), VV_ALWAYS, &view->all, error));
    for (size_t i = device->first; i < device->last; i++)
        if (view->work->items[i].class == VV_CLASS_COMM)
            VV_TRY(add(view, &view->work->items[i], error));
    for (uint32_t kind = 0; kind < view->kinds.count; kind++) {
        int64_t of_kind[COLUMNS] = { [COUNT] = view->calls[kind], [SUM] = view->sums_ns[kind] };
        vv_intervals_unite(&view->of_kind[kind]);
        measure(view, &view->of_kind[kind], of_kind);
        VV_TRY(put_row(view, VV_ROW_PLAIN,
                       (const char *const[]){ "collective", vv_text_of(model, view->kinds.names[kind]), name },
                       device->rank, of_kind, error));
        values[COUNT] += of_kind[COUNT];
        values[SUM] += of_kind[SUM];
    }
    measure(view, &view->all, values);
    for (size_t c = 0; c < COLUMNS; c++)
        view->totals[c] += values[c];
    return put_row(view, VV_ROW_TOTAL, (const char *const[]){ "device", "all of them", name }, device->rank, values,
                   error);
}

static enum varve_code put_devices(struct view *view, const struct vv_question *question, struct varve_error *error)
{
    const struct vv_device_work *work = view->work;
    for (size_t d = 0; d < work->device_count; d++)
        VV_TRY(put_device(view, &work->devices[d], error));
    if (work->device_count > 1)
        VV_TRY(put_row(view, VV_ROW_TOTAL, (const char *const[]){ "total", "total", "" }, -1, view->totals, error));
    if (work->count == 0)
        return vv_no_work_policy(work->scope, view->sheet, error);
    return vv_sheet_policy(view->sheet, error, "%" PRId64 " pieces of communication on %zu device%s%s; hidden while the "
                           "same device computes, exposed while it does not%s", view->totals[COUNT], work->device_count,
                           work->device_count == 1 ? "" : "s", vv_part_text(work->scope), vv_compat_text(question));
}

enum varve_code vv_analyse_overlap(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_sheet *out, struct varve_error *error)
{
    struct vv_scope scope = { 0 };
    struct vv_device_work work = { 0 };
    struct view view = { .work = &work, .sheet = out };
    vv_sheet_init(out, "overlap", "COMMUNICATION OVERLAP", overlap_columns, COLUMNS);
    enum varve_code code = vv_scope_init(&scope, model, &question->selection, error);
    if (code == VARVE_OK)
        code = vv_device_work_asked(&work, &scope, question, error);
    if (code == VARVE_OK)
        code = put_devices(&view, question, error);
    deinit(&view);
    vv_device_work_deinit(&work);
    vv_scope_deinit(&scope);
    if (code != VARVE_OK)
        vv_sheet_deinit(out);
    return code;
}
