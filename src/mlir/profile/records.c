/* SPDX-License-Identifier: Apache-2.0 */
/* records.c — executions become records: sums, percentiles, and the place among equals. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "mlir/profile/build.h"
#include "numbers/samples.h"

static int compare_executions(const void *a, const void *b)
{
    const struct vv_mlir_execution *left = a, *right = b;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->slice > right->slice) - (left->slice < right->slice);
}

/* ---- places ---- */

static void end_step(struct vv_mlir_thing *thing)
{
    if (!thing->has_step)
        return;
    thing->is_uneven |= thing->each_step != 0 && thing->each_step != thing->in_step;
    thing->each_step = thing->in_step;
    thing->in_step = 0;
}

/* Numbers the executions of each thing within each step, in order of time. */
static void number_places(struct vv_mlir_build *build)
{
    for (size_t i = 0; i < build->execution_count; i++) {
        struct vv_mlir_execution *execution = &build->executions[i];
        struct vv_mlir_thing *thing = &build->things[execution->thing];
        if (!thing->has_step || thing->step != execution->step)
            end_step(thing);
        thing->has_step = true;
        thing->step = execution->step;
        execution->place = thing->in_step++;
    }
    for (size_t i = 0; i < build->thing_count; i++) {
        struct vv_mlir_thing *thing = &build->things[i];
        end_step(thing);
        if (thing->is_uneven || !vv_mlir_is_typed_only(&thing->key))
            thing->each_step = 1;
    }
}

/* ---- records ---- */

/* The record of each execution, by execution. */
static enum varve_code assign(struct vv_mlir_build *build, uint32_t **out_records,
                              struct varve_error *error)
{
    struct vv_mlir_profile *profile = build->profile;
    uint32_t *first_of_place;
    size_t places = 0;
    VV_TRY(VV_SCRATCH_ARRAY(build->scratch, out_records, build->execution_count, error));
    for (size_t i = 0; i < build->thing_count; i++) {
        build->things[i].first_record = (uint32_t)places; /* in first_of_place */
        places += build->things[i].each_step;
    }
    VV_TRY(VV_SCRATCH_ARRAY(build->scratch, &first_of_place, places, error));
    memset(first_of_place, 0xff, places * sizeof *first_of_place);
    for (size_t i = 0; i < build->execution_count; i++) {
        const struct vv_mlir_execution *execution = &build->executions[i];
        const struct vv_mlir_thing *thing = &build->things[execution->thing];
        uint32_t place = thing->each_step > 1 ? execution->place : 0;
        uint32_t *record = &first_of_place[thing->first_record + place];
        if (*record == VV_NONE) {
            *record = (uint32_t)profile->record_count;
            VV_TRY(vv_mlir_add_record(build, &thing->key, place, error));
            profile->records[*record].first_ns =
                execution->begin_ns - build->model->run.begin_ns;
        }
        (*out_records)[i] = *record;
    }
    return VARVE_OK;
}

static void add_times(struct vv_mlir_record *record, const struct vv_mlir_execution *execution)
{
    record->self_ns += execution->self_ns;
    if (execution->is_inside)
        return;
    record->count++;
    record->total_ns += execution->duration_ns;
}

static void set_spread(struct vv_mlir_profile *profile, const struct vv_samples *samples)
{
    for (uint32_t row = 0; row < profile->record_count; row++) {
        struct vv_mlir_record *record = &profile->records[row];
        profile->self_ns += record->self_ns;
        if (vv_samples_size(samples, row) == 0)
            continue;
        record->min_ns = vv_samples_percentile(samples, row, 0);
        record->max_ns = vv_samples_percentile(samples, row, 100);
        record->p50_ns = vv_samples_percentile(samples, row, 50);
        record->p95_ns = vv_samples_percentile(samples, row, 95);
    }
}

enum varve_code vv_mlir_make_records(struct vv_mlir_build *build, struct varve_error *error)
{
    struct vv_mlir_profile *profile = build->profile;
    struct vv_samples samples = { .scratch = build->scratch };
    uint32_t *record_of;
    if (build->execution_count == 0)
        return VARVE_OK;
    qsort(build->executions, build->execution_count, sizeof *build->executions,
          compare_executions);
    number_places(build);
    VV_TRY(assign(build, &record_of, error));
    for (size_t i = 0; i < build->execution_count; i++) {
        const struct vv_mlir_execution *execution = &build->executions[i];
        add_times(&profile->records[record_of[i]], execution);
        if (!execution->is_inside)
            VV_TRY(vv_samples_add(&samples, record_of[i], execution->duration_ns, error));
    }
    VV_TRY(vv_samples_sort(&samples, (uint32_t)profile->record_count, error));
    set_spread(profile, &samples);
    return VARVE_OK;
}
