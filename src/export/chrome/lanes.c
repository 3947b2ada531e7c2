/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c — process and thread numbers, and additional rows for slices that overlap.
 *
 * Perfetto drops an X event that partly overlaps another one on its row. So each slice goes to the
 * first row of its track on which it nests. A step that was found, and is no slice, goes there too;
 * if slices cross its begin or its end, it goes to a row of such steps. Recorded numbers are kept
 * if they are unique and in range; new numbers are larger than all of these. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/chrome/chrome.h"
#include "model/find.h"

/* A recorded id above this is replaced. New ids stay below 2^32. */
#define ID_MAX INT64_C(0x7fffffff)

static bool in_range(int64_t id)
{
    return id > 0 && id <= ID_MAX;
}

static int64_t largest_id(const struct vv_model *model)
{
    int64_t largest = 0;
    for (uint64_t p = 0; p < model->processes.table.count; p++) {
        if (in_range(model->processes.pid[p]) && model->processes.pid[p] > largest)
            largest = model->processes.pid[p];
    }
    for (uint64_t t = 0; t < model->tracks.table.count; t++) {
        if (in_range(model->tracks.tid[t]) && model->tracks.tid[t] > largest)
            largest = model->tracks.tid[t];
    }
    return largest;
}

static int ascending(const void *a, const void *b)
{
    const int64_t *left = a, *right = b; /* an id, and the row that wants it                    */
    if (left[0] != right[0])
        return left[0] < right[0] ? -1 : 1;
    return (left[1] > right[1]) - (left[1] < right[1]);
}

/* Sets ids[row] to the wanted id if it is in range and no earlier row has it; otherwise to a new
 * id. */
static enum varve_code make_unique(const int64_t *wanted, uint64_t count, int64_t *next_id,
                                   int64_t *ids, struct varve_error *error)
{
    int64_t(*pairs)[2] = calloc((size_t)count + 1, sizeof *pairs);
    if (pairs == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the numbers of %llu rows",
                (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        pairs[i][0] = wanted[i];
        pairs[i][1] = (int64_t)i;
    }
    qsort(pairs, (size_t)count, sizeof *pairs, ascending);
    for (uint64_t i = 0; i < count; i++) {
        bool taken = i > 0 && pairs[i][0] == pairs[i - 1][0];
        ids[pairs[i][1]] = in_range(pairs[i][0]) && !taken ? pairs[i][0] : (*next_id)++;
    }
    free(pairs);
    return VARVE_OK;
}

/* What is placed: slices by their rows, and after them steps by theirs. */
struct span {
    int64_t begin_ns, end_ns;
};

/* The lanes of one track. open[lane] is the innermost open span there. below[span] is the span
 * around it; so the open spans of all lanes share one array. */
struct nesting {
    const struct vv_model *model;
    uint32_t *open, *below;
    size_t open_capacity;
};

static struct span span_of(const struct nesting *nesting, uint32_t row)
{
    const struct vv_slices *slices = &nesting->model->slices;
    const struct vv_steps *steps = &nesting->model->steps;
    if (row < slices->table.count)
        return (struct span){ slices->begin_ns[row],
                              slices->begin_ns[row] + slices->duration_ns[row] };
    uint64_t step = row - slices->table.count;
    return (struct span){ steps->begin_ns[step], steps->begin_ns[step] + steps->duration_ns[step] };
}

static enum varve_code add_lane(struct vv_chrome_layout *layout, struct nesting *nesting,
                                uint32_t track, struct varve_error *error)
{
    uint32_t number = layout->lane_count - layout->first_lane[track];
    VV_TRY(vv_array_reserve(&layout->lanes, &layout->lane_capacity, (size_t)layout->lane_count + 1,
                            sizeof *layout->lanes, error));
    layout->lanes[layout->lane_count++] = (struct vv_chrome_lane){ track, number, 0 };
    VV_TRY(vv_array_reserve(&nesting->open, &nesting->open_capacity, (size_t)number + 1,
                            sizeof *nesting->open, error));
    nesting->open[number] = VV_NONE;
    return VARVE_OK;
}

static enum varve_code place(struct vv_chrome_layout *layout, struct nesting *nesting,
                             uint32_t track, uint32_t row, struct varve_error *error)
{
    uint32_t first = layout->first_lane[track], lane = first;
    uint64_t slices = nesting->model->slices.table.count;
    struct span span = span_of(nesting, row);
    for (; lane < layout->lane_count; lane++) {
        uint32_t top = nesting->open[lane - first];
        while (top != VV_NONE && span_of(nesting, top).end_ns <= span.begin_ns)
            top = nesting->below[top];
        nesting->open[lane - first] = top;
        if (top == VV_NONE || span_of(nesting, top).end_ns >= span.end_ns)
            break;
    }
    if (lane == layout->lane_count)
        VV_TRY(add_lane(layout, nesting, track, error));
    nesting->below[row] = nesting->open[lane - first];
    nesting->open[lane - first] = row;
    if (row < slices)
        layout->lane_of[row] = lane;
    else
        layout->lane_of_step[row - slices] = lane;
    return VARVE_OK;
}

/* ---- steps that are no slices ---- */

/* Does a slice of the step's track begin in the step and end after it, or begin before the step and
 * end in it? */
static bool is_crossed(const struct vv_model *model, uint32_t step)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t track = model->steps.track[step];
    int64_t begin_ns = model->steps.begin_ns[step],
            end_ns = begin_ns + model->steps.duration_ns[step];
    for (uint32_t row = vv_slice_at(model, track, begin_ns); row != VV_NONE;
         row = slices->parent[row])
        if (slices->begin_ns[row] < begin_ns &&
            slices->begin_ns[row] + slices->duration_ns[row] < end_ns)
            return true;
    for (uint32_t row = vv_slice_at(model, track, end_ns); row != VV_NONE;
         row = slices->parent[row])
        if (slices->begin_ns[row] > begin_ns && slices->begin_ns[row] < end_ns)
            return true;
    return false;
}

