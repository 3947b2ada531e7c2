/* SPDX-License-Identifier: Apache-2.0 */
/* outliers.c — table "outliers": slices whose duration is far from that of others with the same
 * name, shapes and device, each with a cause: other work beside it, a slice inside it, or the
 * clock. doc/metrics.md §16.
 *
 * Law: the excess of the rows and of the remainder sums to the total's. */
#include <stdio.h>
#include <stdlib.h>

#include "derive/devices/device_work.h"
#include "derive/operators/step_summary.h"
#include "derive/select/track_order.h"
#include "meaning/hardware/frequency.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"
#include "numbers/spread.h"
#include "question/question.h"
#include "sheet/number.h"

#define GROUP_LEAST 5u        /* a smaller group does not show which duration is usual */
#define STEP_SHARE 1000       /* an excess below 1 / STEP_SHARE of a step gets no row */

enum {
    NAME, SHAPES, WHERE, STEP, AT, DURATION, MEDIAN, MAD, EXCESS, GROUP_SIZE, FREQUENCY,
    MEDIAN_FREQUENCY, CAUSE_NS,
    CAUSE_KIND, CAUSE, ROW, COLUMNS
};

static const struct vv_sheet_column outlier_columns[COLUMNS] = {
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "shapes", "shapes", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "track", "on", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "step", "step", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "duration_ns", "took", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "deviation_ns", "MAD", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "excess_ns", "excess", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "calls", "of", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "frequency", "clock", VV_CELL_REAL, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "median_frequency", "usual clock", VV_CELL_REAL, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "cause_ns", "meanwhile", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    { "cause_kind", "kind", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "cause", "likely why", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

struct event {
    uint32_t slice;
    uint32_t kind;   /* group of (name, shapes)                                                 */
    uint32_t group;  /* group of (kind, device)                                                 */
};

struct outlier {
    uint32_t slice, group;
    struct vv_spread spread;
    uint32_t cause;   /* slice that ran beside or inside it; VV_NONE                            */
    int64_t cause_ns; /* time that the cause and this slice share                               */
    uint32_t clock;   /* string: the counter of a frequency that differed; 0 = none known       */
    double frequency, median_frequency;
    int64_t clock_ns; /* the part of the excess that the slice would not have at the median
                         frequency */
};

struct view {
    const struct vv_model *model;
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_groups kinds, groups;
    struct event *events;
    size_t event_count, event_capacity;
    int64_t least_ns;         /* a smaller excess is no outlier                                  */
    struct outlier *outliers; /* sorted by slice                                                 */
    size_t outlier_count, outlier_capacity;
    uint32_t *sizes;          /* group -> number of slices                                      */
};

/* ---- groups of slices that are compared ---- */

static enum varve_code add_event(struct view *view, uint32_t slice, uint32_t caller,
                                 uint32_t device, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    uint32_t op = caller != VV_NONE ? model->slices.op[caller] : VV_NONE;
    struct event event = { .slice = slice };
    VV_TRY(vv_groups_add(&view->kinds, model->slices.name[slice],
                         op != VV_NONE ? model->ops.shapes[op] : 0, &event.kind, error));
    VV_TRY(vv_groups_add(&view->groups, event.kind, device, &event.group, error));
    if (view->event_count == view->event_capacity)
        VV_TRY(VV_SCRATCH_RESERVE(view->scope.scratch, &view->events, &view->event_capacity,
                                  view->event_count + 1, error));
    view->events[view->event_count++] = event;
    return VARVE_OK;
}

static enum varve_code add_device_work(struct view *view, struct varve_error *error)
{
    const struct vv_activities *activities = &view->model->activities;
    for (size_t d = 0; d < view->work.device_count; d++)
        for (size_t i = view->work.devices[d].first; i < view->work.devices[d].last; i++) {
            uint32_t activity = view->work.items[i].activity;
            VV_TRY(add_event(view, activities->slice[activity], activities->caller[activity],
                             (uint32_t)d, error));
        }
    return VARVE_OK;
}

/* All of the host counts as one device. */
static enum varve_code add_operators(struct view *view, struct varve_error *error)
{
    const struct vv_slices *slices = &view->model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t step = slices->step[row];
        if (slices->track[row] >= view->model->tracks.table.count ||
            !view->scope.tracks[slices->track[row]] ||
            (slices->layer[row] & (VARVE_LAYER_OP | VARVE_LAYER_COMM)) == 0 ||
            !vv_is_operator(view->model, row) || !vv_scope_holds(&view->scope, row) ||
            !vv_step_counts(&view->scope, step))
            continue;
        VV_TRY(add_event(view, row, row, VV_NONE, error));
    }
    return VARVE_OK;
}

/* ---- outliers ---- */

/* Sorts the slices by group, so that the slices of a group follow each other. */
static void sort_events(const struct view *view, uint32_t *starts, uint32_t *slices)
{
    for (size_t i = 0; i < view->event_count; i++)
        starts[view->events[i].group + 1]++;
    for (uint32_t g = 0; g < view->groups.count; g++) {
        view->sizes[g] = starts[g + 1];
        starts[g + 1] += starts[g];
    }
    for (size_t i = 0; i < view->event_count; i++) /* starts[g] becomes the end of group g */
        slices[starts[view->events[i].group]++] = view->events[i].slice;
}

static int64_t distance(int64_t duration_ns, const struct vv_spread *spread)
{
    return duration_ns > spread->median ? duration_ns - spread->median
                                        : spread->median - duration_ns;
}

static enum varve_code compare_group(struct view *view, uint32_t group, const uint32_t *slices,
                                     int64_t *values, struct varve_error *error)
{
    uint32_t count = view->sizes[group];
    if (count < GROUP_LEAST)
        return VARVE_OK;
    for (uint32_t i = 0; i < count; i++)
        values[i] = view->model->slices.duration_ns[slices[i]];
    struct vv_spread spread = vv_spread_of(values, count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t duration_ns = view->model->slices.duration_ns[slices[i]];
        if (!vv_is_outlier(duration_ns, &spread) ||
            distance(duration_ns, &spread) <= view->least_ns)
            continue;
        if (view->outlier_count == view->outlier_capacity)
            VV_TRY(VV_SCRATCH_RESERVE(view->scope.scratch, &view->outliers, &view->outlier_capacity,
                                      view->outlier_count + 1, error));
        view->outliers[view->outlier_count++] = (struct outlier){
            .slice = slices[i], .group = group, .spread = spread, .cause = VV_NONE
        };
    }
    return VARVE_OK;
}

static enum varve_code find_outliers(struct view *view, struct varve_error *error)
{
    struct vv_scratch *scratch = view->scope.scratch;
    uint32_t groups = view->groups.count, *starts, *slices;
    int64_t *values;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &view->sizes, groups, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &starts, (size_t)groups + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &slices, view->event_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &values, view->event_count, error));
    sort_events(view, starts, slices);
    for (uint32_t g = 0; g < groups; g++)
        VV_TRY(compare_group(view, g, slices + starts[g] - view->sizes[g], values, error));
    vv_scratch_release(scratch, slices);
    vv_scratch_release(scratch, values);
    return VARVE_OK;
}

