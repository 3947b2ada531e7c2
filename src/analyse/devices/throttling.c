/* SPDX-License-Identifier: Apache-2.0 */
/* throttling.c — table "throttling": what held a device's clocks down during the chosen steps.
 *
 * A value of a counter holds until the next one of its track, the last one until the end of the
 * trace. Without steps the whole trace counts. Law: held_ns <= observed_ns, and slower_ns <=
 * held_ns. Rows of one device may overlap: several reasons hold at once. doc/metrics.md §8.4a */
#include <math.h>
#include <string.h>

#include "base/radix.h"
#include "derive/devices/one_gpu.h"
#include "derive/select/scope.h"
#include "meaning/hardware/throttle.h"
#include "numbers/intervals.h"
#include "numbers/pair_ids.h"
#include "question/question.h"

#define MEAN_MOST 1e15 /* a greater value is no clock and no power                              */

enum {
    ROW, DEVICE, RANK, CODE, REASON, HELD, SHARE, OBSERVED, SLOWER, CLOCK, GREATEST, POWER, LIMIT,
    TEMPERATURE, HELPS, COLUMNS
};

static const struct vv_sheet_column throttling_columns[COLUMNS] = {
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "code", "code", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "reason", "held down by", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "held_ns", "for", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    { "observed_ns", "of", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "slower_ns", "costs at most", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "clock_mhz", "clock MHz", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "greatest_mhz", "greatest", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "power_w", "W", VV_CELL_INT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "power_limit_w", "limit", VV_CELL_INT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "temperature_c", "°C", VV_CELL_INT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    { "helps", "helps", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

/* Counters that tell of a track: the reasons come first. */
enum {
    OF_CLOCK = VV_THROTTLE_COUNT, OF_GREATEST, OF_POWER, OF_LIMIT, OF_TEMPERATURE, KINDS
};
static const char *const names[KINDS - VV_THROTTLE_COUNT] = {
    VV_COUNTER_CLOCK, VV_COUNTER_GREATEST_CLOCK, VV_COUNTER_POWER, VV_COUNTER_POWER_LIMIT,
    VV_COUNTER_TEMPERATURE,
};

/* A value, and how long it held. */
struct held_value {
    int64_t begin_ns, end_ns;
    double value;
};
struct values { struct held_value *items; size_t count, capacity; };

struct device {
    uint32_t track, series;
    int64_t first_ns;                            /* of what holds its clocks down               */
    struct vv_intervals held[VV_THROTTLE_COUNT];
    struct values values[KINDS];                 /* of a reason the last value alone            */
};

struct view {
    struct vv_scope scope;
    struct vv_scratch *scratch;
    const struct vv_model *model;
    uint32_t kinds[KINDS];       /* strings: the counters' names, VV_NONE = not in the trace     */
    struct vv_groups groups;     /* (track, series): of each a device                            */
    struct device *devices;
    size_t count, capacity;
    struct vv_intervals steps;   /* of one scope: united                                         */
    uint32_t steps_of;
    bool has_steps, is_observed; /* some device was, in a step                                   */
    struct vv_sheet *sheet;
};

/* ---- reading the counters ---- */

static bool find_names(struct view *view)
{
    bool has_reason = false;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const char *name = kind < VV_THROTTLE_COUNT ? vv_throttle_counters[kind]
                                                    : names[kind - VV_THROTTLE_COUNT];
        view->kinds[kind] = vv_intern_find(&view->model->strings, name, strlen(name));
        has_reason |= kind < VV_THROTTLE_COUNT && view->kinds[kind] != VV_NONE;
    }
    return has_reason;
}

static unsigned kind_of(const struct view *view, uint32_t name)
{
    unsigned kind = 0;
    while (kind < KINDS && view->kinds[kind] != name)
        kind++;
    return kind;
}

static enum varve_code device_at(struct view *view, uint32_t track, uint32_t series,
                                 struct device **out, struct varve_error *error)
{
    uint32_t group;
    VV_TRY(vv_groups_add(&view->groups, track, series, &group, error));
    if (group == view->count) {
        VV_TRY(VV_SCRATCH_RESERVE(view->scratch, &view->devices, &view->capacity, view->count + 1,
                                  error));
        struct device *device = &view->devices[view->count++];
        *device = (struct device){ .track = track, .series = series, .first_ns = INT64_MAX };
        for (unsigned reason = 0; reason < VV_THROTTLE_COUNT; reason++)
            device->held[reason].scratch = view->scratch;
    }
    *out = &view->devices[group];
    return VARVE_OK;
}

/* The former value of this kind holds until now. */
static enum varve_code end_former(struct device *device, unsigned kind, int64_t now_ns,
                                  struct varve_error *error)
{
    struct values *values = &device->values[kind];
    if (values->count == 0)
        return VARVE_OK;
    struct held_value *former = &values->items[values->count - 1];
    former->end_ns = now_ns;
    if (kind < VV_THROTTLE_COUNT && former->value > 0)
        return vv_intervals_add(&device->held[kind], former->begin_ns, now_ns, error);
    return VARVE_OK;
}

static enum varve_code take(struct view *view, uint32_t row, struct varve_error *error)
{
    const struct vv_counters *counters = &view->model->counters;
    unsigned kind = kind_of(view, counters->name[row]);
    int64_t now_ns = counters->time_ns[row];
    struct device *device;
    VV_TRY(device_at(view, counters->track[row], counters->series[row], &device, error));
    VV_TRY(end_former(device, kind, now_ns, error));
    struct values *values = &device->values[kind];
    if (kind < VV_THROTTLE_COUNT) {
        device->first_ns = now_ns < device->first_ns ? now_ns : device->first_ns;
        values->count = 0;
    }
    VV_TRY(VV_SCRATCH_RESERVE(view->scratch, &values->items, &values->capacity, values->count + 1,
                              error));
    values->items[values->count++] =
        (struct held_value){ now_ns, now_ns, counters->value[row] };
    return VARVE_OK;
}

static enum varve_code read_counters(struct view *view, struct varve_error *error)
{
    const struct vv_counters *counters = &view->model->counters;
    const uint64_t turn = UINT64_C(1) << 63; /* keys in the order of signed times               */
    struct vv_keyed_row *keys;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &keys, counters->table.count, error));
    for (uint32_t row = 0; row < counters->table.count; row++)
        if (counters->track[row] != VV_NONE && isfinite(counters->value[row]) &&
            kind_of(view, counters->name[row]) < KINDS)
            keys[count++] = (struct vv_keyed_row){ (uint64_t)counters->time_ns[row] ^ turn, row };
    VV_TRY(vv_radix_sort(keys, count, error));
    for (size_t i = 0; i < count; i++)
        VV_TRY(take(view, keys[i].row, error));
    for (size_t i = 0; i < view->count; i++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            VV_TRY(end_former(&view->devices[i], kind, view->model->run.end_ns, error));
    return VARVE_OK;
}

/* ---- rows ---- */

/* The device, and the rank if one process uses it. Other formats' counters have no device: then the
 * series tells one from another. */
static enum varve_code put_name(const struct view *view, const struct device *device, size_t row,
                                struct varve_error *error)
{
    const struct vv_model *model = view->model;
    uint32_t used_as, process;
    int64_t rank = vv_scope_rank(&view->scope, device->track);
    char text[VV_GPU_TEXT_BYTES];
    if (vv_gpu_user(model, device->track, &used_as, &process) && process != VV_NONE)
        rank = view->scope.ranks[process];
    if (rank >= 0)
        vv_sheet_int(view->sheet, row, RANK, rank);
    if (model->tracks.kind[device->track] != VV_TRACK_DEVICE)
        return vv_sheet_text(view->sheet, row, DEVICE, vv_text_of(model, device->series), error);
    vv_gpu_text(model, device->track, text, sizeof text);
    return vv_sheet_text(view->sheet, row, DEVICE, text, error);
}

static uint32_t scope_of(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? model->processes.scope[process] : 0;
}

/* The time of the chosen steps in the traces of this scope; without any steps, all of it. */
static enum varve_code find_steps(struct view *view, uint32_t scope, struct varve_error *error)
{
    const struct vv_model *model = view->model;
    const struct vv_steps *steps = &model->steps;
    if (view->has_steps && view->steps_of == scope)
        return VARVE_OK;
    view->steps.scratch = view->scratch;
    view->steps.count = 0;
    view->steps_of = scope;
    view->has_steps = true;
    for (uint32_t step = 0; step < steps->table.count; step++)
        if (view->scope.steps[step] && scope_of(model, steps->track[step]) == scope)
            VV_TRY(vv_intervals_add(&view->steps, steps->begin_ns[step],
                                    steps->begin_ns[step] + steps->duration_ns[step], error));
    if (steps->table.count == 0)
        VV_TRY(vv_intervals_add(&view->steps, model->run.begin_ns, model->run.end_ns, error));
    vv_intervals_unite(&view->steps);
    return VARVE_OK;
}

/* The mean over these instants. False: nothing is known of them. */
static bool find_mean(const struct values *values, const struct vv_intervals *held,
                      double *out_mean)
{
    double sum = 0, whole_ns = 0;
    for (size_t i = 0; i < values->count; i++) {
        const struct held_value *of = &values->items[i];
        double ns = (double)vv_intervals_length_within(held, of->begin_ns, of->end_ns);
        sum += of->value * ns;
        whole_ns += ns;
    }
    *out_mean = whole_ns > 0 ? sum / whole_ns : 0;
    return whole_ns > 0 && fabs(*out_mean) < MEAN_MOST;
}

static enum varve_code put(const struct view *view, const struct device *device, unsigned reason,
                           const struct vv_intervals *held, int64_t observed_ns,
                           struct varve_error *error)
{
    static const size_t columns[KINDS] = {
        [OF_CLOCK] = CLOCK, [OF_GREATEST] = GREATEST, [OF_POWER] = POWER, [OF_LIMIT] = LIMIT,
        [OF_TEMPERATURE] = TEMPERATURE,
    };
    struct vv_sheet *sheet = view->sheet;
    double means[KINDS];
    bool is_known[KINDS];
    int64_t held_ns = vv_intervals_length(held);
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, "reason", error));
    VV_TRY(put_name(view, device, row, error));
    VV_TRY(vv_sheet_text(sheet, row, CODE, vv_throttle_code(reason), error));
    VV_TRY(vv_sheet_text(sheet, row, REASON, vv_throttle_says(reason), error));
    vv_sheet_int(sheet, row, HELD, held_ns);
    vv_sheet_int(sheet, row, OBSERVED, observed_ns);
    vv_sheet_real(sheet, row, SHARE, (double)held_ns / (double)observed_ns);
    for (unsigned kind = OF_CLOCK; kind < KINDS; kind++) {
        is_known[kind] = find_mean(&device->values[kind], held, &means[kind]);
        if (is_known[kind])
            vv_sheet_int(sheet, row, columns[kind], llround(means[kind]));
    }
    if (is_known[OF_CLOCK] && is_known[OF_GREATEST] && means[OF_GREATEST] > 0)
        vv_sheet_int(sheet, row, SLOWER,
                     llround((double)held_ns *
                             fmin(1, fmax(0, 1 - means[OF_CLOCK] / means[OF_GREATEST]))));
    return vv_sheet_text(sheet, row, HELPS, vv_throttle_helps(reason), error);
}

