/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/points/iterations.h"

#include <stdlib.h>

static uint32_t process_of(const struct vv_model *model, uint32_t row)
{
    return model->tracks.process[model->trace_points.track[row]];
}

/* ---- the order of points ---- */

struct point_key {
    uint64_t model;
    int64_t number, time_ns;
    uint32_t process, row;
};

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_points(const void *left, const void *right)
{
    const struct point_key *a = left, *b = right;
    int order = compare(a->process, b->process);
    if (order == 0)
        order = (a->model > b->model) - (a->model < b->model);
    if (order == 0)
        order = compare(a->number, b->number);
    if (order == 0)
        order = compare(a->time_ns, b->time_ns);
    return order != 0 ? order : compare(a->row, b->row);
}

/* By process, model, number (if asked for), time. */
static enum varve_code sort(struct vv_iterations *all, struct vv_scratch *scratch, bool by_number,
                            struct varve_error *error)
{
    const struct vv_trace_points *points = &all->model->trace_points;
    struct point_key *keys;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, all->count + 1, error));
    for (size_t i = 0; i < all->count; i++) {
        uint32_t row = all->order[i];
        keys[i] = (struct point_key){ points->model[row], by_number ? all->numbers[row] : 0,
                                      points->time_ns[row], process_of(all->model, row), row };
    }
    qsort(keys, all->count, sizeof *keys, compare_points);
    for (size_t i = 0; i < all->count; i++)
        all->order[i] = keys[i].row;
    vv_scratch_release(scratch, keys);
    return VARVE_OK;
}

static bool same_model(const struct vv_iterations *all, uint32_t a, uint32_t b)
{
    return process_of(all->model, a) == process_of(all->model, b) &&
           all->model->trace_points.model[a] == all->model->trace_points.model[b];
}

static size_t end_of_model(const struct vv_iterations *all, size_t first)
{
    size_t limit = first + 1;
    while (limit < all->count && same_model(all, all->order[first], all->order[limit]))
        limit++;
    return limit;
}

/* Numbers come from the program, or, in a model that has none, from the order. */
static enum varve_code number_all(struct vv_iterations *all, struct vv_scratch *scratch,
                                  struct varve_error *error)
{
    for (size_t first = 0, limit; first < all->count; first = limit) {
        bool has_numbers = false;
        limit = end_of_model(all, first);
        for (size_t i = first; i < limit && !has_numbers; i++)
            has_numbers = all->numbers[all->order[i]] >= 0;
        if (!has_numbers)
            VV_TRY(vv_iterations_number(all, scratch, first, limit, error));
    }
    return sort(all, scratch, true, error);
}

/* ---- one iteration ---- */

static void take(struct vv_maybe_ns *instant, int64_t ns, bool takes_last)
{
    if (!instant->is_known || (takes_last ? ns > instant->ns : ns < instant->ns))
        *instant = (struct vv_maybe_ns){ ns, true };
}

/* What its own points say. */
static struct vv_iteration read_points(const struct vv_iterations *all, size_t first, size_t limit)
{
    const struct vv_trace_points *points = &all->model->trace_points;
    uint32_t head = all->order[first];
    struct vv_iteration of = {
        .model = points->model[head], .number = all->numbers[head], .first = first, .limit = limit,
        .process = process_of(all->model, head), .track = points->track[head],
        .is_found = all->is_found[head], .begins = VV_BEGINS_WITH_POINT,
        .begin = { points->time_ns[head], true },
    };
    struct vv_maybe_ns begins[2] = { { 0 } }, ends[2] = { { 0 } }; /* of the model, of the step */
    for (size_t i = first; i < limit; i++) {
        uint32_t row = all->order[i];
        int64_t ns = points->time_ns[row];
        uint8_t kind = points->kind[row];
        bool is_step = kind == VARVE_POINT_STEP;
        if (kind == VARVE_POINT_FORWARD)
            take(&of.forward, ns, false);
        else if (kind == VARVE_POINT_BACKWARD)
            take(&of.backward, ns, true);
        else if (kind == VARVE_POINT_ITERATION)
            take(&of.end, ns, true);
        else if (is_step || kind == VARVE_POINT_MODEL)
            take(points->is_end[row] ? &ends[is_step] : &begins[is_step], ns, points->is_end[row]);
    }
    for (int i = 1; i >= 0; i--) { /* the model's begin counts before the step's */
        if (!of.end.is_known)
            of.end = ends[i];
        if (begins[i].is_known) {
            of.begin = begins[i];
            of.begins = i == 0 ? VV_BEGINS_WITH_MODEL : VV_BEGINS_WITH_STEP;
        }
    }
    return of;
}