/* ---- causes: beside or inside ---- */

static int compare_slices(const void *a, const void *b)
{
    uint32_t left = ((const struct outlier *)a)->slice, right = ((const struct outlier *)b)->slice;
    return (left > right) - (left < right);
}

static struct outlier *outlier_of(const struct view *view, uint32_t slice)
{
    const struct outlier key = { .slice = slice };
    return view->outlier_count == 0
               ? NULL
               : bsearch(&key, view->outliers, view->outlier_count, sizeof key, compare_slices);
}

static void note_running(struct outlier *outlier, uint32_t slice, int64_t common_ns)
{
    if (common_ns > outlier->cause_ns) {
        outlier->cause = slice;
        outlier->cause_ns = common_ns;
    }
}

struct running {
    uint32_t slice, track;
    int64_t end_ns;
    struct outlier *outlier; /* NULL: not an outlier                                            */
};

/* Passes over one device's work in order. `running` holds the work that has begun and not ended. */
static enum varve_code watch_device(struct view *view, const struct vv_device *device,
                                    struct running **running, size_t *capacity,
                                    struct varve_error *error)
{
    const struct vv_slices *slices = &view->model->slices;
    size_t count = 0;
    for (size_t i = device->first; i < device->last; i++) {
        const struct vv_work_item *item = &view->work.items[i];
        uint32_t slice = view->model->activities.slice[item->activity];
        struct running own = { slice, slices->track[slice], item->end_ns, outlier_of(view, slice) };
        size_t kept = 0;
        for (size_t r = 0; r < count; r++) {
            struct running *other = &(*running)[r];
            if (other->end_ns <= item->begin_ns)
                continue;
            int64_t end_ns = other->end_ns < own.end_ns ? other->end_ns : own.end_ns;
            if (other->track != own.track && own.outlier != NULL)
                note_running(own.outlier, other->slice, end_ns - item->begin_ns);
            if (other->track != own.track && other->outlier != NULL)
                note_running(other->outlier, slice, end_ns - item->begin_ns);
            (*running)[kept++] = *other;
        }
        count = kept;
        if (count == *capacity)
            VV_TRY(VV_SCRATCH_RESERVE(view->scope.scratch, running, capacity, count + 1, error));
        (*running)[count++] = own;
    }
    return VARVE_OK;
}

