/* SPDX-License-Identifier: Apache-2.0 */
/* flows.c — table "flows": arrows by name and category, with the time between their two ends.
 *
 * Rows in order: the most arrows first, "N more: --top 0", "total". Law: column "flows" of the rows
 * sums to that of "total"; with every step and thread this is "flows" of table "trace".
 * doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/events/instants.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"
#include "question/question.h"

enum { ROW, FLOWS, MEDIAN, LONGEST, LONGEST_AT, BACKWARDS, ACROSS, CATEGORY, NAME, COLUMNS };

static const struct vv_sheet_column flow_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "flows", "flows", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "longest_ns", "longest", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "longest_at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "backwards", "backwards", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "across", "across", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    { "category", "category", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "name", "flow", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct kind {
    uint32_t name, category;
    int64_t median_ns, longest_ns, longest_at_ns;
    uint64_t flows, backwards, across;
};

struct view {
    struct vv_instants instants;
    const struct vv_model *model;
    struct vv_groups all;      /* (name, category)                                              */
    struct kind *kinds;        /* by group, until they are sorted                               */
    size_t capacity;
    struct vv_samples between; /* times between the ends, by group                              */
    struct vv_sheet *sheet;
};

/* ---- arrows ---- */

/* Between the earliest and the latest instant of int64 lies more than int64 holds. */
static int64_t time_between(int64_t from_ns, int64_t to_ns)
{
    int64_t between;
    bool is_beyond = from_ns <= to_ns ? __builtin_sub_overflow(to_ns, from_ns, &between)
                                      : __builtin_sub_overflow(from_ns, to_ns, &between);
    return is_beyond ? INT64_MAX : between;
}

/* A producer may number its arrows in their names: if the name is the category and a number, the
 * category stands for it. */
static uint32_t name_of(const struct view *view, uint32_t flow)
{
    uint32_t name = view->model->flows.name[flow], category = view->model->flows.category[flow];
    const char *text = vv_text_of(view->model, name), *word = vv_text_of(view->model, category);
    size_t length = strlen(word);
    if (length == 0 || name == category || strncmp(text, word, length) != 0)
        return name;
    return text[length + strspn(text + length, "0123456789")] == '\0' ? category : name;
}

static enum varve_code add(struct view *view, uint32_t flow, struct varve_error *error)
{
    const struct vv_flows *flows = &view->model->flows;
    int64_t from_ns = flows->from_ns[flow], to_ns = flows->to_ns[flow],
            between_ns = time_between(from_ns, to_ns), at_ns = from_ns - view->model->run.begin_ns;
    uint32_t group, known = view->all.count, name = name_of(view, flow);
    VV_TRY(vv_groups_add(&view->all, name, flows->category[flow], &group, error));
    VV_TRY(VV_SCRATCH_RESERVE(view->instants.scope.scratch, &view->kinds, &view->capacity,
                              view->all.count, error));
    struct kind *kind = &view->kinds[group];
    if (group == known)
        *kind = (struct kind){ name, flows->category[flow], 0, -1, 0, 0, 0, 0 };
    if (between_ns > kind->longest_ns ||
        (between_ns == kind->longest_ns && at_ns < kind->longest_at_ns)) {
        kind->longest_ns = between_ns;
        kind->longest_at_ns = at_ns;
    }
    kind->flows++;
    kind->backwards += to_ns < from_ns;
    kind->across += flows->from_track[flow] != flows->to_track[flow];
    return vv_samples_add(&view->between, group, between_ns, error);
}

static enum varve_code find_flows(struct view *view, struct varve_error *error)
{
    const struct vv_flows *flows = &view->model->flows;
    for (uint32_t flow = 0; flow < flows->table.count; flow++) {
        uint32_t step;
        if (vv_instant_counts(&view->instants, flows->from_track[flow], flows->from_ns[flow],
                              &step))
            VV_TRY(add(view, flow, error));
    }
    return vv_samples_sort(&view->between, view->all.count, error);
}

/* ---- rows ---- */

