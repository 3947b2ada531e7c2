/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/phase_split.h"

#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/radix.h"
#include "derive/select/running_collectives.h"
#include "meaning/phases.h"
#include "numbers/intervals.h"

static enum varve_code add_entry(struct vv_phase_split *split, const struct vv_phase_entry *entry,
                                 struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(split->phases.scratch, &split->entries, &split->capacity,
                              split->count + 1, error));
    split->entries[split->count++] = *entry;
    return VARVE_OK;
}

static enum varve_code split_step(const struct vv_scope *scope, struct vv_phase_split *split,
                                  uint32_t step, struct varve_error *error)
{
    const struct vv_slices *slices = &scope->model->slices;
    const struct vv_steps *steps = &scope->model->steps;
    int64_t step_end_ns = steps->begin_ns[step] + steps->duration_ns[step];
    int64_t covered_until_ns = steps->begin_ns[step];
    uint32_t first, last;
    vv_step_rows(scope->model, step, &first, &last);
    split->other_ns[step] = steps->duration_ns[step];
    for (uint32_t row = first; row < last; row++) {
        int64_t begin_ns = slices->begin_ns[row];
        int64_t end_ns = begin_ns + slices->duration_ns[row];
        if ((slices->flags[row] & VV_SLICE_PHASE) == 0)
            continue;
        if (end_ns > step_end_ns)
            end_ns = step_end_ns;
        if (begin_ns < covered_until_ns)
            begin_ns = covered_until_ns;
        /* An empty phase that is in no other phase still occurred. An empty phase inside another
         * does not count. */
        if (end_ns < begin_ns || (end_ns == begin_ns && slices->begin_ns[row] < covered_until_ns))
            continue;
        struct vv_phase_entry entry = { .step = step, .duration_ns = end_ns - begin_ns };
        VV_TRY(vv_groups_add(&split->phases, slices->name[row], 0, &entry.phase, error));
        VV_TRY(add_entry(split, &entry, error));
        split->other_ns[step] -= end_ns - begin_ns;
        covered_until_ns = end_ns;
    }
    return VARVE_OK;
}

/* ---- phases found ---- */

/* State while one step is split. */
struct found_step {
    const struct vv_scope *scope;
    struct vv_scratch *scratch; /* memory of the search                                         */
    const struct vv_op_phases *phases;
    struct vv_phase_split *split;
    struct vv_intervals sets[2][VV_PHASE_COUNT]; /* [0]: on the step's own thread; [1]: on other
                                                    threads */
    struct vv_intervals *running; /* process -> when its collectives run in the background */
    struct vv_intervals covered, rest;
};

/* Gives each instant to one phase: out_sums_ns[phase]. */
static enum varve_code sum_step(struct found_step *found, int64_t out_sums_ns[VV_PHASE_COUNT],
                                struct varve_error *error)
{
    memset(out_sums_ns, 0, VV_PHASE_COUNT * sizeof *out_sums_ns);
    found->covered.count = 0;
    for (int other = 0; other < 2; other++) {
        for (uint32_t phase = 1; phase < VV_PHASE_COUNT; phase++) {
            struct vv_intervals *set = &found->sets[other][phase];
            vv_intervals_unite(set);
            VV_TRY(vv_intervals_subtract(set, &found->covered, &found->rest, error));
            out_sums_ns[phase] += vv_intervals_length(&found->rest);
            for (size_t i = 0; i < found->rest.count; i++)
                VV_TRY(vv_intervals_add(&found->covered, found->rest.items[i].begin_ns,
                                        found->rest.items[i].end_ns, error));
            vv_intervals_unite(&found->covered);
            set->count = 0;
        }
    }
    return VARVE_OK;
}

static enum varve_code add_sums(struct found_step *found, uint32_t step,
                                const int64_t sums_ns[VV_PHASE_COUNT], struct varve_error *error)
{
    for (uint32_t phase = 1; phase < VV_PHASE_COUNT; phase++) {
        struct vv_phase_entry entry = { .step = step, .duration_ns = sums_ns[phase] };
        if (sums_ns[phase] == 0)
            continue;
        VV_TRY(
            vv_groups_add(&found->split->phases, VV_PHASE_FOUND | phase, 0, &entry.phase, error));
        VV_TRY(add_entry(found->split, &entry, error));
        found->split->other_ns[step] -= sums_ns[phase];
    }
    return VARVE_OK;
}

/* Adds the collectives that run in the background during the step. */
static enum varve_code add_running(struct found_step *found, uint32_t step,
                                   struct varve_error *error)
{
    const struct vv_model *model = found->scope->model;
    uint32_t process = model->tracks.process[model->steps.track[step]];
    int64_t begin_ns = model->steps.begin_ns[step],
            end_ns = begin_ns + model->steps.duration_ns[step];
    if (process >= model->processes.table.count)
        return VARVE_OK;
    const struct vv_intervals *running = &found->running[process];
    size_t i = VV_FIRST_NOT(n, 0, running->count, running->items[n].end_ns <= begin_ns);
    for (; i < running->count && running->items[i].begin_ns < end_ns; i++) {
        struct vv_interval item = running->items[i];
        VV_TRY(vv_intervals_add(&found->sets[1][VV_PHASE_COMMUNICATION],
                                item.begin_ns < begin_ns ? begin_ns : item.begin_ns,
                                item.end_ns < end_ns ? item.end_ns : end_ns, error));
    }
    return VARVE_OK;
}

