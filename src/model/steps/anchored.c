/* SPDX-License-Identifier: Apache-2.0 */
/* anchored.c — takes steps from backward passes, and else from waits for data, for processes
 * of inputs (scopes) in which no step was found by name: doc/metrics.md §6. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/find.h"
#include "model/steps/anchors.h"
#include "model/steps/infer.h"
#include "varve/varve.h"

#define ANCHORS_LEAST 2u

/* The track of a process that has most ranges of a word, or one that the user names; count 0: none
 * has any. */
struct most {
    uint32_t track, count;
    bool is_wanted;
};

struct search {
    struct vv_model *model;
    struct most (*most)[VV_LOOP_WORDS]; /* process -> word -> the track                      */
    const uint8_t *words;
    struct vv_anchors anchors; /* of one track                                                  */
    size_t capacity;
};

static int64_t end_of(const struct vv_model *model, uint32_t slice)
{
    return model->slices.begin_ns[slice] + model->slices.duration_ns[slice];
}

static enum varve_code add_anchor(struct search *search, int64_t begin_ns, int64_t end_ns,
                                  struct varve_error *error)
{
    struct vv_anchors *anchors = &search->anchors;
    VV_TRY(vv_array_reserve(&anchors->items, &search->capacity, anchors->count + 1,
                            sizeof *anchors->items, error));
    anchors->items[anchors->count++] = (struct vv_anchor){ begin_ns, end_ns, -1 };
    return VARVE_OK;
}

/* The next outermost operator of a track from *row on that is, or is not, one of the engine's; its
 * row, or `limit`. *end_ns is the end of the outermost operators so far. What a compiler runs to
 * see what a program does counts as neither. */
static uint32_t next_outermost(const struct search *search, uint32_t row, uint32_t limit,
                               bool is_engine, int64_t *end_ns)
{
    const struct vv_slices *slices = &search->model->slices;
    for (; row < limit; row++) {
        uint8_t word = search->words[slices->name[row]];
        bool is_of_engine = word == VV_LOOP_ENGINE, is_compiler = word == VV_LOOP_COMPILER;
        if ((slices->layer[row] != VARVE_LAYER_OP && !is_of_engine && !is_compiler) ||
            slices->begin_ns[row] < *end_ns ||
            (slices->flags[row] & VV_SLICE_ANNOTATION) != 0)
            continue;
        *end_ns = end_of(search->model, row);
        if (is_of_engine == is_engine && !is_compiler)
            break;
    }
    return row;
}

/* Counts the outermost operators of a track that are, or are not, of the engine. */
static uint32_t count_operators(const struct search *search, uint32_t track, bool is_engine)
{
    int64_t end_ns = INT64_MIN;
    uint32_t row, limit = vv_rows_of_track(search->model, track, &row), count = 0;
    while ((row = next_outermost(search, row, limit, is_engine, &end_ns)) < limit) {
        count++;
        row++;
    }
    return count;
}

/* Does a track that has backward operators call the passes itself? The engine's thread of a device
 * runs what others call, and few operators of its own. */
static bool calls_itself(const struct search *search, uint32_t track)
{
    return 8 * (uint64_t)count_operators(search, track, false) >=
           count_operators(search, track, true);
}

/* The thread that calls the passes of a process: the engine's own, or the one with most operators
 * outside the engine. */
static uint32_t calling_track(const struct search *search, uint32_t engine)
{
    const struct vv_tracks *tracks = &search->model->tracks;
    uint32_t best = engine, most = count_operators(search, engine, false);
    for (uint32_t t = 0; t < tracks->table.count && !calls_itself(search, engine); t++) {
        if (tracks->process[t] != tracks->process[engine] || tracks->kind[t] != VV_TRACK_THREAD)
            continue;
        uint32_t count = count_operators(search, t, false);
        if (count > most) {
            most = count;
            best = t;
        }
    }
    return best;
}

/* Finds the backward passes of a track: a pass ends where the calling thread begins an operator of
 * its own. */
static enum varve_code find_passes(struct search *search, uint32_t engine, uint32_t caller,
                                   struct varve_error *error)
{
    const struct vv_slices *slices = &search->model->slices;
    int64_t end_ns = INT64_MIN, own_end_ns = INT64_MIN;
    uint32_t row, limit = vv_rows_of_track(search->model, engine, &row), own,
                  own_limit = vv_rows_of_track(search->model, caller, &own);
    search->anchors.count = 0;
    own = next_outermost(search, own, own_limit, false, &own_end_ns);
    for (; (row = next_outermost(search, row, limit, true, &end_ns)) < limit; row++) {
        struct vv_anchor *last =
            search->anchors.count > 0 ? &search->anchors.items[search->anchors.count - 1] : NULL;
        while (own < own_limit && last != NULL && slices->begin_ns[own] < last->end_ns)
            own = next_outermost(search, own + 1, own_limit, false, &own_end_ns);
        bool is_new =
            last == NULL || (own < own_limit && slices->begin_ns[own] < slices->begin_ns[row]);
        if (is_new)
            VV_TRY(add_anchor(search, slices->begin_ns[row], end_ns, error));
        else
            last->end_ns = end_ns;
    }
    return VARVE_OK;
}

/* Finds the ends of waits for a batch. The first wait begins no step: what is before it is no part
 * of the loop. */
