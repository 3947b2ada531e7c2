/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/diff/samples.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/radix.h"
#include "derive/devices/device_work.h"
#include "derive/operators/own_time.h"

/* ---- names as they are compared ---- */

enum varve_code vv_diff_text(struct vv_intern *texts, const char *name, uint32_t *out_id,
                             struct varve_error *error)
{
    char text[1024];
    size_t length = 0;
    const char *cursor = name;
    while (*cursor != '\0' && length + 4 < sizeof text) {
        if (cursor[0] == '0' && cursor[1] == 'x' && isxdigit((unsigned char)cursor[2])) {
            memcpy(text + length, "0x", 2);
            length += 2;
            for (cursor += 2; isxdigit((unsigned char)*cursor);)
                cursor++;
        } else {
            text[length++] = *cursor++;
        }
    }
    if (*cursor != '\0') /* too long to shorten: as it is */
        return vv_intern_add(texts, name, strlen(name), out_id, error);
    return vv_intern_add(texts, text, length, out_id, error);
}

/* A side's strings by the ids of both: filled as they are met. */
struct words {
    const struct vv_model *model;
    uint32_t *ids; /* string -> id in texts + 1; 0 = not met                                    */
};

static enum varve_code word(struct vv_diff_samples *samples, struct words *words, uint32_t string, uint32_t *out_id,
                            struct varve_error *error)
{
    if (words->ids[string] == 0) {
        VV_TRY(vv_diff_text(&samples->texts, vv_text_of(words->model, string), out_id, error));
        words->ids[string] = *out_id + 1;
    }
    *out_id = words->ids[string] - 1;
    return VARVE_OK;
}

/* ---- steps ---- */