static int by_count(const void *a, const void *b, void *context)
{
    const struct kind *left = a, *right = b;
    const struct vv_model *model = context;
    if (left->flows != right->flows)
        return left->flows > right->flows ? -1 : 1;
    int difference = strcmp(vv_text_of(model, left->name), vv_text_of(model, right->name));
    return difference != 0
               ? difference
               : strcmp(vv_text_of(model, left->category), vv_text_of(model, right->category));
}

static enum varve_code put_sums(struct view *view, enum vv_row_kind row_kind, const char *name,
                                const struct kind *kind, size_t *out_row,
                                struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    VV_TRY(vv_sheet_row(sheet, row_kind, out_row, error));
    vv_sheet_int(sheet, *out_row, FLOWS, (int64_t)kind->flows);
    vv_sheet_int(sheet, *out_row, BACKWARDS, (int64_t)kind->backwards);
    vv_sheet_int(sheet, *out_row, ACROSS, (int64_t)kind->across);
    VV_TRY(vv_sheet_text(sheet, *out_row, ROW,
                         row_kind == VV_ROW_PLAIN   ? "flow"
                         : row_kind == VV_ROW_TOTAL ? "total"
                                                    : "more",
                         error));
    return vv_sheet_text(sheet, *out_row, NAME, name, error);
}

static enum varve_code put_kind(struct view *view, const struct kind *kind,
                                struct varve_error *error)
{
    struct vv_sheet *sheet = view->sheet;
    size_t row;
    VV_TRY(put_sums(view, VV_ROW_PLAIN, vv_text_of(view->model, kind->name), kind, &row,
                    error));
    vv_sheet_int(sheet, row, MEDIAN, kind->median_ns);
    vv_sheet_int(sheet, row, LONGEST, kind->longest_ns);
    vv_sheet_int(sheet, row, LONGEST_AT, kind->longest_at_ns);
    return kind->category == 0 ? VARVE_OK
                               : vv_sheet_text(sheet, row, CATEGORY,
                                               vv_text_of(view->model, kind->category), error);
}

static void add_kind(struct kind *sum, const struct kind *kind)
{
    sum->flows += kind->flows;
    sum->backwards += kind->backwards;
    sum->across += kind->across;
}

static enum varve_code put_rows(struct view *view, int64_t wanted, struct varve_error *error)
{
    uint32_t count = view->all.count,
             top = wanted > 0 && wanted < count ? (uint32_t)wanted : count;
    struct kind rest = { 0 }, total = { 0 };
    char name[60];
    size_t row;
    for (uint32_t group = 0; group < count; group++)
        view->kinds[group].median_ns = vv_samples_percentile(&view->between, group, 50);
    qsort_r(view->kinds, count, sizeof *view->kinds, by_count, (void *)view->model);
    for (uint32_t i = 0; i < count; i++) {
        add_kind(&total, &view->kinds[i]);
        if (i < top)
            VV_TRY(put_kind(view, &view->kinds[i], error));
        else
            add_kind(&rest, &view->kinds[i]);
    }
    snprintf(name, sizeof name, "%" PRIu32 " more: --top 0", count - top);
    if (top < count)
        VV_TRY(put_sums(view, VV_ROW_REMAINDER, name, &rest, &row, error));
    VV_TRY(put_sums(view, VV_ROW_TOTAL, "total", &total, &row, error));
    return vv_sheet_policy(view->sheet, error,
                           "%" PRIu64 " flow%s; times are between their two ends; each is where "
                           "it begins; warm-up steps count",
                           total.flows, total.flows == 1 ? "" : "s");
}

enum varve_code vv_analyse_flows(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct view view = { .model = model, .all = { .scratch = scratch },
                         .between = { .scratch = scratch }, .sheet = out };
    vv_sheet_init(out, "flows", "FLOWS", flow_columns, COLUMNS);
    VV_TRY(vv_instants_init(&view.instants, model, &question->selection, scratch, error));
    VV_TRY(find_flows(&view, error));
    if (view.all.count == 0)
        return vv_sheet_policy(out, error, "no flows %s",
                               model->flows.table.count == 0 ? "recorded" : "here");
    return put_rows(&view, question->top, error);
}
