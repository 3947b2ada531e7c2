/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/paddle/events.h"

#include "base/radix.h"
#include "base/sum.h"
#include "derive/select/track_order.h"

#define SIGN_BIT (UINT64_C(1) << 63)

/* ---- which threads, and which of their ranges ---- */

static bool is_chosen(const struct vv_scope *scope, uint32_t slice)
{
    return vv_step_counts(scope, scope->model->slices.step[slice]) && vv_scope_holds(scope, slice);
}

static bool is_unfinished(const struct vv_model *model, uint32_t slice)
{
    return (model->slices.flags[slice] & VV_SLICE_UNFINISHED) != 0;
}

/* A number does not depend on the choice, so it is the same in every report of the trace. */
static enum varve_code number_threads(const struct vv_model *model, struct vv_scratch *scratch,
                                      struct vv_keyed_row **out_rows, size_t *out_count,
                                      struct varve_error *error)
{
    uint32_t *order, first, last;
    struct vv_keyed_row *rows;
    size_t count = 0;
    VV_TRY(vv_track_order(model, scratch, &order, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &rows, model->tracks.table.count, error));
    for (uint64_t i = 0; i < model->tracks.table.count; i++) {
        vv_track_rows(model, order[i], &first, &last);
        if (model->tracks.kind[order[i]] != VV_TRACK_THREAD || first == last)
            continue;
        rows[count++] = (struct vv_keyed_row){
            .key = (uint64_t)model->slices.begin_ns[first] ^ SIGN_BIT, .row = order[i]
        };
    }
    VV_TRY(vv_radix_sort(rows, count, error));
    *out_rows = rows;
    *out_count = count;
    return VARVE_OK;
}

static enum varve_code find_threads(struct vv_fluid_events *events, struct varve_error *error)
{
    const struct vv_scope *scope = events->scope;
    struct vv_keyed_row *rows;
    size_t count, longest = 0;
    VV_TRY(number_threads(scope->model, scope->scratch, &rows, &count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &events->threads, count, error));
    for (size_t i = count; i > 0; i--) {
        struct vv_fluid_thread thread = { .track = rows[i - 1].row, .number = (uint32_t)i - 1 };
        vv_track_rows(scope->model, thread.track, &thread.first, &thread.last);
        uint32_t slice = thread.first;
        while (slice < thread.last && !is_chosen(scope, slice))
            slice++;
        if (!scope->tracks[thread.track] || slice == thread.last)
            continue;
        events->threads[events->thread_count++] = thread;
        longest = thread.last - thread.first > longest ? thread.last - thread.first : longest;
    }
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &events->below, longest, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &events->name_of, longest, error));
    VV_TRY(VV_SCRATCH_ARRAY(scope->scratch, &events->ends, longest, error));
    return VV_SCRATCH_ARRAY(scope->scratch, &events->items, longest, error);
}

/* ---- the time of devices ---- */

static enum varve_code add_up_work(struct vv_fluid_events *events,
                                   const struct vv_device_work *work, struct varve_error *error)
{
    const struct vv_model *model = events->scope->model;
    const struct vv_slices *slices = &model->slices;
    if (work->count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(events->scope->scratch, &events->gpu_ns, slices->table.count, error));
    for (size_t i = 0; i < work->count; i++) {
        const struct vv_work_item *item = &work->items[i];
        uint32_t launch = model->activities.launch[item->activity];
        uint32_t range = launch != VV_NONE ? launch : model->activities.caller[item->activity];
        if (range != VV_NONE)
            events->gpu_ns[range] =
                vv_sum(events->gpu_ns[range], item->end_ns - item->begin_ns);
    }
    /* children come after their parents */
    for (uint32_t row = (uint32_t)slices->table.count; row-- > 0;)
        if (slices->parent[row] != VV_NONE)
            events->gpu_ns[slices->parent[row]] =
                vv_sum(events->gpu_ns[slices->parent[row]], events->gpu_ns[row]);
    return VARVE_OK;
}