/* ---- what lies around it ---- */

struct around {
    int64_t *begins;    /* of the model's executions that have no number of an iteration        */
    int64_t *model_ends;
    int64_t *ends;      /* of iterations                                                        */
    size_t begin_count, model_end_count, end_count;
};

static int compare_ns(const void *a, const void *b)
{
    return compare(*(const int64_t *)a, *(const int64_t *)b);
}

/* How many of the ascending instants are not after `ns`. */
static size_t count_until(const int64_t *list, size_t count, int64_t ns)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (list[middle] <= ns)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The latest end of another iteration that is not after `ns`. Its own end may be among those. */
static struct vv_maybe_ns end_before(const struct around *around, const struct vv_iteration *of,
                                     int64_t ns)
{
    size_t until = count_until(around->ends, around->end_count, ns);
    if (until > 0 && of->end.is_known && of->end.ns == around->ends[until - 1])
        until--;
    return until == 0 ? (struct vv_maybe_ns){ 0 }
                      : (struct vv_maybe_ns){ around->ends[until - 1], true };
}

static void find_begin(const struct around *around, struct vv_iteration *of)
{
    if (of->begins != VV_BEGINS_WITH_POINT)
        return;
    int64_t first_ns = of->begin.ns;
    size_t begins = count_until(around->begins, around->begin_count, first_ns);
    struct vv_maybe_ns former = end_before(around, of, first_ns);
    if (begins > 0 && (!former.is_known || around->begins[begins - 1] >= former.ns)) {
        of->begins = VV_BEGINS_WITH_MODEL;
        of->begin.ns = around->begins[begins - 1];
    } else if (former.is_known) {
        of->begins = VV_BEGINS_AFTER_OTHER;
        of->begin = former;
    }
}

/* The next end of the model, unless another execution begins before it. */
static void find_end(const struct vv_iterations *all, const struct around *around,
                     struct vv_iteration *of)
{
    int64_t last_ns = all->model->trace_points.time_ns[all->order[of->limit - 1]];
    size_t end = count_until(around->model_ends, around->model_end_count, last_ns - 1);
    size_t begin = count_until(around->begins, around->begin_count, last_ns);
    if (of->end.is_known || end == around->model_end_count ||
        (begin < around->begin_count && around->begins[begin] < around->model_ends[end]))
        return;
    of->end = (struct vv_maybe_ns){ around->model_ends[end], true };
}

/* The points at order[first..limit) are of one model. Those without a number come first. */
static enum varve_code find_in_model(struct vv_iterations *all, struct vv_scratch *scratch,
                                     size_t first, size_t limit, struct varve_error *error)
{
    const struct vv_trace_points *points = &all->model->trace_points;
    size_t at = first, first_item = all->item_count;
    struct around around = { 0 };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &around.begins, limit - first, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &around.model_ends, limit - first, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &around.ends, limit - first, error));
    for (; at < limit && all->numbers[all->order[at]] < 0; at++) {
        uint32_t row = all->order[at];
        if (points->kind[row] != VARVE_POINT_MODEL)
            all->without++;
        else if (points->is_end[row])
            around.model_ends[around.model_end_count++] = points->time_ns[row];
        else
            around.begins[around.begin_count++] = points->time_ns[row];
    }
    for (size_t end; at < limit; at = end) {
        for (end = at + 1; end < limit; end++)
            if (all->numbers[all->order[end]] != all->numbers[all->order[at]])
                break;
        struct vv_iteration of = read_points(all, at, end);
        find_end(all, &around, &of);
        if (of.end.is_known)
            around.ends[around.end_count++] = of.end.ns;
        all->items[all->item_count++] = of;
    }
    if (around.end_count > 0)
        qsort(around.ends, around.end_count, sizeof *around.ends, compare_ns);
    for (size_t i = first_item; i < all->item_count; i++) {
        struct vv_iteration *of = &all->items[i];
        find_begin(&around, of);
        if (of->forward.is_known)
            of->former_end = end_before(&around, of, of->forward.ns);
    }
    vv_scratch_release(scratch, around.begins);
    vv_scratch_release(scratch, around.model_ends);
    vv_scratch_release(scratch, around.ends);
    return VARVE_OK;
}