static enum varve_code put_device(struct view *view, struct device *device,
                                  struct varve_error *error)
{
    struct vv_intervals held = { .scratch = view->scratch };
    int64_t observed_ns = 0;
    bool has_held = false;
    for (unsigned reason = 0; reason < VV_THROTTLE_COUNT; reason++)
        has_held |= device->held[reason].count > 0;
    if (device->first_ns == INT64_MAX || (!has_held && view->is_observed))
        return VARVE_OK;
    VV_TRY(find_steps(view, scope_of(view->model, device->track), error));
    observed_ns = vv_intervals_length_within(&view->steps, device->first_ns, INT64_MAX);
    view->is_observed |= observed_ns > 0;
    for (unsigned reason = 0; reason < VV_THROTTLE_COUNT; reason++) {
        if (device->held[reason].count == 0)
            continue;
        vv_intervals_unite(&device->held[reason]);
        VV_TRY(vv_intervals_intersect(&device->held[reason], &view->steps, &held, error));
        if (held.count > 0)
            VV_TRY(put(view, device, reason, &held, observed_ns, error));
    }
    return VARVE_OK;
}

static enum varve_code state(const struct view *view, struct varve_error *error)
{
    if (view->count == 0)
        return vv_sheet_policy(view->sheet, error,
                               "not recorded: varve record --metrics throttling,clocks,power");
    if (!view->is_observed)
        return vv_sheet_policy(view->sheet, error, "no step passed while devices were observed");
    return vv_sheet_policy(view->sheet, error, "%s during %s; several reasons may hold at once",
                           view->sheet->row_count == 0 ? "nothing held clocks down"
                                                       : "what held clocks down",
                           view->model->steps.table.count == 0 ? "the run" : "the steps");
}

enum varve_code vv_analyse_throttling(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error)
{
    struct view view = { .scratch = scratch, .model = model, .sheet = out,
                         .groups = { .scratch = scratch } };
    vv_sheet_init(out, "throttling", "THROTTLING", throttling_columns, COLUMNS);
    VV_TRY(vv_scope_init(&view.scope, model, &question->selection, scratch, error));
    if (find_names(&view))
        VV_TRY(read_counters(&view, error));
    for (size_t i = 0; i < view.count; i++)
        VV_TRY(put_device(&view, &view.devices[i], error));
    return state(&view, error);
}
