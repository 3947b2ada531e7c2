/* SPDX-License-Identifier: Apache-2.0 */
/* named.c — takes steps from names, for inputs (scopes) in which none were recorded:
 * doc/metrics.md §6.
 *
 * A range with the name of a step is a step. If there are none, each end of an anchor, such as
 * Optimizer.step, ends a step. Of each process, the thread with the most of them counts, or the
 * one that model->step_thread names. Of nested ranges of the same kind, the outermost counts. With
 * model->step_by the user has chosen: NAME are the steps, ..NAME is an anchor, and recorded steps
 * are dropped. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "model/find.h"
#include "model/steps/anchors.h"
#include "model/steps/infer.h"
#include "varve/varve.h"

#define OPTIMIZER_STEP "Optimizer.step"
#define LAYERS_OF_RANGES (VARVE_LAYER_API | VARVE_LAYER_HOST | VARVE_LAYER_STEP)

struct convention {
    /* A name matches if it is the word, the word and a number, or the word and '#', '[' or '(' with
       any text after it. After a word that ends in '*', any text may follow. */
    const char *word;
    uint16_t layers;   /* layers that the range may have */
    uint8_t origin;    /* enum vv_step_origin */
    uint8_t least;     /* a thread with fewer of them has none */
};

/* The first convention that matches is used. */
static const struct convention conventions[] = {
    { "train_step", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "training_step", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "train step", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "step", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "iteration", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "iter", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "execute_model", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "execute_*", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 }, /* engines append what they batched      */
    { "train_batch", LAYERS_OF_RANGES, VV_STEP_RANGE, 1 },
    { "batch", LAYERS_OF_RANGES, VV_STEP_RANGE, 2 },
    { "train", LAYERS_OF_RANGES, VV_STEP_RANGE, 2 },
    { "model_run", VARVE_LAYER_ALL, VV_STEP_RANGE, 1 },
    { "SequentialExecutor::Execute", VARVE_LAYER_ALL, VV_STEP_RANGE, 1 },
    { "ParallelExecutor::Execute", VARVE_LAYER_ALL, VV_STEP_RANGE, 1 },
    { OPTIMIZER_STEP, VARVE_LAYER_ALL, VV_STEP_ANCHOR, 1 },
    { "optimizer_step", VARVE_LAYER_ALL, VV_STEP_ANCHOR, 2 },
    { "mark_step", VARVE_LAYER_ALL, VV_STEP_ANCHOR, 2 },
    /* JAX's calls of a jitted function return before its work ends: the wait behind counts, too */
    { "PjitFunction(train_step)", VARVE_LAYER_ALL, VV_STEP_ANCHOR, 2 },
    { "PjitFunction(update_step)", VARVE_LAYER_ALL, VV_STEP_ANCHOR, 2 },
    { "PjitFunction(step)", VARVE_LAYER_ALL, VV_STEP_ANCHOR, 2 },
    { "PjitFunction(update)", VARVE_LAYER_ALL, VV_STEP_ANCHOR, 2 },
};
#define CONVENTION_COUNT (sizeof conventions / sizeof *conventions)
#define NO_CONVENTION UINT8_MAX

struct candidate {
    uint32_t slice;
    uint8_t convention;
};

/* The track of a process that holds its steps. */
struct choice {
    uint32_t track, count;
    bool is_wanted; /* by model->step_thread                                                     */
};

struct inference {
    struct vv_model *model;
    const struct convention *conventions;
    size_t convention_count;
    uint8_t *by_string;           /* string id -> its convention */
    bool *is_served;              /* scope -> has steps */
    uint8_t *of_scope;            /* scope -> its convention */
    struct choice *of_process;
    struct candidate *candidates; /* by track and begin; outermost ranges only */
    size_t candidate_count, candidate_capacity;
    uint8_t *loop_words;          /* string -> enum vv_loop_word */
};

/* *out_number is the number at the end of a name that begins with `word`, or -1. False: the name
 * does not match. */
static bool is_called(const char *name, const char *word, int64_t *out_number)
{
    size_t length = strlen(word) + 1; /* one more than what the name begins with */
    bool is_open = length > 1 && word[length - 2] == '*';
    length -= is_open;
    *out_number = -1;
    if (strncasecmp(name, word, length - 1) != 0)
        return false;
    const char *rest = name + length - 1, *digits = rest + strspn(rest, " _-#:");
    size_t count = strspn(digits, "0123456789");
    if (count > 0 && count < 18 && digits[count] == '\0')
        *out_number = strtoll(digits, NULL, 10);
    return is_open || *rest == '\0' || *rest == '#' || *rest == '[' || *rest == '(' ||
           *out_number >= 0;
}

