/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c — process and thread numbers, and additional rows for slices that overlap.
 *
 * Perfetto drops an X event that partly overlaps another one on its row. So each slice goes to the
 * first row of its track on which it nests. Recorded numbers are kept if they are unique and in
 * range; new numbers are larger than all of these. */
#include <stdlib.h>

#include "base/array.h"
#include "export/chrome/chrome.h"

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

/* The lanes of one track. open[lane] is the innermost open slice there. below[slice] is the slice
 * around it; so the open slices of all lanes share one array. */
struct nesting {
    const struct vv_slices *slices;
    uint32_t *open, *below;
    size_t open_capacity;
};

static enum varve_code place(struct vv_chrome_layout *layout, struct nesting *nesting, uint32_t row,
                             struct varve_error *error)
{
    const struct vv_slices *slices = nesting->slices;
    uint32_t track = slices->track[row], first = layout->first_lane[track], lane = first;
    int64_t begin_ns = slices->begin_ns[row], end_ns = begin_ns + slices->duration_ns[row];
    for (; lane < layout->lane_count; lane++) {
        uint32_t top = nesting->open[lane - first];
        while (top != VV_NONE && slices->begin_ns[top] + slices->duration_ns[top] <= begin_ns)
            top = nesting->below[top];
        nesting->open[lane - first] = top;
        if (top == VV_NONE || slices->begin_ns[top] + slices->duration_ns[top] >= end_ns)
            break;
    }
    if (lane == layout->lane_count) {
        VV_TRY(vv_array_reserve(&layout->lanes, &layout->lane_capacity, (size_t)lane + 1,
                                sizeof *layout->lanes, error));
        layout->lanes[layout->lane_count++] = (struct vv_chrome_lane){ track, lane - first, 0 };
        VV_TRY(vv_array_reserve(&nesting->open, &nesting->open_capacity, (size_t)(lane - first) + 1,
                                sizeof *nesting->open, error));
        nesting->open[lane - first] = VV_NONE;
    }
    nesting->below[row] = nesting->open[lane - first];
    nesting->open[lane - first] = row;
    layout->lane_of[row] = lane;
    return VARVE_OK;
}

/* Every track gets its own row, even without slices, because marks and counters need it. */
static enum varve_code lay_out_tracks(struct vv_chrome_layout *layout, const struct vv_model *model,
                                      struct nesting *nesting, struct varve_error *error)
{
    uint32_t row = 0;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        layout->first_lane[track] = layout->lane_count;
        VV_TRY(vv_array_reserve(&layout->lanes, &layout->lane_capacity,
                                (size_t)layout->lane_count + 1, sizeof *layout->lanes, error));
        layout->lanes[layout->lane_count++] = (struct vv_chrome_lane){ track, 0, 0 };
        VV_TRY(vv_array_reserve(&nesting->open, &nesting->open_capacity, 1, sizeof *nesting->open,
                                error));
        nesting->open[0] = VV_NONE;
        for (; row < model->slices.table.count && model->slices.track[row] == track; row++)
            VV_TRY(place(layout, nesting, row, error));
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
    if (least_ns == INT64_MAX)
        least_ns = model->run.begin_ns;
    int64_t rest_ns = least_ns % 1000000000;
    return least_ns - (rest_ns < 0 ? rest_ns + 1000000000 : rest_ns);
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
    size_t slices = (size_t)model->slices.table.count + 1;
    struct nesting nesting = { .slices = &model->slices,
                               .below = malloc(slices * sizeof(uint32_t)) };
    *layout = (struct vv_chrome_layout){
        .pids = calloc((size_t)model->processes.table.count + 1, sizeof *layout->pids),
        .first_lane = calloc((size_t)model->tracks.table.count + 1, sizeof *layout->first_lane),
        .lane_of = malloc(slices * sizeof *layout->lane_of),
        .step_of = malloc(slices * sizeof *layout->step_of),
        .base_ns = base_of(model),
    };
    enum varve_code code = VARVE_OK;
    if (nesting.below == NULL || layout->pids == NULL || layout->first_lane == NULL ||
        layout->lane_of == NULL || layout->step_of == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to lay out %zu slices", slices - 1);
    if (code == VARVE_OK) {
        find_steps(model, layout->step_of);
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
    *layout = (struct vv_chrome_layout){ 0 };
}
