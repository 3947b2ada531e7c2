/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/diff/samples.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "derive/devices/device_work.h"
#include "derive/operators/own_time.h"

/* ---- names without addresses ---- */

/* The id in `texts` of a name without addresses and without a step's number. */
static enum varve_code add_text(struct vv_intern *texts, const char *name, uint32_t *out_id,
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
    if (*cursor != '\0') /* the name is too long to shorten: keep it as it is */
        return vv_intern_add(texts, name, strlen(name), out_id, error);
    return vv_intern_add(texts, text, length, out_id, error);
}

/* Maps strings of one side to ids of the texts of both sides. The map is filled when a string is
 * first used. */
struct words {
    const struct vv_model *model;
    uint32_t *ids; /* string -> id in texts + 1; 0 = not yet used                               */
};

static enum varve_code word(struct vv_diff_samples *samples, struct words *words, uint32_t string,
                            uint32_t *out_id, struct varve_error *error)
{
    if (words->ids[string] == 0) {
        VV_TRY(add_text(samples->texts, vv_text_of(words->model, string), out_id, error));
        words->ids[string] = *out_id + 1;
    }
    *out_id = words->ids[string] - 1;
    return VARVE_OK;
}

/* ---- steps ---- */

static enum varve_code take_steps(struct vv_diff_side *side, const struct vv_side *from,
                                  struct vv_scratch *scratch, struct varve_error *error)
{
    size_t steps = from->model->steps.table.count + 1;
    VV_TRY(vv_scope_init(&side->scope, from->model, &from->selection, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &side->step_of, steps, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &side->step_ns, steps, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &side->outside_ns, steps, error));
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
                                     struct vv_scratch *scratch, struct varve_error *error)
{
    *samples = (struct vv_diff_samples){ .scratch = scratch, .groups = { .scratch = scratch } };
    VV_TRY(vv_intern_in(scratch, &samples->texts, error));
    for (int i = 0; i < VV_SIDES; i++)
        VV_TRY(take_steps(&samples->sides[i], &sides[i], scratch, error));
    if (samples->sides[VV_BASE].by_step && samples->sides[VV_NEW].by_step)
        return VARVE_OK;
    for (int i = 0; i < VV_SIDES; i++) {
        samples->sides[i].by_step = false;
        samples->sides[i].step_count = 1;
        samples->sides[i].step_ns[0] = 0;
    }
    return VARVE_OK;
}

/* ---- groups ---- */

/* Finds or adds the group, and gives it zeroed sums on both sides. */
static enum varve_code group_of(struct vv_diff_samples *samples, uint32_t name, uint32_t shapes,
                                uint32_t *out_group, struct varve_error *error)
{
    VV_TRY(vv_groups_add(&samples->groups, name, shapes, out_group, error));
    if (*out_group < samples->sum_capacity)
        return VARVE_OK;
    size_t former = samples->sum_capacity, capacity = former;
    for (int i = 0; i < VV_SIDES; i++) {
        struct vv_diff_sum **sums = &samples->sides[i].sums;
        capacity = former;
        VV_TRY(
            VV_SCRATCH_RESERVE(samples->scratch, sums, &capacity, (size_t)*out_group + 1, error));
        memset(*sums + former, 0, (capacity - former) * sizeof **sums);
    }
    samples->sum_capacity = capacity;
    return VARVE_OK;
}

static enum varve_code add_entry(struct vv_diff_side *side, uint32_t group, uint32_t step,
                                 int64_t self_ns, struct varve_error *error)
{
    side->sums[group].self_ns += self_ns;
    VV_TRY(VV_SCRATCH_RESERVE(side->scope.scratch, &side->entries, &side->entry_capacity,
                              side->entry_count + 1, error));
    side->entries[side->entry_count++] = (struct vv_diff_entry_ns){ group, step, self_ns };
    return VARVE_OK;
}

/* ---- operators ---- */

struct gathering {
    struct vv_diff_samples *samples;
    struct vv_diff_side *side;
    struct words words;
    uint32_t *group;  /* slice -> group; VV_NONE: no operator, or not chosen                    */
    uint32_t *stack;
    int64_t *own_ns;
};

/* Every operator of a chosen step counts as a call, on any thread. Direct recursion counts once, as
 * in table "operators". */