uint32_t vv_scope_of_track(const struct vv_model *model, uint32_t track)
{
    uint32_t process = track < model->tracks.table.count ? model->tracks.process[track] : VV_NONE;
    return process < model->processes.table.count ? model->processes.scope[process] : 0;
}

/* The choice of the track's process; the last item is for tracks without a process. */
static struct choice *choice_of(const struct inference *inference, uint32_t track)
{
    uint64_t processes = inference->model->processes.table.count;
    uint32_t process = inference->model->tracks.process[track];
    return &inference->of_process[process < processes ? process : processes];
}

bool *vv_scopes_with_steps(const struct vv_model *model, uint32_t *out_count)
{
    uint32_t count = 1;
    for (uint64_t p = 0; p < model->processes.table.count; p++)
        count = model->processes.scope[p] >= count ? model->processes.scope[p] + 1 : count;
    bool *has_steps = calloc(count, sizeof *has_steps);
    *out_count = count;
    for (uint64_t s = 0; s < model->steps.table.count && has_steps != NULL; s++)
        has_steps[vv_scope_of_track(model, model->steps.track[s])] = true;
    return has_steps;
}

/* ---- ranges with the name of a step ---- */

static bool name_conventions(struct inference *inference)
{
    const struct vv_intern *strings = &inference->model->strings;
    bool is_any = false, is_initial[UCHAR_MAX + 1] = { false };
    memset(inference->by_string, NO_CONVENTION, strings->count);
    for (size_t c = 0; c < inference->convention_count; c++)
        is_initial[tolower((unsigned char)inference->conventions[c].word[0])] = true;
    for (uint32_t string = 1; string < strings->count; string++) {
        const char *name = vv_intern_text(strings, string);
        if (!is_initial[tolower((unsigned char)name[0])])
            continue;
        for (size_t c = 0;
             c < inference->convention_count && inference->by_string[string] == NO_CONVENTION;
             c++) {
            int64_t number;
            if (is_called(name, inference->conventions[c].word, &number))
                inference->by_string[string] = (uint8_t)c;
        }
        is_any |= inference->by_string[string] != NO_CONVENTION;
    }
    return is_any;
}

static enum varve_code collect(struct inference *inference, struct varve_error *error)
{
    const struct vv_model *model = inference->model;
    const struct vv_slices *slices = &model->slices;
    int64_t ends_ns[CONVENTION_COUNT] = { 0 };
    uint32_t track = VV_NONE;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint8_t convention = inference->by_string[slices->name[row]];
        if (convention == NO_CONVENTION || slices->track[row] >= model->tracks.table.count ||
            model->tracks.kind[slices->track[row]] != VV_TRACK_THREAD ||
            (inference->conventions[convention].layers & slices->layer[row]) == 0)
            continue;
        for (size_t c = 0; c < CONVENTION_COUNT && slices->track[row] != track; c++)
            ends_ns[c] = INT64_MIN;
        track = slices->track[row];
        if (slices->begin_ns[row] < ends_ns[convention])
            continue;
        ends_ns[convention] = slices->begin_ns[row] + slices->duration_ns[row];
        if (inference->candidate_count == inference->candidate_capacity)
            VV_TRY(vv_array_reserve(&inference->candidates, &inference->candidate_capacity,
                                    inference->candidate_count + 1, sizeof *inference->candidates,
                                    error));
        inference->candidates[inference->candidate_count++] = (struct candidate){ row, convention };
    }
    return VARVE_OK;
}

/* ---- which convention, and which track ---- */

/* Counts the candidates on the track of candidate `first` by convention. Returns the index after
 * the last of them. */
static size_t count_track(const struct inference *inference, size_t first, uint32_t *counts)
{
    const uint32_t *track = inference->model->slices.track;
    size_t i = first;
    memset(counts, 0, CONVENTION_COUNT * sizeof *counts);
    for (; i < inference->candidate_count &&
           track[inference->candidates[i].slice] == track[inference->candidates[first].slice]; i++)
        counts[inference->candidates[i].convention]++;
    return i;
}