/* On the host the cause is the longest slice directly inside the outlier. */
static void watch_host(struct view *view)
{
    const struct vv_slices *slices = &view->model->slices;
    for (uint32_t row = 0; row < slices->table.count && view->outlier_count > 0; row++) {
        struct outlier *outlier =
            slices->parent[row] == VV_NONE ? NULL : outlier_of(view, slices->parent[row]);
        if (outlier != NULL)
            note_running(outlier, row, slices->duration_ns[row]);
    }
}

static enum varve_code find_causes(struct view *view, struct varve_error *error)
{
    struct running *running = NULL;
    size_t capacity = 0;
    if (view->outlier_count > 0)
        qsort(view->outliers, view->outlier_count, sizeof *view->outliers, compare_slices);
    for (size_t d = 0; d < view->work.device_count; d++)
        VV_TRY(watch_device(view, &view->work.devices[d], &running, &capacity, error));
    watch_host(view);
    return VARVE_OK;
}

/* ---- causes: the clock ---- */

static int64_t excess_of(const struct view *view, const struct outlier *outlier)
{
    return view->model->slices.duration_ns[outlier->slice] - outlier->spread.median;
}

/* Frequencies are compared as whole millionths of the counter's unit. */
#define FREQUENCY_SCALE 1e6

/* Time is assumed to be inverse to frequency. Of several clocks, the one that explains most
 * counts. */
static void note_frequency(struct view *view, const struct vv_frequency_source *source,
                           double frequency, double median, struct outlier *outlier)
{
    int64_t duration_ns = view->model->slices.duration_ns[outlier->slice];
    int64_t clock_ns = (int64_t)((double)duration_ns * (1 - frequency / median));
    bool is_more =
        excess_of(view, outlier) > 0 ? clock_ns > outlier->clock_ns : clock_ns < outlier->clock_ns;
    if (outlier->clock != 0 && !is_more)
        return;
    outlier->clock = source->name;
    outlier->clock_ns = clock_ns;
    outlier->frequency = frequency;
    outlier->median_frequency = median;
}

/* Compares each outlier's frequency with the median of its group. */
static enum varve_code compare_frequencies(struct view *view,
                                           const struct vv_frequencies *frequencies, size_t source,
                                           const bool *has_outlier, struct vv_samples *samples,
                                           struct varve_error *error)
{
    for (size_t i = 0; i < view->event_count; i++) {
        const struct event *event = &view->events[i];
        if (!has_outlier[event->group] || !vv_frequency_is_of(frequencies, source, event->slice))
            continue;
        double frequency = vv_frequency_during(frequencies, source, event->slice);
        if (frequency >= 0 && frequency * FREQUENCY_SCALE < 9e18)
            VV_TRY(vv_samples_add(samples, event->group, (int64_t)(frequency * FREQUENCY_SCALE),
                                  error));
    }
    VV_TRY(vv_samples_sort(samples, view->groups.count, error));
    for (size_t i = 0; i < view->outlier_count; i++) {
        struct outlier *outlier = &view->outliers[i];
        if (vv_samples_size(samples, outlier->group) < GROUP_LEAST ||
            !vv_frequency_is_of(frequencies, source, outlier->slice))
            continue;
        double median =
            (double)vv_samples_percentile(samples, outlier->group, 50) / FREQUENCY_SCALE;
        double frequency = vv_frequency_during(frequencies, source, outlier->slice);
        if (frequency >= 0 && median > 0)
            note_frequency(view, &frequencies->sources[source], frequency, median, outlier);
    }
    return VARVE_OK;
}

