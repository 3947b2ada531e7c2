/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/devices/device_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "derive/select/track_order.h"

/* ---- steps by process ---- */

struct placing {
    struct vv_device_steps *out;
    const struct vv_device_work *work;
    const struct vv_model *model;
    uint32_t *host_of_process; /* row of a process (last: of no process) -> row of its host, or
                                  VV_NONE */
    uint32_t *host_of_item;    /* row of an item -> row of its host, or VV_NONE                 */
};

static uint32_t process_slot(const struct vv_model *model, uint32_t track)
{
    uint32_t process = model->tracks.process[track];
    return process != VV_NONE ? process : (uint32_t)model->processes.table.count;
}

static int compare_steps(const void *a, const void *b, void *context)
{
    const struct vv_model *model = context;
    uint32_t left = ((const struct vv_device_step *)a)->step,
             right = ((const struct vv_device_step *)b)->step;
    int order = vv_process_compare(model, model->tracks.process[model->steps.track[left]],
                                   model->tracks.process[model->steps.track[right]]);
    if (order != 0)
        return order;
    int64_t left_ns = model->steps.begin_ns[left], right_ns = model->steps.begin_ns[right];
    if (left_ns != right_ns)
        return left_ns < right_ns ? -1 : 1;
    return (left > right) - (left < right);
}

static void add_host(struct placing *placing, size_t first_step, uint32_t slot)
{
    const struct vv_model *model = placing->model;
    struct vv_device_steps *out = placing->out;
    bool is_known = slot < model->processes.table.count;
    placing->host_of_process[slot] = (uint32_t)out->host_count;
    out->hosts[out->host_count++] = (struct vv_step_host){
        .process = is_known ? slot : VV_NONE,
        .scope = is_known ? model->processes.scope[slot] : 0,
        .rank = is_known ? placing->work->scope->ranks[slot] : -1,
        .first_step = first_step,
        .last_step = first_step,
    };
}

static void place_steps(struct placing *placing)
{
    const struct vv_model *model = placing->model;
    struct vv_device_steps *out = placing->out;
    for (uint32_t s = 0; s < model->steps.table.count; s++)
        if (placing->work->scope->steps[s])
            out->steps[out->step_count++] = (struct vv_device_step){
                .step = s, .begin_ns = model->steps.begin_ns[s], .first_ns = INT64_MAX,
                .last_ns = INT64_MIN,
                .end_ns = model->steps.begin_ns[s] + model->steps.duration_ns[s],
            };
    qsort_r(out->steps, out->step_count, sizeof *out->steps, compare_steps, (void *)model);
    for (size_t i = 0; i < out->step_count; i++) {
        uint32_t slot = process_slot(model, model->steps.track[out->steps[i].step]);
        if (placing->host_of_process[slot] == VV_NONE)
            add_host(placing, i, slot);
        out->steps[i].host = placing->host_of_process[slot];
        out->hosts[out->steps[i].host].last_step = i + 1;
    }
}

/* ---- work by process ---- */

static uint32_t host_of_device(const struct vv_device_steps *steps, const struct vv_device *device)
{
    for (uint32_t h = 0; h < steps->host_count; h++)
        if (steps->hosts[h].scope == device->scope && steps->hosts[h].rank == device->rank)
            return h;
    return VV_NONE;
}

static void find_hosts(struct placing *placing)
{
    const struct vv_model *model = placing->model;
    const struct vv_device_work *work = placing->work;
    uint32_t of_device = VV_NONE;
    for (size_t d = 0; d < work->device_count; d++) {
        const struct vv_device *device = &work->devices[d]; /* sorted by rank and scope */
        if (d == 0 || device->rank != device[-1].rank || device->scope != device[-1].scope)
            of_device = host_of_device(placing->out, device);
        for (size_t i = work->devices[d].first; i < work->devices[d].last; i++) {
            uint32_t launch = model->activities.launch[work->items[i].activity], host = VV_NONE;
            if (launch != VV_NONE)
                host = placing->host_of_process[process_slot(model, model->slices.track[launch])];
            placing->host_of_item[i] = host != VV_NONE ? host : of_device;
        }
    }
}

/* Counting sort: the work of each host keeps the order of devices and begins. */
static void place_work(struct placing *placing)
{
    struct vv_device_steps *out = placing->out;
    size_t next = 0;
    for (size_t i = 0; i < placing->work->count; i++)
        if (placing->host_of_item[i] != VV_NONE)
            out->hosts[placing->host_of_item[i]].last_work++;
    for (size_t h = 0; h < out->host_count; h++) {
        size_t count = out->hosts[h].last_work;
        out->hosts[h].first_work = out->hosts[h].last_work = next;
        next += count;
    }
    for (size_t i = 0; i < placing->work->count; i++)
        if (placing->host_of_item[i] != VV_NONE)
            out->work[out->hosts[placing->host_of_item[i]].last_work++] = (uint32_t)i;
}

/* ---- extension ---- */

