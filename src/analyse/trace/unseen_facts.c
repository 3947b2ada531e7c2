/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/trace/unseen_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "derive/operators/own_time.h"
#include "derive/select/scope.h"
#include "meaning/call_kind.h"
#include "model/find.h"
#include "varve/varve.h"

#define COLLECTOR "collector "
#define TORCH_OPERATORS "aten::"

static const char *fact_text(const struct vv_model *model, uint64_t row, const char *key)
{
    const struct vv_facts *facts = &model->facts;
    if (facts->kind[row] != VV_ARG_TEXT || strcmp(vv_text_of(model, facts->key[row]), key) != 0)
        return NULL;
    return vv_text_of(model, (uint32_t)facts->value[row]);
}

/* Is the name one of those with commas between? */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (*list != '\0') {
        size_t word = strcspn(list, ",");
        if (word == length && memcmp(list, name, length) == 0)
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

uint64_t vv_unseen_loaded(const struct vv_unseen_facts *facts, const char *library)
{
    uint64_t count = 0;
    for (uint64_t f = 0; f < facts->model->facts.table.count; f++) {
        const char *list = fact_text(facts->model, f, VV_FACT_LOADED);
        count += list != NULL && lists(list, library);
    }
    return count;
}

const char *vv_unseen_collector(const struct vv_unseen_facts *facts, const char *name)
{
    char key[80];
    const char *said = "";
    snprintf(key, sizeof key, COLLECTOR "%s", name);
    for (uint64_t f = 0; f < facts->model->facts.table.count; f++) {
        const char *text = fact_text(facts->model, f, key);
        if (text != NULL && (*said == '\0' || strncmp(said, "absent", 6) == 0))
            said = text;
    }
    return said;
}

/* A process whose facts of CPU time are missing did not end by itself, and says nothing. */
static void count_facts(const struct vv_model *model, struct vv_unseen_facts *facts)
{
    for (uint64_t f = 0; f < model->facts.table.count; f++) {
        const char *all = fact_text(model, f, VV_FACT_CPU),
                   *recorded = fact_text(model, f, VV_FACT_RECORDED_CPU),
                   *world = fact_text(model, f, VV_FACT_WORLD_SIZE);
        if (all != NULL) {
            facts->said_cpu++;
            facts->cpu_ns = vv_sum(facts->cpu_ns, vv_amount(all));
            facts->silent_ns = vv_sum(facts->silent_ns, vv_amount(all));
        }
        if (recorded != NULL)
            facts->silent_ns = vv_sum(facts->silent_ns, -vv_amount(recorded));
        if (world != NULL)
            facts->world_size = strtoll(world, NULL, 10);
        facts->is_own = facts->is_own ||
                        strncmp(vv_text_of(model, model->facts.key[f]), COLLECTOR,
                                sizeof COLLECTOR - 1) == 0 ||
                        fact_text(model, f, VV_FACT_LOADED) != NULL;
        const struct vv_facts *rows = &model->facts;
        if (rows->process[f] == VV_NONE && rows->kind[f] == VV_ARG_INT &&
            strcmp(vv_text_of(model, rows->key[f]), VV_FACT_PROGRAM_CPU) == 0)
            facts->program_ns = (int64_t)rows->value[f];
    }
    if (facts->silent_ns < 0)
        facts->silent_ns = 0;
}

static void count_slice(const struct vv_model *model, uint64_t row, uint8_t *kinds,
                        struct vv_unseen_facts *facts)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t name = slices->name[row];
    bool is_frame = slices->layer[row] == VARVE_LAYER_PYTHON;
    facts->frames += is_frame;
    if (slices->layer[row] == VARVE_LAYER_COMM)
        facts->communication++;
    if (slices->op[row] != VV_NONE) {
        facts->operators++;
        facts->with_shapes += model->ops.tensor_count[slices->op[row]] > 0;
        facts->with_frames += model->ops.stack[slices->op[row]] != 0;
    }
    if (kinds[name] == 0) { /* each name is looked at once */
        const char *text = vv_text_of(model, name);
        kinds[name] = vv_call_kind(text) == VV_CALL_LAUNCHES_KERNEL ? 2 : 1;
        if (strncmp(text, TORCH_OPERATORS, sizeof TORCH_OPERATORS - 1) == 0)
            facts->is_torch = true;
    }
    if (kinds[name] == 2 && !is_frame) { /* Python's own calls launch nothing */
        facts->launch_calls++;
        facts->launch_name = vv_text_of(model, name);
    }
}