static enum varve_code find_frequencies(struct view *view, struct varve_error *error)
{
    struct vv_scratch *scratch = view->scope.scratch, of_source = { 0 };
    struct vv_frequencies frequencies;
    enum varve_code code = VARVE_OK;
    bool *has_outlier;
    if (view->outlier_count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &has_outlier, view->groups.count, error));
    for (size_t i = 0; i < view->outlier_count; i++)
        has_outlier[view->outliers[i].group] = true;
    VV_TRY(vv_frequencies_init(&frequencies, view->model, scratch, error));
    for (size_t s = 0; s < frequencies.source_count && code == VARVE_OK; s++) {
        struct vv_samples samples = { .scratch = &of_source };
        code = compare_frequencies(view, &frequencies, s, has_outlier, &samples, error);
        vv_scratch_deinit(&of_source);
    }
    return code;
}

/* The clock is the cause if it explains half of the excess or more. */
static bool is_by_clock(const struct view *view, const struct outlier *outlier)
{
    int64_t excess_ns = excess_of(view, outlier);
    return outlier->clock != 0 && (excess_ns > 0 ? outlier->clock_ns >= excess_ns - excess_ns / 2
                                                 : outlier->clock_ns <= excess_ns - excess_ns / 2);
}

/* ---- rows ---- */

struct place {
    int64_t size;
    size_t outlier;
};

static int compare_sizes(const void *a, const void *b, void *context)
{
    const struct view *view = context;
    const struct place *left = a, *right = b;
    const struct vv_slices *slices = &view->model->slices;
    if (left->size != right->size)
        return left->size > right->size ? -1 : 1;
    uint32_t of_left = view->outliers[left->outlier].slice,
             of_right = view->outliers[right->outlier].slice;
    if (slices->track[of_left] != slices->track[of_right])
        return vv_track_compare(view->model, slices->track[of_left], slices->track[of_right]);
    return (of_left > of_right) - (of_left < of_right);
}

static enum varve_code put_outlier(const struct view *view, const struct outlier *outlier,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    uint32_t slice = outlier->slice, track = model->slices.track[slice];
    uint32_t shapes = view->kinds.extras[view->groups.names[outlier->group]];
    bool is_host = model->tracks.kind[track] == VV_TRACK_THREAD;
    uint32_t activity = model->slices.activity[slice];
    uint32_t launch = is_host || activity == VV_NONE ? slice : model->activities.launch[activity];
    uint32_t step = launch == VV_NONE ? VV_NONE : model->slices.step[launch];
    char where[120];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, vv_text_of(model, model->slices.name[slice]), error));
    if (shapes != 0)
        VV_TRY(vv_sheet_text(sheet, row, SHAPES, vv_text_of(model, shapes), error));
    vv_track_text(model, track, where, sizeof where);
    VV_TRY(vv_sheet_text(sheet, row, WHERE, where, error));
    if (step != VV_NONE)
        vv_sheet_int(sheet, row, STEP, model->steps.index[step]);
    vv_sheet_int(sheet, row, AT, model->slices.begin_ns[slice] - model->run.begin_ns);
    vv_sheet_int(sheet, row, DURATION, model->slices.duration_ns[slice]);
    vv_sheet_int(sheet, row, MEDIAN, outlier->spread.median);
    vv_sheet_int(sheet, row, MAD, outlier->spread.mad);
    vv_sheet_int(sheet, row, EXCESS, excess_of(view, outlier));
    vv_sheet_int(sheet, row, GROUP_SIZE, view->sizes[outlier->group]);
    if (outlier->clock != 0) {
        vv_sheet_real(sheet, row, FREQUENCY, outlier->frequency);
        vv_sheet_real(sheet, row, MEDIAN_FREQUENCY, outlier->median_frequency);
    }
    if (is_by_clock(view, outlier)) {
        vv_sheet_int(sheet, row, CAUSE_NS, outlier->clock_ns);
        VV_TRY(vv_sheet_text(sheet, row, CAUSE_KIND, "frequency", error));
        VV_TRY(vv_sheet_text(sheet, row, CAUSE, vv_text_of(model, outlier->clock), error));
    } else if (outlier->cause != VV_NONE) {
        vv_sheet_int(sheet, row, CAUSE_NS, outlier->cause_ns);
        VV_TRY(vv_sheet_text(sheet, row, CAUSE_KIND, is_host ? "inside" : "beside", error));
        VV_TRY(vv_sheet_text(sheet, row, CAUSE,
                             vv_text_of(model, model->slices.name[outlier->cause]), error));
    }
    return vv_sheet_text(sheet, row, ROW, "outlier", error);
}