/* The keys [first, last) are rows of one step. */
static enum varve_code split_found_step(struct found_step *found, const struct vv_keyed_row *first,
                                        const struct vv_keyed_row *last, struct varve_error *error)
{
    const struct vv_slices *slices = &found->scope->model->slices;
    const struct vv_steps *steps = &found->scope->model->steps;
    uint32_t step = (uint32_t)first->key;
    int64_t step_end_ns = steps->begin_ns[step] + steps->duration_ns[step];
    for (const struct vv_keyed_row *key = first; key < last; key++) {
        int64_t begin_ns = slices->begin_ns[key->row],
                end_ns = begin_ns + slices->duration_ns[key->row];
        int other = slices->track[key->row] != steps->track[step];
        VV_TRY(vv_intervals_add(&found->sets[other][found->phases->of_slice[key->row]],
                                begin_ns < steps->begin_ns[step] ? steps->begin_ns[step] : begin_ns,
                                end_ns < step_end_ns ? end_ns : step_end_ns, error));
    }
    VV_TRY(add_running(found, step, error));
    int64_t sums_ns[VV_PHASE_COUNT];
    VV_TRY(sum_step(found, sums_ns, error));
    return add_sums(found, step, sums_ns, error);
}

/* Finds the outermost slices of each phase that begin in chosen steps, with the step as key. */
static size_t key_rows(const struct found_step *found, struct vv_keyed_row *keys)
{
    const struct vv_slices *slices = &found->scope->model->slices;
    const uint8_t *phases = found->phases->of_slice;
    size_t count = 0;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t step = slices->step[row], parent = slices->parent[row];
        if (phases[row] != VV_PHASE_NONE && step != VV_NONE && found->scope->steps[step] &&
            found->scope->tracks[slices->track[row]] &&
            (parent == VV_NONE || phases[parent] != phases[row]))
            keys[count++] = (struct vv_keyed_row){ step, row };
    }
    return count;
}

static enum varve_code split_found(struct found_step *found, struct varve_error *error)
{
    struct vv_keyed_row *keys;
    VV_TRY(vv_running_collectives(found->scope, found->scratch, &found->running, error));
    VV_TRY(VV_SCRATCH_ARRAY(found->scratch, &keys, found->scope->model->slices.table.count, error));
    size_t count = key_rows(found, keys);
    VV_TRY(vv_radix_sort(keys, count, error));
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && keys[last].key == keys[first].key;)
            last++;
        VV_TRY(split_found_step(found, &keys[first], &keys[last], error));
    }
    found->split->is_found = count > 0;
    return VARVE_OK;
}

/* ---- all steps ---- */

static int by_total(const void *a, const void *b, void *context)
{
    const struct vv_phase_split *split = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int64_t left_ns = split->totals_ns[left], right_ns = split->totals_ns[right];
    if (left_ns != right_ns)
        return left_ns < right_ns ? 1 : -1;
    return (left > right) - (left < right);
}

/* A phase may come several times in a step: makes one entry of all. */
static enum varve_code merge_entries(struct vv_phase_split *split, struct varve_error *error)
{
    size_t *entry_of;
    VV_TRY(VV_SCRATCH_ZEROS(split->phases.scratch, &entry_of, split->phases.count, error));
    size_t kept = 0;
    for (size_t i = 0; i < split->count; i++) {
        struct vv_phase_entry entry = split->entries[i];
        size_t known = entry_of[entry.phase];
        if (known < kept && split->entries[known].phase == entry.phase &&
            split->entries[known].step == entry.step) {
            split->entries[known].duration_ns += entry.duration_ns;
        } else {
            entry_of[entry.phase] = kept;
            split->entries[kept++] = entry;
        }
    }
    split->count = kept;
    return VARVE_OK;
}

static enum varve_code sum_phases(struct vv_phase_split *split, struct varve_error *error)
{
    size_t phases = split->phases.count;
    VV_TRY(VV_SCRATCH_ZEROS(split->phases.scratch, &split->totals_ns, phases, error));
    VV_TRY(VV_SCRATCH_ZEROS(split->phases.scratch, &split->order, phases, error));
    for (size_t i = 0; i < split->count; i++)
        split->totals_ns[split->entries[i].phase] += split->entries[i].duration_ns;
    for (uint32_t p = 0; p < phases; p++)
        split->order[p] = p;
    qsort_r(split->order, phases, sizeof *split->order, by_total, split);
    return VARVE_OK;
}

/* Finds phases from what the operators say. Called where no phases were recorded. */
static enum varve_code find_phases(const struct vv_scope *scope, struct vv_phase_split *split,
                                   struct vv_scratch *own, struct varve_error *error)
{
    struct vv_op_phases phases;
    struct found_step found = { .scope = scope, .scratch = own, .phases = &phases, .split = split,
                                .covered = { .scratch = own }, .rest = { .scratch = own } };
    for (int other = 0; other < 2; other++)
        for (int phase = 0; phase < VV_PHASE_COUNT; phase++)
            found.sets[other][phase].scratch = own;
    VV_TRY(vv_op_phases(scope->model, &phases, error));
    return phases.of_slice != NULL ? split_found(&found, error) : VARVE_OK;
}

enum varve_code vv_phase_split(const struct vv_scope *scope, struct vv_phase_split *out_split,
                               struct varve_error *error)
{
    size_t steps = (size_t)scope->model->steps.table.count;
    struct vv_scratch own = { 0 };
    *out_split = (struct vv_phase_split){ .phases = { .scratch = scope->scratch } };
    VV_TRY(VV_SCRATCH_ZEROS(scope->scratch, &out_split->other_ns, steps, error));
    for (uint32_t step = 0; step < steps; step++) {
        if (scope->steps[step])
            VV_TRY(split_step(scope, out_split, step, error));
    }
    enum varve_code code =
        scope->step_count > 0 ? find_phases(scope, out_split, &own, error) : VARVE_OK;
    vv_scratch_deinit(&own);
    VV_TRY(code);
    VV_TRY(merge_entries(out_split, error));
    return sum_phases(out_split, error);
}
