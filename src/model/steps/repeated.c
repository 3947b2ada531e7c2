/* SPDX-License-Identifier: Apache-2.0 */
/* repeated.c — takes steps from what repeats itself, for inputs (scopes) without any step.
 * First it tries the longest repeat on the stream with the most device work: each time of the
 * repeat begins with the call that launches its first kernel. If there is no repeat, it tries the
 * operators of the thread with the most operators. doc/metrics.md §6, §15.
 *
 * The repeat must usually take longer than the rest of the sequence, and the sequence must be at
 * least SEQUENCE_LEAST long, so that neither a few odd events nor a short loop make steps. What
 * tokens usually take does not depend on how busy the machine was in between. Nor are the rounds of
 * one thread of a pool steps. */
#include <stdlib.h>
#include <string.h>

#include "model/steps/anchors.h"
#include "model/steps/infer.h"
#include "model/steps/repeats.h"
#include "varve/varve.h"

#define SEQUENCE_LEAST 32u
#define OFTEN 3u
#define SEARCHED_MAX (UINT32_C(1) << 20) /* the first part of a longer one shows the period */

/* The first slices of a track that count, in order of time. */
struct sequence {
    uint32_t *rows, *names;
    size_t count;
    uint32_t track, next, limit; /* the track's rows from `next` on have not been read yet */
    int64_t end_ns;              /* of the last */
};

struct inference {
    struct vv_model *model;
    uint32_t *counts; /* track -> number of slices that count */
    struct sequence sequence;
};

static bool is_device_work(const struct vv_model *model, uint32_t slice)
{
    uint32_t activity = model->slices.activity[slice];
    return activity != VV_NONE && model->activities.kind[activity] >= VV_ACTIVITY_KERNEL &&
           model->activities.kind[activity] <= VV_ACTIVITY_SET;
}

/* Device work counts on a device's track, operators on a thread. */
static uint32_t count_of_track(const struct vv_model *model, uint32_t track)
{
    uint32_t row, limit = vv_rows_of_track(model, track, &row), count = 0;
    const uint16_t *layer = model->slices.layer;
    if (model->tracks.kind[track] == VV_TRACK_THREAD)
        for (; row < limit; row++)
            count += layer[row] == VARVE_LAYER_OP;
    else
        for (; row < limit; row++)
            count += is_device_work(model, row);
    return count;
}

/* The track of a kind with the most slices that count, in a scope; VV_NONE. */
static uint32_t main_track(const struct inference *inference, uint32_t scope, bool is_thread)
{
    const struct vv_model *model = inference->model;
    uint32_t best = VV_NONE;
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        if ((model->tracks.kind[t] == VV_TRACK_THREAD) == is_thread &&
            inference->counts[t] > 0 && vv_scope_of_track(model, t) == scope &&
            (best == VV_NONE || inference->counts[t] > inference->counts[best]))
            best = t;
    }
    return best;
}

/* Reads on, up to `most` slices that count; of nested operators only the outermost. */
static enum varve_code read_sequence(struct inference *inference, size_t most,
                                     struct varve_error *error)
{
    const struct vv_model *model = inference->model;
    const struct vv_slices *slices = &model->slices;
    struct sequence *sequence = &inference->sequence;
    bool is_thread = model->tracks.kind[sequence->track] == VV_TRACK_THREAD;
    uint32_t *rows = realloc(sequence->rows, most * sizeof *rows);
    sequence->rows = rows != NULL ? rows : sequence->rows;
    uint32_t *names = realloc(sequence->names, most * sizeof *names);
    sequence->names = names != NULL ? names : sequence->names;
    if (rows == NULL || names == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look for repeats in %zu", most);
    uint32_t row = sequence->next;
    for (; row < sequence->limit && sequence->count < most; row++) {
        bool counts = is_thread ? slices->layer[row] == VARVE_LAYER_OP &&
                                      slices->begin_ns[row] >= sequence->end_ns
                                : is_device_work(model, row);
        if (!counts)
            continue;
        sequence->end_ns = slices->begin_ns[row] + slices->duration_ns[row];
        rows[sequence->count] = row;
        names[sequence->count++] = slices->name[row];
    }
    sequence->next = row;
    return VARVE_OK;
}

/* The repeat with the tokens after it that go on repeating. */
static struct vv_repeat prolong(const struct sequence *sequence, struct vv_repeat repeat)
{
    size_t end = (size_t)repeat.start + repeat.length;
    while (end < sequence->count && sequence->names[end] == sequence->names[end - repeat.period])
        end++;
    repeat.length = (uint32_t)(end - repeat.start);
    return repeat;
}

/* What a token takes: up to the begin of the next one. */
static int64_t time_of(const struct vv_model *model, const struct sequence *sequence, size_t token)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t row = sequence->rows[token];
    return token + 1 < sequence->count
               ? slices->begin_ns[sequence->rows[token + 1]] - slices->begin_ns[row]
               : slices->duration_ns[row];
}

