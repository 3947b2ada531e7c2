/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/critical/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/critical/members.h"
#include "derive/select/median_step.h"
#include "meaning/hta_rules.h"

static void widen(struct vv_critical_window *window, int64_t begin_ns, int64_t end_ns,
                  uint32_t slice)
{
    if (begin_ns < window->begin_ns || window->begin_ns == window->end_ns) {
        window->slice = slice;
        window->end_ns = window->begin_ns == window->end_ns ? end_ns : window->end_ns;
        window->begin_ns = begin_ns;
    }
    window->end_ns = end_ns > window->end_ns ? end_ns : window->end_ns;
}

/* ---- steps ---- */

static void take_step(struct vv_critical_windows *windows, const struct vv_scope *scope,
                      uint32_t step)
{
    const struct vv_steps *steps = &scope->model->steps;
    widen(&windows->items[vv_window_of_track(windows, scope->model, steps->track[step])],
          steps->begin_ns[step], steps->begin_ns[step] + steps->duration_ns[step],
          steps->slice[step]);
}

/* Takes the same step of every rank: the step with its number. If a rank has the number more than
 * once, the nearest in time counts. */
static enum varve_code take_everywhere(struct vv_critical_windows *windows,
                                       const struct vv_scope *scope, uint32_t step,
                                       struct varve_error *error)
{
    const struct vv_steps *steps = &scope->model->steps;
    uint32_t *nearest;
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &nearest, windows->count, error));
    memset(nearest, 0xff, windows->count * sizeof *nearest);
    for (uint32_t s = 0; s < steps->table.count; s++) {
        uint32_t *best = &nearest[vv_window_of_track(windows, scope->model, steps->track[s])];
        if (scope->steps[s] && steps->index[s] == steps->index[step] &&
            (*best == VV_NONE || llabs(steps->begin_ns[s] - steps->begin_ns[step]) <
                                     llabs(steps->begin_ns[*best] - steps->begin_ns[step])))
            *best = s;
    }
    for (uint32_t i = 0; i < windows->count; i++)
        if (nearest[i] != VV_NONE)
            take_step(windows, scope, nearest[i]);
    return VARVE_OK;
}

static enum varve_code choose_steps(struct vv_critical_windows *windows,
                                    const struct vv_scope *scope, bool are_named,
                                    struct varve_error *error)
{
    uint32_t step;
    if (are_named) {
        for (uint32_t s = 0; s < scope->model->steps.table.count; s++)
            if (scope->steps[s])
                take_step(windows, scope, s);
        snprintf(windows->says, sizeof windows->says, "%" PRIu64 " chosen step%s",
                 scope->step_count, scope->step_count == 1 ? "" : "s");
        return VARVE_OK;
    }
    VV_TRY(vv_median_step(scope, &step, error)); /* there is a median step */
    snprintf(windows->says, sizeof windows->says,
             "step %" PRId64 ", of median duration among %" PRIu64, scope->model->steps.index[step],
             scope->step_count);
    return take_everywhere(windows, scope, step, error);
}

/* ---- annotations ---- */

struct instance { int64_t place; uint32_t slice, window; };

struct search {
    const struct vv_scope *scope;
    const char *wanted;
    bool is_whole;                    /* the name must be equal, not only contain the text       */
    const struct vv_hta_rules *rules; /* NULL: Varve's own rules                                */
};

static int by_window_and_place(const void *a, const void *b)
{
    const struct instance *left = a, *right = b;
    if (left->window != right->window)
        return left->window < right->window ? -1 : 1;
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return (left->slice > right->slice) - (left->slice < right->slice);
}

/* HTA also takes ranges that are shown over a device, and drops the last step. */
static bool may_be_meant(const struct search *search, uint32_t slice)
{
    const struct vv_model *model = search->scope->model;
    uint32_t track = model->slices.track[slice], scope = vv_scope_of_track(model, track);
    if (search->rules == NULL || search->scope->tracks[track])
        return search->scope->tracks[track] &&
               (search->rules == NULL || search->rules->last_steps_ns == NULL ||
                vv_hta_times(search->rules, slice).begin_ns < search->rules->last_steps_ns[scope]);
    uint32_t activity = model->slices.activity[slice];
    return activity != VV_NONE && model->activities.kind[activity] == VV_ACTIVITY_ANNOTATION;
}

static bool is_meant(const struct search *search, uint32_t slice)
{
    const struct vv_model *model = search->scope->model;
    const char *name = vv_text_of(model, model->slices.name[slice]);
    bool is_called =
        search->is_whole ? strcmp(name, search->wanted) == 0 : strstr(name, search->wanted) != NULL;
    return is_called && may_be_meant(search, slice);
}

static uint32_t count_meant(const struct search *search)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < search->scope->model->slices.table.count; row++)
        count += is_meant(search, row);
    return count;
}