/* The next step of the track, from *step on, that is no slice; model->steps.table.count if there is
 * none. Steps stand in order of begin. */
static uint32_t next_found(const struct vv_model *model, uint32_t track, uint32_t step)
{
    const struct vv_steps *steps = &model->steps;
    while (step < steps->table.count &&
           (steps->track[step] != track || steps->slice[step] != VV_NONE))
        step++;
    return step;
}

/* Steps that slices cross share a row of their own. */
static enum varve_code place_crossed(struct vv_chrome_layout *layout, struct nesting *nesting,
                                     uint32_t track, struct varve_error *error)
{
    const struct vv_model *model = nesting->model;
    uint32_t lane = VV_NONE;
    for (uint32_t step = next_found(model, track, 0); step < model->steps.table.count;
         step = next_found(model, track, step + 1)) {
        if (layout->lane_of_step[step] != VV_NONE)
            continue;
        if (lane == VV_NONE) {
            lane = layout->lane_count;
            VV_TRY(add_lane(layout, nesting, track, error));
        }
        layout->lane_of_step[step] = lane;
    }
    return VARVE_OK;
}

/* Places a track's slices, from `row` on, and its steps that no slice crosses. */
static enum varve_code place_track(struct vv_chrome_layout *layout, struct nesting *nesting,
                                   uint32_t track, uint32_t *row, struct varve_error *error)
{
    const struct vv_model *model = nesting->model;
    const uint32_t slices = (uint32_t)model->slices.table.count,
                   steps = (uint32_t)model->steps.table.count;
    uint32_t step = next_found(model, track, 0);
    for (;;) {
        bool is_slice = *row < slices && model->slices.track[*row] == track;
        if (!is_slice && step == steps)
            return place_crossed(layout, nesting, track, error);
        struct span next = is_slice ? span_of(nesting, *row) : (struct span){ INT64_MAX, 0 };
        struct span found = step < steps ? span_of(nesting, slices + step)
                                         : (struct span){ INT64_MAX, 0 };
        bool is_step = !is_slice || found.begin_ns < next.begin_ns ||
                       (found.begin_ns == next.begin_ns && found.end_ns >= next.end_ns);
        if (step < steps && is_step) {
            if (!is_crossed(model, step))
                VV_TRY(place(layout, nesting, track, slices + step, error));
            step = next_found(model, track, step + 1);
        } else {
            VV_TRY(place(layout, nesting, track, (*row)++, error));
        }
    }
}

/* Every track gets its own row, even without slices, because marks and counters need it. */
static enum varve_code lay_out_tracks(struct vv_chrome_layout *layout, const struct vv_model *model,
                                      struct nesting *nesting, struct varve_error *error)
{
    uint32_t row = 0;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        layout->first_lane[track] = layout->lane_count;
        VV_TRY(add_lane(layout, nesting, track, error));
        VV_TRY(place_track(layout, nesting, track, &row, error));
    }
    return VARVE_OK;
}