/* The number that is at `rank` once the numbers are in order; it reorders them. */
static int64_t select_number(int64_t *numbers, ptrdiff_t count, ptrdiff_t rank)
{
    ptrdiff_t first = 0, last = count - 1;
    while (first < last) {
        int64_t pivot = numbers[first + (last - first) / 2];
        ptrdiff_t i = first, j = last;
        while (i <= j) {
            while (numbers[i] < pivot)
                i++;
            while (numbers[j] > pivot)
                j--;
            if (i <= j) {
                int64_t number = numbers[i];
                numbers[i++] = numbers[j];
                numbers[j--] = number;
            }
        }
        if (rank > j && rank < i)
            break;
        *(rank <= j ? &last : &first) = rank <= j ? j : i;
    }
    return numbers[rank];
}

/* What tokens usually take: each as long as the median one of its name. So a pause in between, or
 * a token that had to wait for a processor, makes no difference. Of a name that is there less than
 * OFTEN times nothing is usual: a pause after it does not count. */
static enum varve_code find_usual_times(const struct vv_model *model,
                                        const struct sequence *sequence, int64_t *usual_ns,
                                        struct varve_error *error)
{
    uint32_t strings = model->strings.count;
    size_t *ends = calloc((size_t)strings + 1, sizeof *ends);
    int64_t *times_ns = malloc(sequence->count * sizeof *times_ns);
    bool has_room = ends != NULL && times_ns != NULL;
    for (size_t i = 0; has_room && i < sequence->count; i++)
        ends[sequence->names[i] + 1]++;
    for (uint32_t name = 0; has_room && name < strings; name++)
        ends[name + 1] += ends[name];
    for (size_t i = 0; has_room && i < sequence->count; i++) /* ends[name] grows from its begin */
        times_ns[ends[sequence->names[i]]++] = time_of(model, sequence, i);
    for (uint32_t name = 0; has_room && name < strings; name++) {
        size_t begin = name > 0 ? ends[name - 1] : 0, count = ends[name] - begin;
        usual_ns[name] = count < OFTEN ? -1
                                       : select_number(&times_ns[begin], (ptrdiff_t)count,
                                                       (ptrdiff_t)(count / 2));
    }
    free(ends);
    free(times_ns);
    if (!has_room)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu times", sequence->count);
    return VARVE_OK;
}

/* What `count` tokens usually take. */
static double sum_usual(const struct vv_model *model, const struct sequence *sequence,
                        const int64_t *usual_ns, size_t first, size_t count)
{
    double sum_ns = 0;
    for (size_t i = first; i < first + count; i++) {
        int64_t time_ns = usual_ns[sequence->names[i]];
        sum_ns += (double)(time_ns >= 0 ? time_ns
                                        : model->slices.duration_ns[sequence->rows[i]]);
    }
    return sum_ns;
}

/* Of the repeats of two or more tokens the one that usually takes longest, if it usually takes
 * longer than all tokens outside of it. */