static enum varve_code take_steps(struct vv_diff_side *side, const struct vv_side *from, struct varve_error *error)
{
    VV_TRY(vv_scope_init(&side->scope, from->model, &from->selection, error));
    size_t steps = from->model->steps.table.count + 1;
    side->step_of = malloc(steps * sizeof *side->step_of);
    side->step_ns = calloc(steps, sizeof *side->step_ns);
    side->outside_ns = calloc(steps, sizeof *side->outside_ns);
    if (side->step_of == NULL || side->step_ns == NULL || side->outside_ns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu steps", steps);
    memset(side->step_of, 0xff, steps * sizeof *side->step_of);
    side->by_step = side->scope.step_count > 0;
    for (uint32_t s = 0; s < from->model->steps.table.count; s++) {
        if (!side->scope.steps[s])
            continue;
        side->step_ns[side->step_count] = from->model->steps.duration_ns[s];
        side->step_of[s] = (uint32_t)side->step_count++;
    }
    return VARVE_OK;
}

enum varve_code vv_diff_samples_init(struct vv_diff_samples *samples, const struct vv_side *sides,
                                     struct varve_error *error)
{
    *samples = (struct vv_diff_samples){ 0 };
    VV_TRY(vv_intern_init(&samples->texts, error));
    for (int i = 0; i < VV_SIDES; i++)
        VV_TRY(take_steps(&samples->sides[i], &sides[i], error));
    if (samples->sides[VV_BASE].by_step && samples->sides[VV_NEW].by_step)
        return VARVE_OK;
    for (int i = 0; i < VV_SIDES; i++) {
        samples->sides[i].by_step = false;
        samples->sides[i].step_count = 1;
        samples->sides[i].step_ns[0] = 0;
    }
    return VARVE_OK;
}

void vv_diff_samples_deinit(struct vv_diff_samples *samples)
{
    for (int i = 0; i < VV_SIDES; i++) {
        struct vv_diff_side *side = &samples->sides[i];
        vv_scope_deinit(&side->scope);
        free(side->step_of);
        free(side->step_ns);
        free(side->outside_ns);
        free(side->entries);
        free(side->sums);
    }
    vv_groups_deinit(&samples->groups);
    vv_intern_deinit(&samples->texts);
    *samples = (struct vv_diff_samples){ 0 };
}

/* ---- groups ---- */

/* The group, known to the sums of both sides. */
static enum varve_code group_of(struct vv_diff_samples *samples, uint32_t name, uint32_t shapes, uint32_t *out_group,
                                struct varve_error *error)
{
    VV_TRY(vv_groups_add(&samples->groups, name, shapes, out_group, error));
    if (*out_group < samples->sum_capacity)
        return VARVE_OK;
    size_t capacity = samples->sum_capacity * 2 + 64;
    for (int i = 0; i < VV_SIDES; i++) {
        struct vv_diff_sum *sums = reallocarray(samples->sides[i].sums, capacity, sizeof *sums);
        if (sums == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu groups", capacity);
        memset(sums + samples->sum_capacity, 0, (capacity - samples->sum_capacity) * sizeof *sums);
        samples->sides[i].sums = sums;
    }
    samples->sum_capacity = capacity;
    return VARVE_OK;
}

static enum varve_code add_entry(struct vv_diff_side *side, uint32_t group, uint32_t step, int64_t self_ns,
                                 struct varve_error *error)
{
    side->sums[group].self_ns += self_ns;
    VV_TRY(vv_array_reserve(&side->entries, &side->entry_capacity, side->entry_count + 1, sizeof *side->entries,
                            error));
    side->entries[side->entry_count++] = (struct vv_diff_entry_ns){ group, step, self_ns };
    return VARVE_OK;
}

/* ---- operators ---- */

struct gathering {
    struct vv_diff_samples *samples;
    struct vv_diff_side *side;
    struct words words;
    uint32_t *group;  /* by slice; VV_NONE: no operator, or not chosen                          */
    uint32_t *stack;
    int64_t *own_ns;
};

/* Every operator of a chosen step, on any thread, counts as a call; direct recursion once, as in "operators". */
static enum varve_code count_calls(struct gathering *gathering, bool by_shape, struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    const struct vv_model *model = side->scope.model;
    for (uint32_t row = 0; row < model->slices.table.count; row++) {
        uint32_t step = model->slices.step[row], op = model->slices.op[row], name, shapes = 0;
        gathering->group[row] = VV_NONE;
        bool is_in = side->by_step ? step != VV_NONE && side->step_of[step] != VV_NONE : true;
        if (!is_in || !side->scope.tracks[model->slices.track[row]] || !vv_is_operator(model, row) ||
            !vv_admits(&side->scope, row))
            continue;
        VV_TRY(word(gathering->samples, &gathering->words, model->slices.name[row], &name, error));
        if (by_shape && op != VV_NONE)
            VV_TRY(word(gathering->samples, &gathering->words, model->ops.shapes[op], &shapes, error));
        VV_TRY(group_of(gathering->samples, name, shapes, &gathering->group[row], error));
        uint32_t parent = model->slices.parent[row];
        if (parent != VV_NONE && gathering->group[parent] == gathering->group[row])
            continue;
        side->sums[gathering->group[row]].calls++;
        side->sums[gathering->group[row]].total_ns += model->slices.duration_ns[row];
    }
    return VARVE_OK;
}

static enum varve_code add_rows(struct gathering *gathering, uint32_t first, uint32_t last, uint32_t step,
                                struct varve_error *error)
{
    for (uint32_t row = first; row < last; row++) {
        if (gathering->group[row] != VV_NONE)
            VV_TRY(add_entry(gathering->side, gathering->group[row], step, gathering->own_ns[row], error));
        else
            gathering->side->outside_ns[step] += gathering->own_ns[row];
    }
    return VARVE_OK;
}

static enum varve_code add_step(struct gathering *gathering, uint32_t row, struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    const struct vv_model *model = side->scope.model;
    uint32_t first, last, number = side->step_of[row];
    int64_t duration_ns = model->steps.duration_ns[row];
    vv_step_rows(model, row, &first, &last);
    int64_t inside_ns = vv_own_time(&model->slices, first, last, model->steps.begin_ns[row] + duration_ns,
                                    gathering->stack, gathering->own_ns);
    side->outside_ns[number] += duration_ns - inside_ns;
    return add_rows(gathering, first, last, number, error);
}

static enum varve_code add_whole(struct gathering *gathering, struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    const struct vv_model *model = side->scope.model;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last;
        if (!side->scope.tracks[track])
            continue;
        vv_track_rows(model, track, &first, &last);
        side->step_ns[0] += vv_own_time(&model->slices, first, last, INT64_MAX, gathering->stack,
                                        gathering->own_ns);
        VV_TRY(add_rows(gathering, first, last, 0, error));
    }
    return VARVE_OK;
}

static enum varve_code gather(struct gathering *gathering, bool by_shape, struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    VV_TRY(count_calls(gathering, by_shape, error));
    if (!side->by_step)
        return add_whole(gathering, error);
    for (uint32_t s = 0; s < side->scope.model->steps.table.count; s++)
        if (side->step_of[s] != VV_NONE)
            VV_TRY(add_step(gathering, s, error));
    return VARVE_OK;
}

static enum varve_code add_side(struct vv_diff_samples *samples, struct vv_diff_side *side, bool by_shape,
                                struct varve_error *error)
{
    const struct vv_model *model = side->scope.model;
    size_t rows = (size_t)model->slices.table.count + 1;
    struct gathering gathering = {
        .samples = samples,
        .side = side,
        .words = { model, calloc(model->strings.count + 1, sizeof(uint32_t)) },
        .group = malloc(rows * sizeof *gathering.group),
        .stack = malloc(rows * sizeof *gathering.stack),
        .own_ns = malloc(rows * sizeof *gathering.own_ns),
    };
    enum varve_code code = VARVE_OK;
    if (gathering.words.ids == NULL || gathering.group == NULL || gathering.stack == NULL ||
        gathering.own_ns == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to sum %zu slices", rows - 1);
    if (code == VARVE_OK)
        code = gather(&gathering, by_shape, error);
    free(gathering.words.ids);
    free(gathering.group);
    free(gathering.stack);
    free(gathering.own_ns);
    return code;
}

enum varve_code vv_diff_add_operators(struct vv_diff_samples *samples, bool by_shape, struct varve_error *error)
{
    for (int i = 0; i < VV_SIDES; i++)
        VV_TRY(add_side(samples, &samples->sides[i], by_shape, error));
    return VARVE_OK;
}

/* ---- device work ---- */

/* The number of the step that launched it, or of the one in which it begins; VV_NONE: none. */
static uint32_t step_of_work(const struct vv_diff_side *side, uint32_t activity, bool by_launch)
{
    const struct vv_model *model = side->scope.model;
    uint32_t launch = model->activities.launch[activity];
    if (!side->by_step)
        return 0;
    if (by_launch) {
        uint32_t step = launch != VV_NONE ? model->slices.step[launch] : VV_NONE;
        return step != VV_NONE ? side->step_of[step] : VV_NONE;
    }
    int64_t begin_ns = model->slices.begin_ns[model->activities.slice[activity]];
    for (uint32_t s = 0; s < model->steps.table.count; s++)
        if (side->step_of[s] != VV_NONE && begin_ns >= model->steps.begin_ns[s] &&
            begin_ns < model->steps.begin_ns[s] + model->steps.duration_ns[s])
            return side->step_of[s];
    return VV_NONE;
}

static enum varve_code add_work(struct vv_diff_samples *samples, struct vv_diff_side *side,
                                const struct vv_device_work *work, bool by_launch, struct varve_error *error)
{
    const struct vv_model *model = side->scope.model;
    struct words words = { model, calloc(model->strings.count + 1, sizeof(uint32_t)) };
    enum varve_code code = VARVE_OK;
    if (words.ids == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of kernels");
    for (size_t i = 0; i < work->count && code == VARVE_OK; i++) {
        uint32_t slice = model->activities.slice[work->items[i].activity], name = 0, group = 0;
        uint32_t step = step_of_work(side, work->items[i].activity, by_launch);
        int64_t duration_ns = model->slices.duration_ns[slice];
        if (step == VV_NONE)
            continue;
        code = word(samples, &words, model->slices.name[slice], &name, error);
        if (code == VARVE_OK)
            code = group_of(samples, name, 0, &group, error);
        if (code != VARVE_OK)
            break;
        side->sums[group].calls++;
        side->sums[group].total_ns += duration_ns;
        code = add_entry(side, group, step, duration_ns, error);
    }
    free(words.ids);
    return code;
}

enum varve_code vv_diff_add_kernels(struct vv_diff_samples *samples, const struct vv_side *sides,
                                    struct varve_error *error)
{
    struct vv_device_work work[VV_SIDES] = { 0 };
    enum varve_code code = VARVE_OK;
    bool by_launch = false;
    for (int i = 0; i < VV_SIDES && code == VARVE_OK; i++) {
        code = vv_device_work_init(&work[i], &samples->sides[i].scope, sides[i].selection.device, error);
        by_launch |= work[i].unlinked < work[i].count;
    }
    for (int i = 0; i < VV_SIDES && code == VARVE_OK; i++)
        code = add_work(samples, &samples->sides[i], &work[i], by_launch, error);
    for (int i = 0; i < VV_SIDES; i++)
        vv_device_work_deinit(&work[i]);
    return code;
}

/* ---- samples ---- */

enum varve_code vv_diff_order(struct vv_diff_samples *samples, struct varve_error *error)
{
    for (int i = 0; i < VV_SIDES; i++) {
        struct vv_diff_side *side = &samples->sides[i];
        struct vv_keyed_row *keys = malloc((side->entry_count + 1) * sizeof *keys);
        struct vv_diff_entry_ns *ordered = malloc((side->entry_count + 1) * sizeof *ordered);
        enum varve_code code = VARVE_OK;
        if (keys == NULL || ordered == NULL)
            code = vv_fail(error, VARVE_NO_MEMORY, "no memory to order %zu samples", side->entry_count);
        for (size_t e = 0; e < side->entry_count && code == VARVE_OK; e++)
            keys[e] = (struct vv_keyed_row){ side->entries[e].group, (uint32_t)e };
        if (code == VARVE_OK)
            code = vv_radix_sort(keys, side->entry_count, error);
        for (size_t e = 0; e < side->entry_count && code == VARVE_OK; e++)
            ordered[e] = side->entries[keys[e].row];
        free(keys);
        if (code != VARVE_OK) {
            free(ordered);
            return code;
        }
        free(side->entries);
        side->entries = ordered;
    }
    return VARVE_OK;
}

void vv_diff_values(const struct vv_diff_side *side, uint32_t group, size_t *cursor, int64_t *values)
{
    memset(values, 0, side->step_count * sizeof *values);
    while (*cursor < side->entry_count && side->entries[*cursor].group < group)
        ++*cursor;
    for (; *cursor < side->entry_count && side->entries[*cursor].group == group; ++*cursor)
        values[side->entries[*cursor].step] += side->entries[*cursor].self_ns;
}
