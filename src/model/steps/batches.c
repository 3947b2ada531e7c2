/* SPDX-License-Identifier: Apache-2.0 */
/* batches.c — what a program evaluates between two steps is no part of the later one.
 *
 * A batch is a wait for data after which an operator begins, before the next wait. A step whose
 * thread has more batches before its first backward operator than the median step has, begins at
 * the last so many of them: doc/metrics.md §6. */
#include <stdlib.h>

#include "base/array.h"
#include "model/steps/anchors.h"
#include "varve/varve.h"

struct batch {
    size_t step;
    int64_t begin_ns;
};

struct batches {
    const struct vv_model *model;
    const uint8_t *words;
    const struct vv_anchors *anchors;
    int64_t *begins_ns;    /* of the steps                                                       */
    int64_t *backwards_ns; /* where the first backward operator of each step begins              */
    size_t *counts;        /* step -> its batches                                                */
    struct batch *items;   /* in order                                                           */
    size_t count, capacity;
};

/* The first step from `step` on that ends after an instant. */
static size_t step_at(const struct batches *batches, size_t step, int64_t time_ns)
{
    while (step < batches->anchors->count && batches->anchors->items[step].end_ns <= time_ns)
        step++;
    return step;
}

static void find_backwards(struct batches *batches)
{
    const struct vv_model *model = batches->model;
    const struct vv_slices *slices = &model->slices;
    const struct vv_anchors *anchors = batches->anchors;
    for (size_t i = 0; i < anchors->count; i++)
        batches->backwards_ns[i] = anchors->items[i].end_ns;
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t row, limit;
        size_t step = 0;
        if (model->tracks.process[t] != model->tracks.process[anchors->track] ||
            model->tracks.kind[t] != VV_TRACK_THREAD)
            continue;
        for (limit = vv_rows_of_track(model, t, &row); row < limit; row++) {
            int64_t begin_ns = slices->begin_ns[row];
            if (batches->words[slices->name[row]] != VV_LOOP_ENGINE)
                continue;
            step = step_at(batches, step, begin_ns);
            if (step < anchors->count && begin_ns >= batches->begins_ns[step] &&
                begin_ns < batches->backwards_ns[step])
                batches->backwards_ns[step] = begin_ns;
        }
    }
}

static enum varve_code find_batches(struct batches *batches, struct varve_error *error)
{
    const struct vv_slices *slices = &batches->model->slices;
    uint32_t row, limit = vv_rows_of_track(batches->model, batches->anchors->track, &row);
    int64_t wait_ns = 0, wait_end_ns = INT64_MIN;
    size_t step = 0, waiting = SIZE_MAX; /* the step of the last wait, if no operator followed   */
    for (; row < limit; row++) {
        int64_t begin_ns = slices->begin_ns[row];
        step = step_at(batches, step, begin_ns);
        if (step == batches->anchors->count)
            break;
        if (begin_ns < wait_end_ns || begin_ns < batches->begins_ns[step] ||
            begin_ns >= batches->backwards_ns[step])
            continue;
        if (batches->words[slices->name[row]] == VV_LOOP_LOADER) {
            wait_ns = begin_ns;
            wait_end_ns = begin_ns + slices->duration_ns[row];
            waiting = step;
        } else if (waiting == step && slices->layer[row] == VARVE_LAYER_OP &&
                   (slices->flags[row] & VV_SLICE_ANNOTATION) == 0) {
            VV_TRY(vv_array_reserve(&batches->items, &batches->capacity, batches->count + 1,
                                    sizeof *batches->items, error));
            batches->items[batches->count++] = (struct batch){ step, wait_ns };
            batches->counts[step]++;
            waiting = SIZE_MAX;
        }
    }
    return VARVE_OK;
}

static int compare_counts(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* It reorders the numbers of batches. */
static void move_begins(struct batches *batches)
{
    size_t count = batches->anchors->count, first = batches->count;
    qsort(batches->counts, count, sizeof *batches->counts, compare_counts);
    size_t usual = batches->counts[count / 2];
    for (size_t end = first; usual > 0 && end > 0; end = first) {
        size_t step = batches->items[end - 1].step;
        while (first > 0 && batches->items[first - 1].step == step)
            first--;
        if (end - first > usual)
            batches->begins_ns[step] = batches->items[end - usual].begin_ns;
    }
}

enum varve_code vv_leave_out_evaluations(const struct vv_model *model, const uint8_t *words,
                                         const struct vv_anchors *anchors, int64_t *begins_ns,
                                         struct varve_error *error)
{
    struct batches batches = {
        .model = model,
        .words = words,
        .anchors = anchors,
        .begins_ns = begins_ns,
        .backwards_ns = malloc((anchors->count + 1) * sizeof *batches.backwards_ns),
        .counts = calloc(anchors->count + 1, sizeof *batches.counts),
    };
    enum varve_code code = VARVE_OK;
    if (batches.backwards_ns == NULL || batches.counts == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for %zu steps", anchors->count);
    if (code == VARVE_OK) {
        find_backwards(&batches);
        code = find_batches(&batches, error);
    }
    if (code == VARVE_OK && anchors->count > 0)
        move_begins(&batches);
    free(batches.backwards_ns);
    free(batches.counts);
    free(batches.items);
    return code;
}
