/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/tally.h"

#include <stdlib.h>

#include "derive/devices/work_tally.h"
#include "derive/operators/host_gaps.h"
#include "derive/operators/own_time.h"
#include "meaning/platform.h"

struct tallying {
    const struct vv_scope *scope;
    const struct vv_operator_keys *keys;
    struct vv_operator_tally *tally;
    struct vv_device_share share;
    uint32_t *group;   /* slice -> group; VV_NONE: no operator of a chosen thread or device      */
    uint32_t *by_name; /* string -> 1 + group, where a group is a name; 0 = none yet             */
    uint8_t *counted;  /* slice -> scopes that counted it: bits 1 << scope                      */
    uint32_t *stack;
    int64_t *own_ns;   /* slice -> own time                                                     */
};

static enum varve_code assign_group(struct tallying *work, uint32_t row, struct varve_error *error)
{
    const struct vv_operator_keys *keys = work->keys;
    uint32_t name = keys->is_alone ? 0 : work->scope->model->slices.name[row], value = 0;
    if (keys->trait != VV_TRAIT_NAME) {
        value = vv_trait_of(keys->traits, keys->trait, row);
        return vv_groups_add(&work->tally->groups, name, value, &work->group[row], error);
    }
    if (work->by_name[name] == 0) {
        VV_TRY(vv_groups_add(&work->tally->groups, name, 0, &work->group[row], error));
        work->by_name[name] = 1 + work->group[row];
    }
    work->group[row] = work->by_name[name] - 1;
    return VARVE_OK;
}

/* Operations that a device chose itself are operators, too. */
static enum varve_code assign_operations(struct tallying *work,
                                         const struct vv_device_work *device_work,
                                         struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    if (!vv_has_tpu(model)) /* other devices without calls: their work may have any name */
        return VARVE_OK;
    for (size_t i = 0; i < device_work->count; i++) {
        uint32_t activity = device_work->items[i].activity;
        uint32_t row = model->activities.slice[activity];
        if (vv_is_device_operation(model, activity) && vv_scope_holds(work->scope, row)) {
            VV_TRY(assign_group(work, row, error));
            work->tally->operations++;
        }
    }
    return VARVE_OK;
}

static enum varve_code assign_groups(struct tallying *work, struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    const struct vv_slices *slices = &model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t track = slices->track[row];
        work->group[row] = VV_NONE;
        work->tally->async_slices += model->tracks.kind[track] == VV_TRACK_ASYNC;
        if (!work->scope->tracks[track] || !vv_is_own_operator(model, row) ||
            !vv_scope_holds(work->scope, row))
            continue;
        VV_TRY(assign_group(work, row, error));
    }
    return VARVE_OK;
}

/* ---- slices ---- */

static void count_device(struct tallying *work, struct vv_figures *figures, uint32_t row,
                         bool is_call)
{
    const struct vv_device_share *share = &work->share;
    if (share->self_ns == NULL)
        return;
    figures->device_self_ns += share->self_ns[row];
    figures->kernels += share->kernels[row];
    if (is_call)
        figures->device_total_ns += share->total_ns[row];
}