/* A track's own row keeps its tid; lanes of asynchronous ranges and additional rows get new
 * numbers. */
static enum varve_code number_lanes(struct vv_chrome_layout *layout, const struct vv_model *model,
                                    struct varve_error *error)
{
    int64_t next_id = largest_id(model) + 1;
    size_t lanes = layout->lane_count;
    int64_t *wanted = calloc(2 * lanes + 1, sizeof *wanted);
    if (wanted == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the numbers of %zu rows", lanes);
    for (size_t i = 0; i < lanes; i++) {
        uint32_t track = layout->lanes[i].track;
        if (layout->lanes[i].number == 0 && model->tracks.kind[track] != VV_TRACK_ASYNC)
            wanted[i] = model->tracks.tid[track];
    }
    enum varve_code code = make_unique(model->processes.pid, model->processes.table.count, &next_id,
                                       layout->pids, error);
    if (code == VARVE_OK)
        code = make_unique(wanted, lanes, &next_id, wanted + lanes, error);
    for (size_t i = 0; i < lanes && code == VARVE_OK; i++)
        layout->lanes[i].tid = wanted[lanes + i];
    free(wanted);
    return code;
}

static void least_of(const int64_t *times_ns, uint64_t count, int64_t *least_ns)
{
    for (uint64_t i = 0; i < count; i++)
        *least_ns = times_ns[i] < *least_ns ? times_ns[i] : *least_ns;
}

static int64_t base_of(const struct vv_model *model)
{
    int64_t least_ns = INT64_MAX;
    least_of(model->slices.begin_ns, model->slices.table.count, &least_ns);
    least_of(model->marks.time_ns, model->marks.table.count, &least_ns);
    least_of(model->counters.time_ns, model->counters.table.count, &least_ns);
    least_of(model->memory.time_ns, model->memory.table.count, &least_ns);
    least_of(model->steps.begin_ns, model->steps.table.count, &least_ns);
    if (least_ns == INT64_MAX)
        least_ns = model->run.begin_ns;
    int64_t rest_ns = least_ns % 1000000000;
    int64_t base_ns = least_ns - rest_ns;
    if (rest_ns < 0 && __builtin_sub_overflow(base_ns, 1000000000, &base_ns))
        return INT64_MIN;
    return base_ns;
}

static void find_steps(const struct vv_model *model, uint32_t *step_of)
{
    for (uint64_t row = 0; row < model->slices.table.count; row++)
        step_of[row] = VV_NONE;
    for (uint32_t step = 0; step < model->steps.table.count; step++) {
        if (model->steps.slice[step] != VV_NONE)
            step_of[model->steps.slice[step]] = step;
    }
}

enum varve_code vv_chrome_layout_init(struct vv_chrome_layout *layout, const struct vv_model *model,
                                      struct varve_error *error)
{
    size_t slices = (size_t)model->slices.table.count + 1,
           steps = (size_t)model->steps.table.count + 1;
    struct nesting nesting = { .model = model,
                               .below = malloc((slices + steps) * sizeof(uint32_t)) };
    *layout = (struct vv_chrome_layout){
        .pids = calloc((size_t)model->processes.table.count + 1, sizeof *layout->pids),
        .first_lane = calloc((size_t)model->tracks.table.count + 1, sizeof *layout->first_lane),
        .lane_of = malloc(slices * sizeof *layout->lane_of),
        .step_of = malloc(slices * sizeof *layout->step_of),
        .lane_of_step = malloc(steps * sizeof *layout->lane_of_step),
        .base_ns = base_of(model),
    };
    enum varve_code code = VARVE_OK;
    if (nesting.below == NULL || layout->pids == NULL || layout->first_lane == NULL ||
        layout->lane_of == NULL || layout->step_of == NULL || layout->lane_of_step == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to lay out %zu slices", slices - 1);
    if (code == VARVE_OK) {
        find_steps(model, layout->step_of);
        memset(layout->lane_of_step, 0xff, steps * sizeof *layout->lane_of_step); /* VV_NONE */
        code = lay_out_tracks(layout, model, &nesting, error);
    }
    if (code == VARVE_OK)
        code = number_lanes(layout, model, error);
    free(nesting.below);
    free(nesting.open);
    return code;
}

void vv_chrome_layout_deinit(struct vv_chrome_layout *layout)
{
    free(layout->pids);
    free(layout->first_lane);
    free(layout->lanes);
    free(layout->lane_of);
    free(layout->step_of);
    free(layout->lane_of_step);
    *layout = (struct vv_chrome_layout){ 0 };
}