static enum varve_code count_slices(const struct vv_model *model, struct vv_scratch *scratch,
                                    struct vv_unseen_facts *facts, struct varve_error *error)
{
    uint8_t *kinds;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &kinds, model->strings.count, error));
    for (uint64_t row = 0; row < model->slices.table.count; row++)
        if (model->tracks.kind[model->slices.track[row]] != VV_TRACK_DEVICE)
            count_slice(model, row, kinds, facts);
    const struct vv_activities *works = &model->activities;
    for (uint64_t a = 0; a < works->table.count; a++) {
        bool is_work = works->kind[a] == VV_ACTIVITY_KERNEL || works->kind[a] == VV_ACTIVITY_COPY ||
                       works->kind[a] == VV_ACTIVITY_SET;
        facts->works += is_work;
        facts->unlinked_works += is_work && works->launch[a] == VV_NONE;
    }
    return VARVE_OK;
}

/* Of the thread with most time in operators: from its first to its last, and the part of that in
 * which none is open. Frames of Python and steps are no operators. */
static void measure_free(const struct vv_model *model, struct vv_unseen_facts *facts)
{
    const struct vv_slices *slices = &model->slices;
    int64_t most_ns = -1;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        int64_t covered_ns = 0, first_ns = INT64_MAX, until_ns = INT64_MIN;
        uint32_t row, last;
        if (model->tracks.kind[track] != VV_TRACK_THREAD)
            continue;
        for (vv_track_rows(model, track, &row, &last); row < last; row++) {
            int64_t begin_ns = slices->begin_ns[row], end_ns = begin_ns + slices->duration_ns[row];
            if (slices->layer[row] == VARVE_LAYER_PYTHON ||
                slices->layer[row] == VARVE_LAYER_STEP || end_ns <= until_ns)
                continue;
            first_ns = begin_ns < first_ns ? begin_ns : first_ns;
            covered_ns += end_ns - (begin_ns > until_ns ? begin_ns : until_ns);
            until_ns = end_ns;
        }
        if (first_ns == INT64_MAX || covered_ns <= most_ns)
            continue;
        most_ns = covered_ns;
        facts->span_ns = until_ns - first_ns;
        facts->free_ns = facts->span_ns - covered_ns;
    }
}

/* Of the steps that a report counts: as "(outside operators)" of table "operators" has it. */
static enum varve_code measure_steps(const struct vv_model *model, struct vv_scratch *scratch,
                                     struct vv_unseen_facts *facts, struct varve_error *error)
{
    const struct vv_selection selection = VV_SELECTION_ALL;
    const struct vv_steps *steps = &model->steps;
    struct vv_scope scope;
    uint32_t *stack;
    int64_t *own_ns;
    VV_TRY(vv_scope_init(&scope, model, &selection, scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &stack, model->slices.table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &own_ns, model->slices.table.count, error));
    facts->span_ns = facts->free_ns = scope.step_time_ns;
    for (uint32_t step = 0; step < steps->table.count; step++) {
        uint32_t row, last;
        if (!scope.steps[step])
            continue;
        vv_step_rows(model, step, &row, &last);
        vv_own_time(&model->slices, row, last, steps->begin_ns[step] + steps->duration_ns[step],
                    stack, own_ns);
        for (; row < last; row++)
            facts->free_ns -= vv_is_own_operator(model, row) ? own_ns[row] : 0;
    }
    return VARVE_OK;
}

bool vv_unseen_python_off(const struct vv_unseen_facts *facts)
{
    return strncmp(vv_unseen_collector(facts, "python"), "off", 3) == 0 && facts->frames == 0;
}

enum varve_code vv_unseen_facts_count(const struct vv_model *model, struct vv_scratch *scratch,
                                      struct vv_unseen_facts *out_facts, struct varve_error *error)
{
    *out_facts = (struct vv_unseen_facts){ .model = model };
    for (uint64_t p = 0; p < model->processes.table.count; p++)
        if (model->processes.world_size[p] > out_facts->world_size)
            out_facts->world_size = model->processes.world_size[p];
    count_facts(model, out_facts);
    const char *torch = vv_unseen_collector(out_facts, "torch");
    out_facts->is_torch = strncmp(torch, "attached", 8) == 0 || strncmp(torch, "partly", 6) == 0;
    for (uint64_t t = 0; t < model->tracks.table.count; t++)
        out_facts->has_device = out_facts->has_device || model->tracks.kind[t] == VV_TRACK_DEVICE;
    VV_TRY(count_slices(model, scratch, out_facts, error));
    out_facts->has_steps = model->steps.table.count > 0;
    if (!vv_unseen_python_off(out_facts))
        return VARVE_OK;
    if (out_facts->has_steps)
        return measure_steps(model, scratch, out_facts, error);
    measure_free(model, out_facts);
    return VARVE_OK;
}