/* Counts one slice, with duration_ns inside the scope. */
static enum varve_code count_slice(struct tallying *work, enum vv_tally_scope which, uint32_t row,
                                   int64_t duration_ns, struct varve_error *error)
{
    const struct vv_model *model = work->scope->model;
    struct vv_operator_tally *tally = work->tally;
    uint32_t group = work->group[row];
    work->counted[row] |= (uint8_t)(1u << which);
    if (group == VV_NONE) {
        tally->outside[which].self_ns += work->own_ns[row];
        count_device(work, &tally->outside[which], row, false);
        return VARVE_OK;
    }
    struct vv_figures *figures = &tally->figures[which][group];
    uint32_t parent = model->slices.parent[row];
    bool is_call = parent == VV_NONE || work->group[parent] != group;
    figures->self_ns += work->own_ns[row];
    count_device(work, figures, row, is_call);
    if (!is_call)
        return VARVE_OK;

    figures->calls++;
    figures->total_ns += duration_ns;
    if (duration_ns > figures->longest_ns) {
        figures->longest_ns = duration_ns;
        figures->longest = row;
    }
    uint32_t op = model->slices.op[row];
    if (op != VV_NONE && model->ops.flop[op] > 0) {
        int64_t device_ns = work->share.self_ns != NULL ? work->share.total_ns[row] : 0;
        figures->flop += (double)model->ops.flop[op];
        figures->flop_time_ns += device_ns > 0 ? device_ns : duration_ns;
    }
    return vv_samples_add(&tally->durations[which], group, duration_ns, error);
}

static enum varve_code tally_whole(struct tallying *work, struct varve_error *error)
{
    const struct vv_scope *scope = work->scope;
    const struct vv_slices *slices = &scope->model->slices;
    for (uint32_t track = 0; track < scope->model->tracks.table.count; track++) {
        if (!scope->tracks[track] || !vv_track_works(scope->model, track))
            continue;
        uint32_t first, last;
        vv_track_rows(scope->model, track, &first, &last);
        vv_own_time(slices, first, last, INT64_MAX, work->stack, work->own_ns);
        for (uint32_t row = first; row < last; row++) {
            uint32_t step = slices->step[row];
            if (!vv_step_counts(scope, step))
                continue;
            work->tally->covered[VV_SCOPE_WHOLE].self_ns += work->own_ns[row];
            VV_TRY(count_slice(work, VV_SCOPE_WHOLE, row, slices->duration_ns[row], error));
        }
    }
    return VARVE_OK;
}

static enum varve_code tally_steps(struct tallying *work, struct varve_error *error)
{
    const struct vv_scope *scope = work->scope;
    const struct vv_slices *slices = &scope->model->slices;
    const struct vv_steps *steps = &scope->model->steps;
    for (uint32_t step = 0; step < steps->table.count; step++) {
        if (!scope->steps[step])
            continue;
        int64_t end_ns = steps->begin_ns[step] + steps->duration_ns[step];
        uint32_t first, last;
        vv_step_rows(scope->model, step, &first, &last);
        int64_t inside_ns = vv_own_time(slices, first, last, end_ns, work->stack, work->own_ns);
        work->tally->covered[VV_SCOPE_STEPS].self_ns += steps->duration_ns[step];
        work->tally->outside[VV_SCOPE_STEPS].self_ns += steps->duration_ns[step] - inside_ns;
        for (uint32_t row = first; row < last; row++) {
            int64_t left_ns = end_ns - slices->begin_ns[row];
            int64_t duration_ns = slices->duration_ns[row];
            VV_TRY(count_slice(work, VV_SCOPE_STEPS, row,
                               duration_ns < left_ns ? duration_ns : left_ns, error));
        }
    }
    return VARVE_OK;
}

/* A short gap is what the next call costs outside: Python, that makes it. */
static enum varve_code tally_leads(struct tallying *work, struct vv_scratch *own,
                                   struct varve_error *error)
{
    struct vv_host_gaps gaps;
    if (work->scope->step_count == 0)
        return VARVE_OK;
    VV_TRY(vv_find_host_gaps(work->scope, own, &gaps, error));
    for (size_t i = 0; i < gaps.count; i++) {
        const struct vv_host_gap *gap = &gaps.gaps[i];
        uint32_t group = gap->until != VV_NONE ? work->group[gap->until] : VV_NONE;
        int64_t time_ns = gap->end_ns - gap->begin_ns;
        if (group != VV_NONE && time_ns < VV_SHORT_GAP_NS)
            work->tally->figures[VV_SCOPE_STEPS][group].lead_ns += time_ns;
    }
    return VARVE_OK;
}