static enum varve_code count_calls(struct gathering *gathering, bool by_shape,
                                   struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    const struct vv_model *model = side->scope.model;
    for (uint32_t row = 0; row < model->slices.table.count; row++) {
        uint32_t step = model->slices.step[row], op = model->slices.op[row], name, shapes = 0;
        gathering->group[row] = VV_NONE;
        bool is_in = side->by_step ? step != VV_NONE && side->step_of[step] != VV_NONE : true;
        if (!is_in || !side->scope.tracks[model->slices.track[row]] ||
            !vv_is_operator(model, row) || !vv_scope_holds(&side->scope, row))
            continue;
        VV_TRY(word(gathering->samples, &gathering->words, model->slices.name[row], &name, error));
        if (by_shape && op != VV_NONE)
            VV_TRY(
                word(gathering->samples, &gathering->words, model->ops.shapes[op], &shapes, error));
        VV_TRY(group_of(gathering->samples, name, shapes, &gathering->group[row], error));
        uint32_t parent = model->slices.parent[row];
        if (parent != VV_NONE && gathering->group[parent] == gathering->group[row])
            continue;
        side->sums[gathering->group[row]].calls++;
        side->sums[gathering->group[row]].total_ns += model->slices.duration_ns[row];
    }
    return VARVE_OK;
}

static enum varve_code add_rows(struct gathering *gathering, uint32_t first, uint32_t last,
                                uint32_t step, struct varve_error *error)
{
    for (uint32_t row = first; row < last; row++) {
        if (gathering->group[row] != VV_NONE)
            VV_TRY(add_entry(gathering->side, gathering->group[row], step, gathering->own_ns[row],
                             error));
        else
            gathering->side->outside_ns[step] += gathering->own_ns[row];
    }
    return VARVE_OK;
}