static enum varve_code put_sum(struct vv_sheet *sheet, enum vv_row_kind kind, const char *word,
                               const char *name, int64_t excess_ns, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, kind, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, NAME, name, error));
    vv_sheet_int(sheet, row, EXCESS, excess_ns);
    return vv_sheet_text(sheet, row, ROW, word, error);
}

static enum varve_code put_outliers(const struct view *view, int64_t top, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    struct place *order;
    VV_TRY(VV_SCRATCH_ARRAY(view->scope.scratch, &order, view->outlier_count, error));
    size_t shown = top > 0 && (size_t)top < view->outlier_count ? (size_t)top : view->outlier_count;
    int64_t total_ns = 0, shown_ns = 0;
    char more[60];
    for (size_t i = 0; i < view->outlier_count; i++) {
        int64_t excess_ns = excess_of(view, &view->outliers[i]);
        order[i] = (struct place){ excess_ns < 0 ? -excess_ns : excess_ns, i };
        total_ns += excess_ns;
    }
    if (view->outlier_count > 0)
        qsort_r(order, view->outlier_count, sizeof *order, compare_sizes, (void *)view);
    for (size_t i = 0; i < shown; i++) {
        shown_ns += excess_of(view, &view->outliers[order[i].outlier]);
        VV_TRY(put_outlier(view, &view->outliers[order[i].outlier], sheet, error));
    }
    snprintf(more, sizeof more, "%zu more: --top 0", view->outlier_count - shown);
    if (shown < view->outlier_count)
        VV_TRY(put_sum(sheet, VV_ROW_REMAINDER, "more", more, total_ns - shown_ns, error));
    if (view->outlier_count > 0)
        VV_TRY(put_sum(sheet, VV_ROW_TOTAL, "total", "total", total_ns, error));
    return VARVE_OK;
}

static enum varve_code state_policy(const struct view *view, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    char least[VV_NUMBER_BYTES];
    size_t compared = 0;
    for (uint32_t g = 0; g < view->groups.count; g++)
        compared += view->sizes[g] >= GROUP_LEAST ? view->sizes[g] : 0;
    vv_number_duration(view->least_ns > VV_OUTLIER_LEAST_NS ? view->least_ns : VV_OUTLIER_LEAST_NS,
                       least, sizeof least);
    if (view->event_count == 0)
        return vv_sheet_policy(sheet, error, "no operators and no device work to compare");
    return vv_sheet_policy(
        sheet, error,
        "%zu of %zu operators, kernels, copies and sets that have %u or more "
        "of the same name, shapes and device: further from their median than 3.5 scaled MAD and %s",
        view->outlier_count, compared, GROUP_LEAST, least);
}

static enum varve_code set_threshold(struct view *view, struct varve_error *error)
{
    struct vv_step_summary summary;
    VV_TRY(vv_step_summary(&view->scope, &summary, error));
    int64_t whole_ns =
        summary.count > 0 ? summary.median_ns : view->model->run.end_ns - view->model->run.begin_ns;
    view->least_ns = whole_ns / STEP_SHARE;
    return VARVE_OK;
}

enum varve_code vv_analyse_outliers(const struct vv_model *model,
                                    const struct vv_question *question, struct vv_scratch *scratch,
                                    struct vv_sheet *out, struct varve_error *error)
{
    struct view view = { .model = model, .kinds = { .scratch = scratch },
                         .groups = { .scratch = scratch } };
    vv_sheet_init(out, "outliers", "OUTLIERS", outlier_columns, COLUMNS);
    VV_TRY(vv_scope_init(&view.scope, model, &question->selection, scratch, error));
    VV_TRY(vv_device_work_init(&view.work, &view.scope, question->selection.device, error));
    VV_TRY(set_threshold(&view, error));
    VV_TRY(add_device_work(&view, error));
    VV_TRY(add_operators(&view, error));
    VV_TRY(find_outliers(&view, error));
    VV_TRY(find_causes(&view, error));
    VV_TRY(find_frequencies(&view, error));
    VV_TRY(put_outliers(&view, question->top, out, error));
    VV_TRY(state_policy(&view, out, error));
    return vv_sheet_hide_unknown(out, FREQUENCY, CAUSE_NS, error);
}
