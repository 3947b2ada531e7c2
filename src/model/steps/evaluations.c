/* SPDX-License-Identifier: Apache-2.0 */
/* evaluations.c — an evaluation that waits for no data is no part of the step behind it, if it can
 * be told: doc/metrics.md §6.
 *
 * While PyTorch records no graph, its operators have no sequence number. So an evaluation is a run
 * of the forward operators without numbers, ahead of the step's own forward pass. What many steps
 * do there, as a teacher's forward pass or a rollout, is a part of each. */
#include <stdlib.h>

#include "base/array.h"
#include "model/steps/anchors.h"
#include "varve/varve.h"

#define ASIDE 4u /* fewer than one of so many steps evaluate, in less than that part of the time */
#define STEPS_LEAST (2 * ASIDE)
#define BITS_FOR_EACH 64u /* numbers are dense: more bits for each one that is used are strange   */

enum { IS_NUMBERED = 1, IS_FORWARD = 2 };

struct outermost {
    uint32_t row;
    uint32_t marks;
};

struct tried { /* a step                                                                         */
    size_t first, forward; /* its outermost operators ahead of its forward pass: [first, forward) */
    size_t behind;         /* behind the last one that evaluates; 0 = none does                 */
    bool is_known;         /* it has a forward pass                                              */
};

struct evaluations {
    const struct vv_model *model;
    const struct vv_anchors *anchors;
    int64_t *begins_ns;      /* of the steps                                                     */
    uint64_t *used;          /* bits: sequence numbers that backward operators name, from `least` */
    int64_t least, most;
    struct outermost *items; /* the outermost operators of the thread, in order                 */
    size_t count, capacity;
    uint32_t *names;         /* string -> 0, or 1 + the last step in which it was seen; forward   */
    uint32_t name_count;     /* operators only                                                  */
    struct tried *steps;
};

static int64_t end_of(const struct evaluations *found, size_t item)
{
    const struct vv_slices *slices = &found->model->slices;
    uint32_t row = found->items[item].row;
    return slices->begin_ns[row] + slices->duration_ns[row];
}

static bool is_backward(const struct vv_model *model, uint32_t row)
{
    uint32_t op = model->slices.op[row];
    return op != VV_NONE && model->ops.sequence[op] >= 0 && model->ops.forward_tid[op] != 0;
}

/* Calls visit() for the number of each backward operator of the process. */
static size_t each_used(struct evaluations *found,
                        void (*visit)(struct evaluations *found, int64_t number))
{
    const struct vv_model *model = found->model;
    size_t count = 0;
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t row, limit;
        if (model->tracks.process[t] != model->tracks.process[found->anchors->track] ||
            model->tracks.kind[t] != VV_TRACK_THREAD)
            continue;
        for (limit = vv_rows_of_track(model, t, &row); row < limit; row++) {
            if (!is_backward(model, row))
                continue;
            visit(found, model->ops.sequence[model->slices.op[row]]);
            count++;
        }
    }
    return count;
}

static void widen(struct evaluations *found, int64_t number)
{
    found->least = number < found->least ? number : found->least;
    found->most = number > found->most ? number : found->most;
}