static enum varve_code take_instance(struct vv_critical_windows *windows,
                                     const struct search *search, int64_t instance,
                                     struct instance *found, struct varve_error *error)
{
    const struct vv_model *model = search->scope->model;
    const struct vv_slices *slices = &model->slices;
    size_t count = 0, most = 0;
    bool is_any = false;
    for (uint32_t row = 0; row < slices->table.count; row++)
        if (is_meant(search, row)) /* in order of time; HTA: in order of the file */
            found[count++] = (struct instance){ search->rules != NULL ? slices->order[row]
                                                                      : slices->begin_ns[row],
                                                row,
                                                vv_window_of_track(windows, model,
                                                                   slices->track[row]) };
    qsort(found, count, sizeof *found, by_window_and_place);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && found[last].window == found[first].window; last++)
            ;
        most = last - first > most ? last - first : most;
        if (instance < 0 || (uint64_t)instance >= last - first)
            continue;
        uint32_t slice = found[first + (size_t)instance].slice;
        widen(&windows->items[found[first].window], slices->begin_ns[slice],
              slices->begin_ns[slice] + slices->duration_ns[slice], slice);
        is_any = true;
    }
    if (!is_any)
        VV_FAIL(error, VARVE_INVALID,
                "no instance %" PRId64 " of '%.80s': it is there %zu times, counted from 0",
                instance, search->wanted, most);
    snprintf(windows->says, sizeof windows->says, "instance %" PRId64 " of '%.80s'", instance,
             search->wanted);
    return VARVE_OK;
}

static enum varve_code choose_annotation(struct vv_critical_windows *windows,
                                         const struct vv_scope *scope,
                                         const struct vv_question *question,
                                         const struct vv_hta_rules *rules,
                                         struct varve_error *error)
{
    struct search search = { scope, question->annotation, rules == NULL, rules };
    uint32_t count = count_meant(&search);
    if (count == 0 && search.is_whole) {
        search.is_whole = false;
        count = count_meant(&search);
    }
    if (count == 0)
        VV_FAIL(error, VARVE_INVALID, "no range '%.80s' on the chosen threads of this trace",
                question->annotation);
    struct instance *found;
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &found, count, error));
    return take_instance(windows, &search, question->instance, found, error);
}

static enum varve_code choose_range(struct vv_critical_windows *windows,
                                    const struct vv_scope *scope,
                                    const struct vv_question *question, struct varve_error *error)
{
    struct vv_hta_rules rules;
    if (!vv_asks_hta(question))
        return choose_annotation(windows, scope, question, NULL, error);
    VV_TRY(vv_hta_rules_init(&rules, scope->model, scope->scratch, error));
    return choose_annotation(windows, scope, question, &rules, error);
}

/* ---- all together ---- */

static enum varve_code choose(struct vv_critical_windows *windows, const struct vv_scope *scope,
                              const struct vv_question *question, struct varve_error *error)
{
    bool are_named =
        question->selection.first_step != INT64_MIN || question->selection.last_step != INT64_MAX;
    if (question->annotation != NULL && are_named)
        VV_FAIL(error, VARVE_INVALID, "one window at a time: --annotation or --steps");
    if (question->annotation != NULL && question->annotation[0] != '\0')
        return choose_range(windows, scope, question, error);
    if (scope->step_count > 0 && question->annotation == NULL)
        return choose_steps(windows, scope, are_named, error);
    for (uint32_t i = 0; i < windows->count; i++)
        windows->items[i] = (struct vv_critical_window){ INT64_MIN, INT64_MAX, VV_NONE };
    snprintf(windows->says, sizeof windows->says, "the whole trace");
    return VARVE_OK;
}

/* What belongs to no rank of a scope counts while one of its ranks has its window. */
static void cover_ranks(struct vv_critical_windows *windows, const struct vv_model *model)
{
    for (uint32_t p = 0; p < model->processes.table.count; p++) {
        uint32_t own = windows->of_process[p], scope = model->processes.scope[p];
        const struct vv_critical_window *window = &windows->items[own];
        if (own != scope && window->begin_ns != window->end_ns)
            widen(&windows->items[scope], window->begin_ns, window->end_ns, window->slice);
    }
}

enum varve_code vv_critical_windows_init(struct vv_critical_windows *windows,
                                         const struct vv_scope *scope,
                                         const struct vv_question *question,
                                         const struct vv_host_collectives *collectives,
                                         struct varve_error *error)
{
    *windows = (struct vv_critical_windows){ 0 };
    VV_TRY(vv_critical_members(scope, collectives, &windows->of_process, &windows->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &windows->items, windows->count, error));
    for (uint32_t i = 0; i < windows->count; i++)
        windows->items[i] = (struct vv_critical_window){ 0, 0, VV_NONE };
    VV_TRY(choose(windows, scope, question, error));
    cover_ranks(windows, scope->model);
    return VARVE_OK;
}