/* ---- device work ---- */

/* The group of an operation without a call; VV_NONE for other work. */
static uint32_t operation_group(const struct tallying *work, uint32_t activity)
{
    return vv_is_device_operation(work->scope->model, activity)
               ? work->group[work->scope->model->activities.slice[activity]]
               : VV_NONE;
}

static void count_operation(struct vv_figures *figures, int64_t duration_ns)
{
    figures->calls++;
    figures->kernels++;
    figures->device_self_ns += duration_ns;
    figures->device_total_ns += duration_ns;
}

static enum varve_code tally_busy(struct tallying *work, const struct vv_device_work *device_work,
                                  enum vv_tally_scope which, struct varve_error *error)
{
    struct vv_operator_tally *tally = work->tally;
    struct vv_busy *busy;
    VV_TRY(VV_SCRATCH_ARRAY(work->scope->scratch, &busy, (size_t)tally->groups.count + 1, error));
    for (uint32_t g = 0; g <= tally->groups.count; g++)
        busy[g] = (struct vv_busy)VV_BUSY_NONE;
    for (size_t d = 0; d < device_work->device_count; d++) {
        for (size_t i = device_work->devices[d].first; i < device_work->devices[d].last; i++) {
            uint32_t owner = vv_device_owner(work->scope->model, device_work->items[i].activity);
            uint32_t group = owner != VV_NONE
                                 ? work->group[owner]
                                 : operation_group(work, device_work->items[i].activity);
            bool is_counted = owner != VV_NONE ? (work->counted[owner] & 1u << which) != 0
                                               : group != VV_NONE && which == VV_SCOPE_WHOLE;
            if (!is_counted)
                continue;
            group = group != VV_NONE ? group : tally->groups.count;
            struct vv_figures *figures = group < tally->groups.count ? &tally->figures[which][group]
                                                                     : &tally->outside[which];
            figures->device_busy_ns += vv_busy_add(&busy[group], d, &device_work->items[i]);
        }
    }
    return VARVE_OK;
}

/* Adds up the time of all work. Work for slices that a scope does not count is outside the whole,
 * or is elsewhere_ns if the slice is in a chosen step. */
static void cover_device(struct tallying *work, const struct vv_device_work *device_work)
{
    const struct vv_model *model = work->scope->model;
    struct vv_operator_tally *tally = work->tally;
    struct vv_figures *covered = tally->covered, *outside = tally->outside;
    for (size_t i = 0; i < device_work->count; i++) {
        int64_t duration_ns = device_work->items[i].end_ns - device_work->items[i].begin_ns;
        uint32_t owner = vv_device_owner(model, device_work->items[i].activity);
        unsigned counted = owner != VV_NONE ? work->counted[owner] : 0;
        covered[VV_SCOPE_WHOLE].device_self_ns += duration_ns;
        covered[VV_SCOPE_WHOLE].kernels++;
        int64_t comm_ns = device_work->items[i].class == VV_CLASS_COMM ? duration_ns : 0;
        tally->comm_ns[VV_SCOPE_WHOLE] += comm_ns;
        uint32_t group = operation_group(work, device_work->items[i].activity);
        if (group != VV_NONE) {
            count_operation(&tally->figures[VV_SCOPE_WHOLE][group], duration_ns);
        } else if ((counted & 1u << VV_SCOPE_WHOLE) == 0) {
            outside[VV_SCOPE_WHOLE].device_self_ns += duration_ns;
            outside[VV_SCOPE_WHOLE].kernels++;
        }
        if (counted & 1u << VV_SCOPE_STEPS) {
            covered[VV_SCOPE_STEPS].device_self_ns += duration_ns;
            covered[VV_SCOPE_STEPS].kernels++;
            tally->comm_ns[VV_SCOPE_STEPS] += comm_ns;
        } else if (owner != VV_NONE && model->slices.step[owner] != VV_NONE &&
                   work->scope->steps[model->slices.step[owner]]) {
            tally->elsewhere_ns += duration_ns;
        }
    }
}

