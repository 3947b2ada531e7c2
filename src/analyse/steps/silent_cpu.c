/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/steps/silent_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/find.h"
#include "settings/metric_groups.h"

static int in_order(const void *a, const void *b)
{
    const struct vv_silent_sample *left = a, *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

enum varve_code vv_silent_cpu_init(struct vv_silent_cpu *out_silent, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error)
{
    const struct vv_counters *counters = &model->counters;
    vv_string former = 0;
    bool is_it = false;
    *out_silent = (struct vv_silent_cpu){ .model = model };
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &out_silent->samples, counters->table.count + 1, error));
    for (uint32_t row = 0; row < counters->table.count; row++) {
        uint32_t track = counters->track[row];
        if (counters->name[row] != former) {
            former = counters->name[row];
            is_it = strcmp(vv_text_of(model, former), VV_SILENT_CPU_COUNTER) == 0;
        }
        if (is_it && track != VV_NONE && model->tracks.process[track] != VV_NONE)
            out_silent->samples[out_silent->count++] = (struct vv_silent_sample){
                counters->time_ns[row], counters->value[row], model->tracks.process[track]
            };
    }
    if (out_silent->count > 0)
        qsort(out_silent->samples, out_silent->count, sizeof *out_silent->samples, in_order);
    return VARVE_OK;
}

/* The first sample of the process at or behind that time, or where it would be. */
static size_t find(const struct vv_silent_cpu *silent, uint32_t process, int64_t time_ns)
{
    const struct vv_silent_sample wanted = { time_ns, 0, process };
    size_t low = 0, high = silent->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (in_order(&silent->samples[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What had been used by then; before the first sample and behind the last one, what these say. */
static double used_by(const struct vv_silent_cpu *silent, uint32_t process, int64_t time_ns)
{
    size_t at = find(silent, process, time_ns);
    bool has_before = at > 0 && silent->samples[at - 1].process == process,
         has_behind = at < silent->count && silent->samples[at].process == process;
    if (!has_before || !has_behind)
        return silent->samples[has_behind ? at : at - 1].used_ns;
    const struct vv_silent_sample *before = &silent->samples[at - 1], *behind = before + 1;
    double part = (double)(time_ns - before->time_ns) / (double)(behind->time_ns - before->time_ns);
    return before->used_ns + part * (behind->used_ns - before->used_ns);
}

int64_t vv_silent_cpu_of(const struct vv_silent_cpu *silent, uint32_t step)
{
    const struct vv_steps *steps = &silent->model->steps;
    uint32_t process = silent->model->tracks.process[steps->track[step]];
    size_t first = find(silent, process, INT64_MIN);
    if (first + 1 >= silent->count || silent->samples[first + 1].process != process)
        return -1;
    int64_t begin_ns = steps->begin_ns[step];
    double used_ns = used_by(silent, process, begin_ns + steps->duration_ns[step]) -
                     used_by(silent, process, begin_ns);
    /* A thread's first record takes its past away; a file may say what no clock counts. */
    return used_ns > 0 ? (int64_t)fmin(used_ns, 9e18) : 0;
}