static enum varve_code find_batches(struct search *search, uint32_t track,
                                    struct varve_error *error)
{
    const struct vv_slices *slices = &search->model->slices;
    uint32_t row, limit = vv_rows_of_track(search->model, track, &row);
    int64_t wait_end_ns = INT64_MIN;
    bool is_first = true;
    search->anchors.count = 0;
    for (; row < limit; row++) {
        if (search->words[slices->name[row]] != VV_LOOP_LOADER ||
            slices->begin_ns[row] < wait_end_ns)
            continue;
        wait_end_ns = end_of(search->model, row);
        if (is_first)
            search->anchors.from_ns = wait_end_ns;
        else
            VV_TRY(add_anchor(search, slices->begin_ns[row], wait_end_ns, error));
        is_first = false;
    }
    return VARVE_OK;
}

/* Finds, for each process, the tracks with the most ranges of the engine and of a loader. */
static enum varve_code find_tracks(struct search *search, struct varve_error *error)
{
    const struct vv_model *model = search->model;
    search->most = calloc(model->processes.table.count + 1, sizeof *search->most);
    if (search->most == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look for steps");
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t row, limit, counts[VV_LOOP_WORDS] = { 0 };
        if (model->tracks.process[t] >= model->processes.table.count ||
            model->tracks.kind[t] != VV_TRACK_THREAD)
            continue;
        for (limit = vv_rows_of_track(model, t, &row); row < limit; row++)
            counts[search->words[model->slices.name[row]]]++;
        for (int word = VV_LOOP_ENGINE; word <= VV_LOOP_LOADER; word++) {
            struct most *most = &search->most[model->tracks.process[t]][word];
            bool is_wanted = counts[word] > 0 && model->step_thread != NULL &&
                             vv_track_is_called(model, t, model->step_thread);
            if (is_wanted > most->is_wanted ||
                (is_wanted == most->is_wanted && counts[word] > most->count))
                *most = (struct most){ t, counts[word], is_wanted };
        }
    }
    return VARVE_OK;
}

/* Finds the anchors of other threads of the process, which could be its steps as well. */
static enum varve_code count_others(struct search *search, uint32_t engine, uint32_t track,
                                    bool are_passes, struct varve_error *error)
{
    struct vv_tracks *tracks = &search->model->tracks;
    for (uint32_t t = 0; t < tracks->table.count; t++) {
        if (t == engine || t == track || tracks->process[t] != tracks->process[track] ||
            tracks->kind[t] != VV_TRACK_THREAD)
            continue;
        VV_TRY(are_passes ? find_passes(search, t, t, error) : find_batches(search, t, error));
        if (search->anchors.count >= ANCHORS_LEAST && (!are_passes || calls_itself(search, t)))
            tracks->steps_left[t] = (uint32_t)search->anchors.count;
    }
    return VARVE_OK;
}

static enum varve_code add_passes(struct search *search, uint32_t process,
                                  struct varve_error *error)
{
    uint32_t engine = search->most[process][VV_LOOP_ENGINE].track;
    if (search->most[process][VV_LOOP_ENGINE].count == 0)
        return VARVE_OK;
    uint32_t caller = calling_track(search, engine);
    VV_TRY(find_passes(search, engine, caller, error));
    if (search->anchors.count < ANCHORS_LEAST)
        return VARVE_OK;
    search->anchors.track = caller;
    search->anchors.name = "a backward pass";
    search->anchors.words = search->words;
    search->anchors.from_ns = vv_first_step_ns(search->model, search->words, caller,
                                               search->anchors.items[0].begin_ns);
    VV_TRY(vv_add_anchored_steps(search->model, &search->anchors, error));
    return count_others(search, engine, caller, true, error);
}

static enum varve_code add_batches(struct search *search, uint32_t process,
                                   struct varve_error *error)
{
    uint32_t track = search->most[process][VV_LOOP_LOADER].track;
    if (search->most[process][VV_LOOP_LOADER].count == 0)
        return VARVE_OK;
    VV_TRY(find_batches(search, track, error));
    if (search->anchors.count < ANCHORS_LEAST)
        return VARVE_OK;
    search->anchors.track = track;
    search->anchors.name = "a wait for data";
    search->anchors.words = NULL;
    VV_TRY(vv_add_anchored_steps(search->model, &search->anchors, error));
    return count_others(search, track, track, false, error);
}

/* Without such a name there is no need to look at the slices. */
static bool has_words(const struct search *search)
{
    for (uint32_t string = 0; string < search->model->strings.count; string++)
        if (search->words[string] != VV_LOOP_OTHER)
            return true;
    return false;
}

static enum varve_code infer(struct search *search, const bool *has_steps,
                             struct varve_error *error)
{
    const struct vv_model *model = search->model;
    if (!has_words(search))
        return VARVE_OK;
    VV_TRY(find_tracks(search, error));
    for (uint32_t p = 0; p < model->processes.table.count; p++) {
        uint64_t before = model->steps.table.count;
        if (has_steps[model->processes.scope[p]])
            continue;
        VV_TRY(add_passes(search, p, error));
        if (model->steps.table.count == before)
            VV_TRY(add_batches(search, p, error));
    }
    return VARVE_OK;
}

enum varve_code vv_build_anchored_steps(struct vv_model *model, struct varve_error *error)
{
    uint32_t scopes;
    bool *has_steps = vv_scopes_with_steps(model, &scopes);
    uint8_t *words = vv_loop_words(model);
    struct search search = { .model = model, .words = words };
    enum varve_code code = VARVE_OK;
    if (has_steps == NULL || words == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to look for steps");
    else if (memchr(has_steps, false, scopes * sizeof(bool)) != NULL)
        code = infer(&search, has_steps, error);
    free(search.anchors.items);
    free(search.most);
    free(has_steps);
    free(words);
    return code;
}