enum varve_code vv_iterations_find(const struct vv_scope *scope, struct vv_iterations *out,
                                   struct varve_error *error)
{
    const struct vv_trace_points *points = &scope->model->trace_points;
    struct vv_scratch *scratch = scope->scratch;
    size_t rows = (size_t)points->table.count;
    *out = (struct vv_iterations){ .model = scope->model };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out->order, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out->numbers, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->is_found, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out->items, rows, error));
    for (uint32_t row = 0; row < rows; row++) {
        out->numbers[row] = points->iteration[row] < 0 ? -1 : points->iteration[row];
        if (points->track[row] != VV_NONE && scope->processes[process_of(scope->model, row)])
            out->order[out->count++] = row;
    }
    VV_TRY(sort(out, scratch, false, error));
    VV_TRY(number_all(out, scratch, error));
    for (size_t first = 0, limit; first < out->count; first = limit) {
        limit = end_of_model(out, first);
        VV_TRY(find_in_model(out, scratch, first, limit, error));
    }
    return VARVE_OK;
}

/* ---- pairs ---- */

struct end_key {
    int64_t time_ns;
    uint32_t index, row;
    bool is_end;
};

static int compare_ends(const void *left, const void *right)
{
    const struct end_key *a = left, *b = right;
    int order = compare(a->index, b->index);
    if (order == 0)
        order = compare(a->time_ns, b->time_ns);
    if (order == 0)
        order = compare(a->is_end, b->is_end);
    return order != 0 ? order : compare(a->row, b->row);
}

/* An end belongs to the oldest begin of its index that has none. */
static size_t pair(const struct vv_trace_points *points, const struct end_key *keys, size_t count,
                   struct vv_point_pair *pairs)
{
    size_t made = 0, waiting = 0; /* pairs[waiting] may be the oldest without an end */
    for (size_t i = 0; i < count; i++) {
        const struct vv_maybe_ns at = { keys[i].time_ns, true };
        while (waiting < made &&
               (pairs[waiting].end.is_known || pairs[waiting].index != keys[i].index))
            waiting++;
        if (keys[i].is_end && waiting < made) {
            pairs[waiting].end = at;
            continue;
        }
        pairs[made] = (struct vv_point_pair){ .index = keys[i].index,
                                              .stream = points->stream[keys[i].row] };
        *(keys[i].is_end ? &pairs[made].end : &pairs[made].begin) = at;
        made++;
    }
    return made;
}

enum varve_code vv_iteration_pairs(const struct vv_iterations *all, const struct vv_iteration *of,
                                   enum varve_point_kind kind, struct vv_scratch *scratch,
                                   struct vv_point_pairs *out_pairs, struct varve_error *error)
{
    const struct vv_trace_points *points = &all->model->trace_points;
    struct end_key *keys;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, of->limit - of->first, error));
    for (size_t i = of->first; i < of->limit; i++) {
        uint32_t row = all->order[i];
        if (points->kind[row] == kind)
            keys[count++] = (struct end_key){ points->time_ns[row], points->index[row], row,
                                              points->is_end[row] != 0 };
    }
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_pairs->items, count, error));
    qsort(keys, count, sizeof *keys, compare_ends);
    out_pairs->count = pair(points, keys, count, out_pairs->items);
    vv_scratch_release(scratch, keys);
    return VARVE_OK;
}