/* The step that launched the item, or NULL. The call must be wholly in the step. */
static struct vv_device_step *step_of(const struct placing *placing,
                                      struct vv_device_step *const *by_row,
                                      const struct vv_work_item *item)
{
    const struct vv_model *model = placing->model;
    uint32_t launch = model->activities.launch[item->activity];
    uint32_t step = launch != VV_NONE ? model->slices.step[launch] : VV_NONE;
    if (step == VV_NONE || by_row[step] == NULL)
        return NULL;
    int64_t end_ns = model->slices.begin_ns[launch] + model->slices.duration_ns[launch];
    return end_ns <= model->steps.begin_ns[step] + model->steps.duration_ns[step] ? by_row[step]
                                                                                  : NULL;
}

static void extend(const struct placing *placing, struct vv_device_step *const *by_row,
                   const struct vv_step_host *host)
{
    const struct vv_device_work *work = placing->work;
    struct vv_device_step *first = &placing->out->steps[host->first_step];
    struct vv_device_step *limit = &placing->out->steps[host->last_step];
    uint64_t launched = 0;
    for (size_t i = host->first_work; i < host->last_work; i++) {
        const struct vv_work_item *item = &work->items[placing->out->work[i]];
        struct vv_device_step *step = step_of(placing, by_row, item);
        if (step == NULL)
            continue;
        step->first_ns = item->begin_ns < step->first_ns ? item->begin_ns : step->first_ns;
        step->last_ns = item->end_ns > step->last_ns ? item->end_ns : step->last_ns;
        step->launched++;
        launched++;
    }
    if (launched == 0)
        return;
    int64_t former_ns = first->begin_ns;
    for (size_t i = host->first_work; i < host->last_work && first->launched > 0; i++) {
        const struct vv_work_item *item = &work->items[placing->out->work[i]];
        if (item->end_ns < first->first_ns && item->end_ns > former_ns &&
            step_of(placing, by_row, item) == NULL)
            former_ns = item->end_ns;
    }
    for (struct vv_device_step *step = first; step < limit; step++) {
        step->begin_ns = step->begin_ns > former_ns ? step->begin_ns : former_ns;
        step->end_ns = step->end_ns > step->begin_ns ? step->end_ns : step->begin_ns;
        step->end_ns = step->last_ns > step->end_ns ? step->last_ns : step->end_ns;
        former_ns = step->end_ns;
    }
    while (limit > first && limit[-1].launched == 0)
        (--limit)->is_cut = true;
    if (limit - first > 1 && limit[-1].launched * 5 < limit[-2].launched * 4)
        limit[-1].is_cut = true;
}

static void extend_all(const struct placing *placing, struct vv_device_step **by_row)
{
    for (size_t i = 0; i < placing->out->step_count; i++)
        by_row[placing->out->steps[i].step] = &placing->out->steps[i];
    for (size_t h = 0; h < placing->out->host_count; h++)
        extend(placing, by_row, &placing->out->hosts[h]);
}

/* Makes the steps of every chosen step of the work's scope. */
static enum varve_code device_steps_init(struct vv_device_steps *out_steps,
                                         const struct vv_device_work *work,
                                         struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    size_t processes = model->processes.table.count + 1, steps = model->steps.table.count;
    struct vv_scratch *scratch = work->scope->scratch;
    struct placing placing = { .out = out_steps, .work = work, .model = model };
    struct vv_device_step **by_row;
    *out_steps = (struct vv_device_steps){ 0 };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_steps->steps, steps, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_steps->hosts, processes, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out_steps->work, work->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &placing.host_of_process, processes, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &placing.host_of_item, work->count, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &by_row, steps, error));
    for (size_t p = 0; p < processes; p++)
        placing.host_of_process[p] = VV_NONE;
    place_steps(&placing);
    find_hosts(&placing);
    place_work(&placing);
    extend_all(&placing, by_row);
    vv_scratch_release(scratch, placing.host_of_item);
    return VARVE_OK;
}

enum varve_code vv_whole_steps_init(struct vv_whole_steps *out_whole, const struct vv_model *model,
                                    const struct vv_selection *selection,
                                    struct vv_scratch *scratch, struct varve_error *error)
{
    struct vv_selection whole = vv_selection_without_step(selection);
    struct vv_scope every;
    VV_TRY(vv_scope_init(&every, model, &whole, scratch, error));
    out_whole->scope = vv_scope_of_whole_devices(&every);
    VV_TRY(vv_device_work_init(&out_whole->work, &out_whole->scope, selection->device, error));
    return device_steps_init(&out_whole->steps, &out_whole->work, error);
}

void vv_device_steps_cut_text(const struct vv_device_steps *steps, const struct vv_scope *scope,
                              char *text, size_t bytes)
{
    uint64_t count = 0;
    int64_t index = 0;
    for (size_t i = 0; i < steps->step_count; i++)
        if (steps->steps[i].is_cut && scope->steps[steps->steps[i].step]) {
            index = scope->model->steps.index[steps->steps[i].step];
            count++;
        }
    text[0] = '\0';
    if (count == 1)
        snprintf(text, bytes,
                 "; step %" PRId64 " is left out: recording ended before its device work", index);
    else if (count > 1)
        snprintf(text, bytes,
                 "; %" PRIu64 " last steps are left out: recording ended before their device work",
                 count);
}
