/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c — the executions on threads. Each slice's own time goes to the innermost thing around
 * it. */
#include "derive/operators/own_time.h"
#include "mlir/profile/build.h"

struct threads {
    struct vv_mlir_build *build;
    int64_t *own_ns;       /* by slice                                                          */
    uint32_t *execution_of; /* by slice: row + 1 of the innermost execution around or at it; 0   */
    uint32_t *open;        /* by slice: rows of slices that are open: a stack                   */
    uint32_t depth;
    uint32_t *running;     /* by thing: executions that are open                                */
    size_t running_capacity;
};

static bool is_selected(const struct vv_scope *scope, uint32_t slice)
{
    const struct vv_slices *slices = &scope->model->slices;
    return scope->tracks[slices->track[slice]] && vv_step_counts(scope, slices->step[slice]) &&
           vv_scope_holds(scope, slice);
}

/* Operators inside of an operator are its work if only their type names them: a program that has
 * the outer one does not have the inner ones. */
static bool is_part_of(const struct vv_mlir_build *build, uint32_t outer, uint32_t thing)
{
    return outer != 0 && vv_mlir_is_typed_only(&build->things[thing].key) &&
           vv_mlir_is_typed_only(
               &build->things[build->executions[outer - 1].thing].key);
}

static enum varve_code begin(struct threads *threads, uint32_t slice, uint32_t thing,
                             struct varve_error *error)
{
    struct vv_mlir_build *build = threads->build;
    const struct vv_slices *slices = &build->model->slices;
    size_t former = threads->running_capacity;
    VV_TRY(VV_SCRATCH_RESERVE(build->scratch, &threads->running, &threads->running_capacity,
                              build->thing_count, error));
    for (size_t i = former; i < threads->running_capacity; i++)
        threads->running[i] = 0;
    VV_TRY(vv_mlir_add_execution(
        build,
        &(struct vv_mlir_execution){ .thing = thing, .slice = slice, .step = slices->step[slice],
                                     .is_inside = threads->running[thing] > 0,
                                     .begin_ns = slices->begin_ns[slice],
                                     .duration_ns = slices->duration_ns[slice] },
        error));
    threads->running[thing]++;
    threads->execution_of[slice] = (uint32_t)build->execution_count;
    return VARVE_OK;
}

/* Ends the slices that do not hold the next one. */
static void end_until(struct threads *threads, uint32_t parent)
{
    const struct vv_mlir_build *build = threads->build;
    while (threads->depth > 0 && threads->open[threads->depth - 1] != parent) {
        uint32_t slice = threads->open[--threads->depth];
        uint32_t execution = threads->execution_of[slice];
        if (execution != 0 && build->executions[execution - 1].slice == slice)
            threads->running[build->executions[execution - 1].thing]--;
    }
}

static enum varve_code take(struct threads *threads, uint32_t slice, struct varve_error *error)
{
    struct vv_mlir_build *build = threads->build;
    const struct vv_slices *slices = &build->model->slices;
    uint32_t parent = slices->parent[slice], thing = VV_NONE;
    uint32_t outer = parent != VV_NONE ? threads->execution_of[parent] : 0;
    end_until(threads, parent);
    threads->open[threads->depth++] = slice;
    threads->execution_of[slice] = outer;
    if (!is_selected(build->scope, slice))
        return VARVE_OK;
    VV_TRY(vv_mlir_thing_of(build, slice, VV_NONE, &thing, error));
    if (thing != VV_NONE && !is_part_of(build, outer, thing))
        VV_TRY(begin(threads, slice, thing, error));
    uint32_t execution = threads->execution_of[slice];
    if (execution != 0)
        build->executions[execution - 1].self_ns += threads->own_ns[slice];
    else
        build->profile->unnamed_ns += threads->own_ns[slice];
    return VARVE_OK;
}

static void own_times(struct threads *threads)
{
    const struct vv_model *model = threads->build->model;
    for (uint32_t track = 0; track < model->tracks.table.count; track++) {
        uint32_t first, last;
        vv_track_rows(model, track, &first, &last);
        if (threads->build->scope->tracks[track])
            vv_own_time(&model->slices, first, last, INT64_MAX, threads->open, threads->own_ns);
    }
}

enum varve_code vv_mlir_of_threads(struct vv_mlir_build *build, struct varve_error *error)
{
    struct threads threads = { .build = build };
    uint32_t count = (uint32_t)build->model->slices.table.count;
    VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &threads.own_ns, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(build->scratch, &threads.execution_of, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(build->scratch, &threads.open, count, error));
    own_times(&threads);
    for (uint32_t slice = 0; slice < count; slice++)
        if (build->scope->tracks[build->model->slices.track[slice]])
            VV_TRY(take(&threads, slice, error));
    return VARVE_OK;
}