enum varve_code vv_fluid_events_init(struct vv_fluid_events *events, const struct vv_scope *scope,
                                     struct vv_fluid_names *names,
                                     const struct vv_device_work *work, struct varve_error *error)
{
    *events = (struct vv_fluid_events){ .scope = scope, .names = names };
    VV_TRY(find_threads(events, error));
    return add_up_work(events, work, error);
}

/* ---- ends and begins ---- */

static void add_end(struct vv_fluid_events *events, uint32_t slice, size_t *count)
{
    const struct vv_slices *slices = &events->scope->model->slices;
    int64_t end_ns = slices->begin_ns[slice] + slices->duration_ns[slice];
    events->ends[(*count)++] =
        (struct vv_keyed_row){ .key = (uint64_t)end_ns ^ SIGN_BIT, .row = slice };
}

/* Sorts ends by time. Ends at one instant: ranges with a duration, the last begun first; then those
 * without, as they began. The sort is stable, so it is enough to list them in this order. */
static enum varve_code sort_ends(struct vv_fluid_events *events,
                                 const struct vv_fluid_thread *thread, size_t *out_count,
                                 struct varve_error *error)
{
    const struct vv_model *model = events->scope->model;
    *out_count = 0;
    for (uint32_t slice = thread->last; slice-- > thread->first;)
        if (model->slices.duration_ns[slice] > 0 && is_chosen(events->scope, slice) &&
            !is_unfinished(model, slice))
            add_end(events, slice, out_count);
    for (uint32_t slice = thread->first; slice < thread->last; slice++)
        if (model->slices.duration_ns[slice] == 0 && is_chosen(events->scope, slice) &&
            !is_unfinished(model, slice))
            add_end(events, slice, out_count);
    return vv_radix_sort(events->ends, *out_count, error);
}

static enum varve_code begin(struct vv_fluid_events *events, const struct vv_fluid_thread *thread,
                             uint32_t slice, struct varve_error *error)
{
    const struct vv_model *model = events->scope->model;
    uint32_t name, at = slice - thread->first;
    VV_TRY(vv_fluid_name(events->names, model->slices.name[slice], &name, error));
    size_t known = events->open_capacity;
    VV_TRY(VV_SCRATCH_RESERVE(events->scope->scratch, &events->open, &events->open_capacity,
                              (size_t)name + 1, error));
    for (; known < events->open_capacity; known++)
        events->open[known] = VV_NONE;
    events->name_of[at] = name;
    events->below[at] = events->open[name];
    events->open[name] = slice;
    events->unfinished += is_unfinished(model, slice);
    return VARVE_OK;
}

/* Each end comes after its own begin. So of its name at least one slice of this thread is open, and
 * the latest is of this thread, even where other threads left begins without an end. */
static void end(struct vv_fluid_events *events, const struct vv_fluid_thread *thread,
                uint32_t slice)
{
    const struct vv_slices *slices = &events->scope->model->slices;
    uint32_t name = events->name_of[slice - thread->first], begun = events->open[name];
    int64_t end_ns = slices->begin_ns[slice] + slices->duration_ns[slice];
    events->open[name] = events->below[begun - thread->first];
    events->items[events->count++] = (struct vv_fluid_event){
        .name = name,
        .cpu_ns = end_ns - slices->begin_ns[begun],
        .gpu_ns = events->gpu_ns != NULL ? events->gpu_ns[begun] : 0,
    };
}

enum varve_code vv_fluid_events_read(struct vv_fluid_events *events,
                                     const struct vv_fluid_thread *thread,
                                     struct varve_error *error)
{
    const struct vv_slices *slices = &events->scope->model->slices;
    size_t ends, next = 0;
    events->count = 0;
    VV_TRY(sort_ends(events, thread, &ends, error));
    for (uint32_t slice = thread->first; slice < thread->last; slice++) {
        uint64_t begin_key = (uint64_t)slices->begin_ns[slice] ^ SIGN_BIT;
        if (!is_chosen(events->scope, slice))
            continue;
        while (next < ends && events->ends[next].key <= begin_key && events->ends[next].row < slice)
            end(events, thread, events->ends[next++].row);
        VV_TRY(begin(events, thread, slice, error));
    }
    while (next < ends)
        end(events, thread, events->ends[next++].row);
    return VARVE_OK;
}