/* A call of a copy that returns after the copy's end has waited for it, whatever it is called:
 * cudaMemcpyAsync of memory that is not pinned. */
static void tally_waits(struct tallying *work, const struct vv_device_work *device_work)
{
    const struct vv_model *model = work->scope->model;
    const struct vv_slices *slices = &model->slices;
    for (size_t i = 0; i < device_work->count; i++) {
        uint32_t activity = device_work->items[i].activity;
        uint32_t call = model->activities.launch[activity];
        if (call == VV_NONE || model->activities.kind[activity] != VV_ACTIVITY_COPY ||
            work->group[call] == VV_NONE ||
            slices->begin_ns[call] + slices->duration_ns[call] < device_work->items[i].end_ns)
            continue;
        for (int which = 0; which < VV_SCOPE_COUNT; which++)
            if ((work->counted[call] & 1u << which) != 0)
                work->tally->figures[which][work->group[call]].waited_ns += work->own_ns[call];
    }
}

static enum varve_code tally_device(struct tallying *work, const struct vv_device_work *device_work,
                                    struct varve_error *error)
{
    if (device_work->count == 0)
        return VARVE_OK;
    for (int which = 0; which < VV_SCOPE_COUNT; which++)
        VV_TRY(tally_busy(work, device_work, which, error));
    cover_device(work, device_work);
    tally_waits(work, device_work);
    return VARVE_OK;
}

/* ---- the whole tally ---- */

static enum varve_code tally_all(struct tallying *work, const struct vv_device_work *device_work,
                                 struct vv_scratch *own, struct varve_error *error)
{
    struct vv_operator_tally *tally = work->tally;
    VV_TRY(assign_groups(work, error));
    VV_TRY(assign_operations(work, device_work, error));
    for (int which = 0; which < VV_SCOPE_COUNT; which++)
        VV_TRY(VV_SCRATCH_ZEROS(work->scope->scratch, &tally->figures[which], tally->groups.count,
                                error));
    for (int which = 0; which < VV_SCOPE_COUNT; which++)
        VV_TRY(vv_samples_reserve(&tally->durations[which], work->scope->model->slices.table.count,
                                  error));
    VV_TRY(tally_whole(work, error));
    VV_TRY(tally_steps(work, error));
    VV_TRY(tally_leads(work, own, error));
    for (int which = 0; which < VV_SCOPE_COUNT; which++)
        VV_TRY(vv_samples_sort(&tally->durations[which], tally->groups.count, error));
    return tally_device(work, device_work, error);
}

static enum varve_code allocate(struct tallying *work, struct vv_scratch *own,
                                struct varve_error *error)
{
    size_t rows = (size_t)work->scope->model->slices.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(own, &work->group, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(own, &work->counted, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(own, &work->stack, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(own, &work->by_name, work->scope->model->strings.count, error));
    return VV_SCRATCH_ARRAY(own, &work->own_ns, rows, error);
}

enum varve_code vv_operator_tally(const struct vv_scope *scope, const struct vv_operator_keys *keys,
                                  const struct vv_device_work *device_work,
                                  struct vv_operator_tally *out_tally, struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    struct tallying work = { .scope = scope, .keys = keys, .tally = out_tally };
    *out_tally = (struct vv_operator_tally){ .groups = { .scratch = scope->scratch } };
    for (int which = 0; which < VV_SCOPE_COUNT; which++)
        out_tally->durations[which].scratch = scope->scratch;
    enum varve_code code = allocate(&work, &own, error);
    if (code == VARVE_OK)
        code = vv_device_share(device_work, &own, &work.share, error);
    if (code == VARVE_OK)
        code = tally_all(&work, device_work, &own, error);
    vv_scratch_deinit(&own);
    return code;
}