static void choose_conventions(struct inference *inference)
{
    uint32_t counts[CONVENTION_COUNT];
    for (size_t i = 0, next; i < inference->candidate_count; i = next) {
        next = count_track(inference, i, counts);
        uint32_t scope =
            vv_scope_of_track(inference->model,
                              inference->model->slices.track[inference->candidates[i].slice]);
        for (size_t c = 0; c < inference->convention_count && !inference->is_served[scope]; c++)
            if (counts[c] >= inference->conventions[c].least && c < inference->of_scope[scope])
                inference->of_scope[scope] = (uint8_t)c;
    }
}

static void choose_tracks(struct inference *inference)
{
    const struct vv_model *model = inference->model;
    uint32_t counts[CONVENTION_COUNT];
    for (size_t i = 0, next; i < inference->candidate_count; i = next) {
        next = count_track(inference, i, counts);
        uint32_t track = model->slices.track[inference->candidates[i].slice];
        uint8_t convention = inference->of_scope[vv_scope_of_track(model, track)];
        struct choice *choice = choice_of(inference, track);
        if (convention == NO_CONVENTION ||
            counts[convention] < inference->conventions[convention].least)
            continue;
        bool is_wanted = model->step_thread != NULL &&
                         vv_track_is_called(model, track, model->step_thread);
        model->tracks.steps_left[track] = counts[convention];
        if (is_wanted > choice->is_wanted ||
            (is_wanted == choice->is_wanted && counts[convention] > choice->count))
            *choice = (struct choice){ track, counts[convention], is_wanted };
    }
}

/* ---- the steps ---- */

static enum varve_code add_range(struct inference *inference, const struct candidate *candidate,
                                 int64_t ordinal, struct varve_error *error)
{
    struct vv_model *model = inference->model;
    const struct convention *convention = &inference->conventions[candidate->convention];
    uint32_t row, slice = candidate->slice;
    int64_t number;
    is_called(vv_intern_text(&model->strings, model->slices.name[slice]), convention->word,
              &number);
    VV_TRY(vv_model_add_step(model, &row, error));
    VV_TRY(vv_model_text(model, convention->word, &model->steps.name[row], error));
    model->steps.index[row] = number >= 0 ? number : ordinal;
    model->steps.begin_ns[row] = model->slices.begin_ns[slice];
    model->steps.duration_ns[row] = model->slices.duration_ns[slice];
    model->steps.track[row] = model->slices.track[slice];
    model->steps.origin[row] = VV_STEP_RANGE;
    model->slices.flags[slice] |= VV_SLICE_STEP;
    model->placed_count = 0; /* phases depend on steps: the importer's phases no longer hold */
    return VARVE_OK;
}

/* `slices` are the anchors of one track. Of several optimizers the last ends the step. */
static enum varve_code add_anchors(struct inference *inference, const struct convention *convention,
                                   uint32_t *slices, size_t count, struct vv_anchor *anchors,
                                   struct varve_error *error)
{
    struct vv_model *model = inference->model;
    uint32_t track = model->slices.track[slices[0]], first;
    int64_t first_ns = model->slices.begin_ns[slices[0]];
    bool is_optimizer = strcmp(convention->word, OPTIMIZER_STEP) == 0 && model->step_by == NULL;
    if (is_optimizer)
        VV_TRY(vv_keep_last_optimizers(model, slices, &count, error));
    for (size_t i = 0; i < count; i++) {
        struct vv_anchor *anchor = &anchors[i];
        anchor->begin_ns = model->slices.begin_ns[slices[i]];
        anchor->end_ns = anchor->begin_ns + model->slices.duration_ns[slices[i]];
        is_called(vv_intern_text(&model->strings, model->slices.name[slices[i]]),
                  convention->word, &anchor->number);
    }
    vv_rows_of_track(model, track, &first);
    int64_t from_ns = model->slices.begin_ns[first];
    if (is_optimizer)
        from_ns = vv_first_step_ns(model, inference->loop_words, track, first_ns);
    return vv_add_anchored_steps(model,
                                 &(struct vv_anchors){
                                     .track = track,
                                     .name = convention->word,
                                     .from_ns = from_ns,
                                     .items = anchors,
                                     .count = count,
                                     .words = is_optimizer ? inference->loop_words : NULL,
                                 },
                                 error);
}