static enum varve_code choose_repeat(const struct vv_model *model, const struct sequence *sequence,
                                     const struct vv_repeats *repeats, struct vv_repeat *out,
                                     struct varve_error *error)
{
    double most_ns = 0;
    int64_t *usual_ns = malloc(((size_t)model->strings.count + 1) * sizeof *usual_ns);
    if (usual_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu times", sequence->count);
    enum varve_code code = find_usual_times(model, sequence, usual_ns, error);
    double all_ns = code == VARVE_OK ? sum_usual(model, sequence, usual_ns, 0, sequence->count) : 0;
    for (size_t i = 0; code == VARVE_OK && i < repeats->count; i++) {
        struct vv_repeat repeat = prolong(sequence, repeats->items[i]);
        if (repeat.period < 2) /* a loop of one token has as many times as there are tokens */
            continue;
        double inside_ns = sum_usual(model, sequence, usual_ns, repeat.start, repeat.length);
        if (inside_ns > most_ns && inside_ns > all_ns - inside_ns) {
            most_ns = inside_ns;
            *out = repeat;
        }
    }
    free(usual_ns);
    return code;
}

static bool has_one_name(const struct sequence *sequence)
{
    for (size_t i = 1; i < sequence->count; i++)
        if (sequence->names[i] != sequence->names[0])
            return false;
    return true;
}

static bool has_long_period(const struct vv_repeats *repeats)
{
    for (size_t i = 0; i < repeats->count; i++)
        if (repeats->items[i].period > 1)
            return true;
    return false;
}

/* Reads the whole sequence only if its first part repeats itself. */
static enum varve_code find_repeat(struct inference *inference, uint32_t track,
                                   struct vv_repeat *out, struct varve_error *error)
{
    struct sequence *sequence = &inference->sequence;
    struct vv_repeats repeats = { 0 };
    size_t all = inference->counts[track];
    *out = (struct vv_repeat){ 0 };
    sequence->track = track;
    sequence->count = 0;
    sequence->limit = vv_rows_of_track(inference->model, track, &sequence->next);
    sequence->end_ns = INT64_MIN;
    VV_TRY(read_sequence(inference, all < SEARCHED_MAX ? all : SEARCHED_MAX, error));
    if (sequence->count < SEQUENCE_LEAST || has_one_name(sequence))
        return VARVE_OK;
    enum varve_code code = vv_repeats_find(sequence->names, sequence->count, &repeats, error);
    if (code == VARVE_OK && has_long_period(&repeats)) {
        code = read_sequence(inference, all, error);
        if (code == VARVE_OK)
            code = choose_repeat(inference->model, sequence, &repeats, out, error);
    }
    vv_repeats_deinit(&repeats);
    return code;
}

/* The host slice of a token: the operator itself, or the call that launched the device work.
 * VV_NONE if there is none, or if it is not on `*track`; *track VV_NONE accepts any and is then
 * set. */
static uint32_t host_slice(const struct vv_model *model, uint32_t slice, uint32_t *track)
{
    if (model->tracks.kind[model->slices.track[slice]] != VV_TRACK_THREAD)
        slice = model->activities.launch[model->slices.activity[slice]];
    if (slice == VV_NONE || (*track != VV_NONE && model->slices.track[slice] != *track))
        return VV_NONE;
    *track = model->slices.track[slice];
    return model->tracks.kind[*track] == VV_TRACK_THREAD ? slice : VV_NONE;
}

/* Finds where each time of the repeat begins on the host, and where the last one ends. False if the
 * host slices do not say it. */
static bool place_times(const struct vv_model *model, const struct sequence *sequence,
                        const struct vv_repeat *repeat, int64_t *bounds_ns, uint32_t *out_track)
{
    uint32_t times = repeat->length / repeat->period,
             last = repeat->start + times * repeat->period - 1;
    *out_track = VV_NONE;
    for (uint32_t i = 0; i < times; i++) {
        uint32_t slice =
            host_slice(model, sequence->rows[repeat->start + i * repeat->period], out_track);
        if (slice == VV_NONE)
            return false;
        bounds_ns[i] = model->slices.begin_ns[slice];
        if (i > 0 && bounds_ns[i] <= bounds_ns[i - 1])
            return false;
    }
    uint32_t slice = host_slice(model, sequence->rows[last], out_track);
    if (slice == VV_NONE)
        return false;
    bounds_ns[times] = model->slices.begin_ns[slice] + model->slices.duration_ns[slice];
    return bounds_ns[times] > bounds_ns[times - 1];
}

static enum varve_code add_steps(struct vv_model *model, const int64_t *bounds_ns, uint32_t times,
                                 uint32_t track, struct varve_error *error)
{
    for (uint32_t i = 0; i < times; i++) {
        uint32_t row;
        VV_TRY(vv_model_add_step(model, &row, error));
        model->steps.index[row] = i;
        model->steps.begin_ns[row] = bounds_ns[i];
        model->steps.duration_ns[row] = bounds_ns[i + 1] - bounds_ns[i];
        model->steps.track[row] = track;
        model->steps.origin[row] = VV_STEP_REPEAT;
    }
    return VARVE_OK;
}

/* Counts what other threads of the track's process run, by name. */
static void count_others(const struct vv_model *model, uint32_t track, uint32_t *by_name)
{
    for (uint32_t t = 0; t < model->tracks.table.count; t++) {
        uint32_t row, limit = vv_rows_of_track(model, t, &row);
        if (t == track || model->tracks.kind[t] != VV_TRACK_THREAD ||
            model->tracks.process[t] != model->tracks.process[track])
            continue;
        for (; row < limit; row++)
            by_name[model->slices.name[row]] += model->slices.layer[row] == VARVE_LAYER_OP;
    }
}

/* Do other threads run each operator of the repeat half as often or more? Then they are a pool, and
 * the rounds of one of its threads are no steps. */
static enum varve_code is_of_a_pool(const struct inference *inference, uint32_t track,
                                    const struct vv_repeat *repeat, bool *out_is,
                                    struct varve_error *error)
{
    const struct vv_model *model = inference->model;
    const uint32_t *period = inference->sequence.names + repeat->start;
    *out_is = model->tracks.kind[track] == VV_TRACK_THREAD;
    if (!*out_is)
        return VARVE_OK;
    uint32_t *by_name = calloc((size_t)model->strings.count + 1, sizeof *by_name);
    if (by_name == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look for pools of threads");
    count_others(model, track, by_name);
    for (uint32_t i = 0; i < repeat->period; i++)
        *out_is &= 2 * by_name[period[i]] >= repeat->length / repeat->period;
    free(by_name);
    return VARVE_OK;
}

static enum varve_code try_track(struct inference *inference, uint32_t track, bool *out_is_done,
                                 struct varve_error *error)
{
    struct vv_repeat repeat;
    *out_is_done = false;
    if (track == VV_NONE)
        return VARVE_OK;
    VV_TRY(find_repeat(inference, track, &repeat, error));
    if (repeat.length == 0)
        return VARVE_OK;
    bool is_pool;
    VV_TRY(is_of_a_pool(inference, track, &repeat, &is_pool, error));
    if (is_pool)
        return VARVE_OK;
    uint32_t times = repeat.length / repeat.period, host_track;
    int64_t *bounds_ns = malloc((times + 1) * sizeof *bounds_ns);
    if (bounds_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %u steps", times);
    enum varve_code code = VARVE_OK;
    *out_is_done =
        place_times(inference->model, &inference->sequence, &repeat, bounds_ns, &host_track);
    if (*out_is_done)
        code = add_steps(inference->model, bounds_ns, times, host_track, error);
    free(bounds_ns);
    return code;
}

static enum varve_code infer(struct inference *inference, const bool *has_steps, uint32_t scopes,
                             struct varve_error *error)
{
    const struct vv_model *model = inference->model;
    uint32_t tracks = (uint32_t)model->tracks.table.count;
    inference->counts = calloc((size_t)tracks + 1, sizeof *inference->counts);
    if (inference->counts == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look for repeats on %u tracks", tracks);
    for (uint32_t t = 0; t < tracks; t++)
        if (!has_steps[vv_scope_of_track(model, t)])
            inference->counts[t] = count_of_track(model, t);
    for (uint32_t scope = 0; scope < scopes; scope++) {
        bool is_done = has_steps[scope];
        if (!is_done)
            VV_TRY(try_track(inference, main_track(inference, scope, false), &is_done, error));
        if (!is_done)
            VV_TRY(try_track(inference, main_track(inference, scope, true), &is_done, error));
    }
    return VARVE_OK;
}

enum varve_code vv_build_repeated_steps(struct vv_model *model, struct varve_error *error)
{
    struct inference inference = { .model = model };
    uint32_t scopes;
    bool *has_steps = vv_scopes_with_steps(model, &scopes);
    enum varve_code code = VARVE_OK;
    if (has_steps == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look for steps");
    if (memchr(has_steps, false, scopes * sizeof(bool)) != NULL)
        code = infer(&inference, has_steps, scopes, error);
    free(has_steps);
    free(inference.counts);
    free(inference.sequence.rows);
    free(inference.sequence.names);
    return code;
}