static enum varve_code add_step(struct gathering *gathering, uint32_t row,
                                struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    const struct vv_model *model = side->scope.model;
    uint32_t first, last, number = side->step_of[row];
    int64_t duration_ns = model->steps.duration_ns[row];
    vv_step_rows(model, row, &first, &last);
    int64_t inside_ns =
        vv_own_time(&model->slices, first, last, model->steps.begin_ns[row] + duration_ns,
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

/* ---- calling paths ---- */

/* The rows of a step on its own thread. A row's group is (its name, group of the row around it
 * + 1). */
static enum varve_code add_paths_of_step(struct gathering *gathering, uint32_t row,
                                         struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    const struct vv_model *model = side->scope.model;
    const struct vv_slices *slices = &model->slices;
    uint32_t first, last, name, number = side->step_of[row];
    int64_t end_ns = model->steps.begin_ns[row] + model->steps.duration_ns[row];
    vv_step_rows(model, row, &first, &last);
    side->outside_ns[number] +=
        model->steps.duration_ns[row] -
        vv_own_time(slices, first, last, end_ns, gathering->stack, gathering->own_ns);
    for (uint32_t i = first; i < last; i++) {
        uint32_t parent = slices->parent[i], above = 0;
        int64_t left_ns = end_ns - slices->begin_ns[i];
        if (parent != VV_NONE && parent >= first && parent < i)
            above = gathering->group[parent] + 1;
        VV_TRY(word(gathering->samples, &gathering->words, slices->name[i], &name, error));
        VV_TRY(group_of(gathering->samples, name, above, &gathering->group[i], error));
        struct vv_diff_sum *sum = &side->sums[gathering->group[i]];
        sum->calls++;
        sum->total_ns += slices->duration_ns[i] < left_ns ? slices->duration_ns[i] : left_ns;
        VV_TRY(add_entry(side, gathering->group[i], number, gathering->own_ns[i], error));
    }
    return VARVE_OK;
}

/* ---- both sides ---- */

enum what { OPERATORS, OPERATORS_BY_SHAPE, PATHS };

static enum varve_code gather(struct gathering *gathering, enum what what,
                              struct varve_error *error)
{
    struct vv_diff_side *side = gathering->side;
    if (what != PATHS)
        VV_TRY(count_calls(gathering, what == OPERATORS_BY_SHAPE, error));
    if (!side->by_step)
        return add_whole(gathering, error);
    for (uint32_t s = 0; s < side->scope.model->steps.table.count; s++)
        if (side->step_of[s] != VV_NONE)
            VV_TRY(what == PATHS ? add_paths_of_step(gathering, s, error)
                                 : add_step(gathering, s, error));
    return VARVE_OK;
}

static enum varve_code add_side(struct vv_diff_samples *samples, struct vv_diff_side *side,
                                enum what what, struct vv_scratch *own, struct varve_error *error)
{
    const struct vv_model *model = side->scope.model;
    size_t rows = (size_t)model->slices.table.count;
    struct gathering gathering = { .samples = samples, .side = side, .words = { .model = model } };
    VV_TRY(VV_SCRATCH_ZEROS(own, &gathering.words.ids, model->strings.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &gathering.group, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &gathering.stack, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &gathering.own_ns, rows, error));
    return gather(&gathering, what, error);
}

static enum varve_code add_sides(struct vv_diff_samples *samples, enum what what,
                                 struct varve_error *error)
{
    struct vv_scratch of_side = { 0 };
    enum varve_code code = VARVE_OK;
    for (int i = 0; i < VV_SIDES && code == VARVE_OK; i++) {
        code = add_side(samples, &samples->sides[i], what, &of_side, error);
        vv_scratch_deinit(&of_side);
    }
    return code;
}

enum varve_code vv_diff_add_operators(struct vv_diff_samples *samples, bool by_shape,
                                      struct varve_error *error)
{
    return add_sides(samples, by_shape ? OPERATORS_BY_SHAPE : OPERATORS, error);
}

enum varve_code vv_diff_add_paths(struct vv_diff_samples *samples, struct varve_error *error)
{
    return add_sides(samples, PATHS, error);
}

/* ---- device work ---- */

/* The number of the step that launched the work, or in which it begins; VV_NONE: in no chosen
 * step. */
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
                                const struct vv_device_work *work, bool by_launch,
                                struct varve_error *error)
{
    const struct vv_model *model = side->scope.model;
    struct words words = { .model = model };
    VV_TRY(VV_SCRATCH_ZEROS(samples->scratch, &words.ids, model->strings.count, error));
    for (size_t i = 0; i < work->count; i++) {
        uint32_t slice = model->activities.slice[work->items[i].activity], name = 0, group = 0;
        uint32_t step = step_of_work(side, work->items[i].activity, by_launch);
        int64_t duration_ns = model->slices.duration_ns[slice];
        if (step == VV_NONE)
            continue;
        VV_TRY(word(samples, &words, model->slices.name[slice], &name, error));
        VV_TRY(group_of(samples, name, 0, &group, error));
        side->sums[group].calls++;
        side->sums[group].total_ns += duration_ns;
        VV_TRY(add_entry(side, group, step, duration_ns, error));
    }
    return VARVE_OK;
}

enum varve_code vv_diff_add_kernels(struct vv_diff_samples *samples, const struct vv_side *sides,
                                    struct varve_error *error)
{
    struct vv_device_work work[VV_SIDES];
    bool by_launch = false;
    for (int i = 0; i < VV_SIDES; i++) {
        VV_TRY(vv_device_work_init(&work[i], &samples->sides[i].scope, sides[i].selection.device,
                                   error));
        by_launch |= work[i].unlinked < work[i].count;
    }
    for (int i = 0; i < VV_SIDES; i++)
        VV_TRY(add_work(samples, &samples->sides[i], &work[i], by_launch, error));
    return VARVE_OK;
}

/* ---- samples ---- */

enum varve_code vv_diff_order(struct vv_diff_samples *samples, struct varve_error *error)
{
    struct vv_scratch *scratch = samples->scratch;
    for (int i = 0; i < VV_SIDES; i++) {
        struct vv_diff_side *side = &samples->sides[i];
        struct vv_keyed_row *keys;
        struct vv_diff_entry_ns *ordered;
        VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, side->entry_count, error));
        VV_TRY(VV_SCRATCH_ARRAY(scratch, &ordered, side->entry_count, error));
        for (size_t e = 0; e < side->entry_count; e++)
            keys[e] = (struct vv_keyed_row){ side->entries[e].group, (uint32_t)e };
        VV_TRY(vv_radix_sort(keys, side->entry_count, error));
        for (size_t e = 0; e < side->entry_count; e++)
            ordered[e] = side->entries[keys[e].row];
        vv_scratch_release(scratch, keys);
        vv_scratch_release(scratch, side->entries);
        side->entries = ordered;
    }
    return VARVE_OK;
}

void vv_diff_values(const struct vv_diff_side *side, uint32_t group, size_t first, int64_t *values)
{
    memset(values, 0, side->step_count * sizeof *values);
    for (size_t e = first; e < side->entry_count && side->entries[e].group == group; e++)
        values[side->entries[e].step] += side->entries[e].self_ns;
}