/* Adds the steps of the candidates of one track: rows[0..count). */
static enum varve_code add_track(struct inference *inference, const struct candidate *first,
                                 uint32_t *rows, size_t count, struct varve_error *error)
{
    const struct convention *convention = &inference->conventions[first->convention];
    enum varve_code code = VARVE_OK;
    if (convention->origin == VV_STEP_ANCHOR) {
        struct vv_anchor *anchors = malloc(count * sizeof *anchors);
        if (anchors == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu steps", count);
        code = add_anchors(inference, convention, rows, count, anchors, error);
        free(anchors);
    }
    for (size_t i = 0; convention->origin == VV_STEP_RANGE && i < count && code == VARVE_OK; i++)
        code = add_range(inference, &(struct candidate){ rows[i], first->convention }, (int64_t)i,
                         error);
    return code;
}

static enum varve_code add_steps(struct inference *inference, struct varve_error *error)
{
    const struct vv_model *model = inference->model;
    const uint32_t *tracks = model->slices.track;
    enum varve_code code = VARVE_OK;
    uint32_t *rows = malloc((inference->candidate_count + 1) * sizeof *rows);
    if (rows == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu steps", inference->candidate_count);
    for (size_t i = 0; i < inference->candidate_count && code == VARVE_OK;) {
        uint32_t track = tracks[inference->candidates[i].slice];
        const struct choice *choice = choice_of(inference, track);
        uint8_t convention = inference->of_scope[vv_scope_of_track(model, track)];
        size_t count = 0;
        for (; i < inference->candidate_count && tracks[inference->candidates[i].slice] == track;
             i++)
            if (inference->candidates[i].convention == convention)
                rows[count++] = inference->candidates[i].slice;
        if (count == 0 || choice->count == 0 || choice->track != track)
            continue;
        model->tracks.steps_left[track] = 0;
        code = add_track(inference, &(struct candidate){ rows[0], convention }, rows, count, error);
    }
    free(rows);
    return code;
}

static void forget_steps(struct vv_model *model)
{
    for (uint64_t row = 0; row < model->slices.table.count && model->steps.table.count > 0; row++)
        if (model->slices.flags[row] & VV_SLICE_STEP)
            model->slices.flags[row] &= (uint8_t)~VV_SLICE_STEP;
    model->steps.table.count = 0;
    model->placed_count = 0;
}

static enum varve_code infer(struct inference *inference, struct varve_error *error)
{
    struct vv_model *model = inference->model;
    uint32_t scopes;
    inference->by_string = malloc(model->strings.count + 1);
    inference->is_served = vv_scopes_with_steps(model, &scopes);
    inference->of_scope = malloc(scopes);
    inference->loop_words = vv_loop_words(model);
    inference->of_process = calloc(model->processes.table.count + 1, sizeof *inference->of_process);
    if (inference->by_string == NULL || inference->is_served == NULL ||
        inference->of_scope == NULL || inference->of_process == NULL ||
        inference->loop_words == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look for steps");
    memset(inference->of_scope, NO_CONVENTION, scopes);
    if (memchr(inference->is_served, false, scopes * sizeof(bool)) == NULL ||
        !name_conventions(inference))
        return VARVE_OK;
    VV_TRY(collect(inference, error));
    choose_conventions(inference);
    choose_tracks(inference);
    return add_steps(inference, error);
}

enum varve_code vv_build_named_steps(struct vv_model *model, struct varve_error *error)
{
    struct convention said = { model->step_by, VARVE_LAYER_ALL, VV_STEP_RANGE, 1 };
    struct inference inference = { .model = model, .conventions = conventions,
                                   .convention_count = CONVENTION_COUNT };
    if (model->step_by != NULL) {
        bool is_anchor = strncmp(model->step_by, "..", 2) == 0;
        said.word += is_anchor ? 2 : 0;
        said.origin = is_anchor ? VV_STEP_ANCHOR : VV_STEP_RANGE;
        inference.conventions = &said;
        inference.convention_count = 1;
        forget_steps(model);
    }
    enum varve_code code = infer(&inference, error);
    free(inference.by_string);
    free(inference.loop_words);
    free(inference.is_served);
    free(inference.of_scope);
    free(inference.of_process);
    free(inference.candidates);
    if (code == VARVE_OK && model->step_by != NULL && model->steps.table.count == 0)
        code = vv_fail(error, VARVE_INVALID, "no range '%s' in this trace to take for steps",
                       said.word);
    return code;
}