static void mark_used(struct evaluations *found, int64_t number)
{
    uint64_t bit = (uint64_t)(number - found->least);
    found->used[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool is_used(const struct evaluations *found, int64_t number)
{
    uint64_t bit = (uint64_t)(number - found->least);
    return number >= found->least && number <= found->most &&
           (found->used[bit / 64] >> bit % 64 & 1) != 0;
}

/* *out_any: there are some. */
static enum varve_code find_used(struct evaluations *found, bool *out_any,
                                 struct varve_error *error)
{
    found->least = INT64_MAX;
    found->most = -1;
    size_t count = each_used(found, widen);
    *out_any = count > 0 && (uint64_t)(found->most - found->least) / BITS_FOR_EACH <= count;
    if (!*out_any)
        return VARVE_OK;
    found->used = calloc((size_t)(found->most - found->least) / 64 + 1, sizeof *found->used);
    if (found->used == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu sequence numbers", count);
    each_used(found, mark_used);
    return VARVE_OK;
}

/* An operator made a node of the graph if the next one with a number has a larger one. It is a
 * forward operator if a backward operator used that node. */
static enum varve_code find_outermost(struct evaluations *found, struct varve_error *error)
{
    const struct vv_model *model = found->model;
    const struct vv_slices *slices = &model->slices;
    uint32_t row, limit = vv_rows_of_track(model, found->anchors->track, &row);
    int64_t end_ns = INT64_MIN, number = -1;
    size_t maker = 0; /* the outermost operator of `number`                                      */
    for (; row < limit; row++) {
        bool is_outermost = slices->begin_ns[row] >= end_ns;
        uint32_t op = slices->op[row];
        int64_t next = op != VV_NONE && !is_backward(model, row) ? model->ops.sequence[op] : -1;
        if (slices->layer[row] != VARVE_LAYER_OP || (slices->flags[row] & VV_SLICE_ANNOTATION) != 0)
            continue;
        if (is_outermost) {
            VV_TRY(vv_array_reserve(&found->items, &found->capacity, found->count + 1,
                                    sizeof *found->items, error));
            found->items[found->count++] = (struct outermost){ row, next >= 0 ? IS_NUMBERED : 0 };
            end_ns = slices->begin_ns[row] + slices->duration_ns[row];
        }
        if (next < 0)
            continue;
        if (number >= 0 && next > number && is_used(found, number))
            found->items[maker].marks |= IS_FORWARD;
        number = next;
        maker = found->count - 1;
    }
    return VARVE_OK;
}

static void name_forwards(struct evaluations *found)
{
    for (size_t i = 0; i < found->count; i++) {
        uint32_t *name = &found->names[found->model->slices.name[found->items[i].row]];
        if ((found->items[i].marks & IS_FORWARD) == 0)
            continue;
        found->name_count += *name == 0;
        *name = 1;
    }
}

/* Does the step run the model without a graph, ahead of its forward pass? At least half of the
 * names of forward operators are there then. */
static void try_step(struct evaluations *found, size_t step)
{
    struct tried *tried = &found->steps[step];
    const uint32_t *names = found->model->slices.name;
    uint32_t seen = 0;
    size_t behind = 0;
    for (size_t i = tried->first; i < tried->forward; i++) {
        uint32_t *name = &found->names[names[found->items[i].row]];
        if ((found->items[i].marks & IS_NUMBERED) != 0 || *name == 0)
            continue;
        seen += *name != step + 2;
        *name = (uint32_t)step + 2;
        behind = i + 1;
    }
    tried->behind = 2 * seen >= found->name_count ? behind : 0;
}

static void try_steps(struct evaluations *found)
{
    const struct vv_slices *slices = &found->model->slices;
    size_t item = 0;
    for (size_t step = 0; step < found->anchors->count; step++) {
        struct tried *tried = &found->steps[step];
        int64_t end_ns = found->anchors->items[step].end_ns;
        while (item < found->count &&
               slices->begin_ns[found->items[item].row] < found->begins_ns[step])
            item++;
        tried->first = item;
        while (item < found->count && slices->begin_ns[found->items[item].row] < end_ns &&
               (found->items[item].marks & IS_FORWARD) == 0)
            item++;
        tried->forward = item;
        tried->is_known = item < found->count && slices->begin_ns[found->items[item].row] < end_ns;
        if (tried->is_known)
            try_step(found, step);
    }
}

static int ascending(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Such a step begins where as many outermost operators are left ahead of its forward pass as the
 * median one of the other steps has, and behind what evaluates. */
static enum varve_code move_begins(struct evaluations *found, struct varve_error *error)
{
    size_t known = 0, usual = 0, count = found->anchors->count;
    int64_t all_ns = 0, aside_ns = 0;
    size_t *ahead = malloc(count * sizeof *ahead);
    if (ahead == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu steps", count);
    for (size_t i = 0; i < count; i++) {
        const struct tried *tried = &found->steps[i];
        known += tried->is_known;
        if (tried->is_known && tried->behind == 0)
            ahead[usual++] = tried->forward - tried->first;
    }
    qsort(ahead, usual, sizeof *ahead, ascending);
    size_t median = usual > 0 ? ahead[usual / 2] : 0;
    free(ahead);
    for (size_t i = 0; i < count; i++) {
        struct tried *tried = &found->steps[i];
        int64_t duration_ns = found->anchors->items[i].end_ns - found->begins_ns[i];
        if (tried->behind > 0 && tried->forward > median + tried->behind)
            tried->behind = tried->forward - median;
        if (i > 0) /* the first holds what is before the loop                                    */
            all_ns += duration_ns;
        if (i > 0 && tried->behind > 0)
            aside_ns += end_of(found, tried->behind - 1) - found->begins_ns[i];
    }
    if (known < STEPS_LEAST || ASIDE * (known - usual) >= known || aside_ns >= all_ns / ASIDE)
        return VARVE_OK;
    for (size_t i = 0; i < count; i++)
        if (found->steps[i].behind > 0)
            found->begins_ns[i] = end_of(found, found->steps[i].behind - 1);
    return VARVE_OK;
}

static enum varve_code leave_out(struct evaluations *found, struct varve_error *error)
{
    bool is_any;
    VV_TRY(find_used(found, &is_any, error));
    if (!is_any)
        return VARVE_OK;
    VV_TRY(find_outermost(found, error));
    found->names = calloc(found->model->strings.count + 1, sizeof *found->names);
    found->steps = calloc(found->anchors->count, sizeof *found->steps);
    if (found->names == NULL || found->steps == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu steps", found->anchors->count);
    name_forwards(found);
    try_steps(found);
    return move_begins(found, error);
}

enum varve_code vv_leave_out_graphless(const struct vv_model *model,
                                       const struct vv_anchors *anchors, int64_t *begins_ns,
                                       struct varve_error *error)
{
    struct evaluations found = { .model = model, .anchors = anchors, .begins_ns = begins_ns };
    enum varve_code code =
        anchors->count >= STEPS_LEAST ? leave_out(&found, error) : VARVE_OK;
    free(found.used);
    free(found.items);
    free(found.names);
    free(found.steps);
    return code;
}
