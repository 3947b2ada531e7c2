/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c — a node for each execution: slices of the host, and the work of devices. */
#include <stdlib.h>

#include "base/radix.h"
#include "derive/operators/own_time.h"
#include "graph/build/building.h"
#include "meaning/device_class.h"
#include "sheet/number.h"

/* ---- one node ---- */

static enum varve_code add_traits(struct vv_graph_building *building, uint32_t slice, uint32_t node,
                                  struct varve_error *error)
{
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    const struct vv_traits *traits = &building->traits;
    uint32_t module = vv_trait_of(traits, VV_TRAIT_MODULE, slice),
             phase = vv_trait_of(traits, VV_TRAIT_PHASE, slice),
             source = vv_trait_of(traits, VV_TRAIT_SOURCE, slice),
             shapes = vv_trait_of(traits, VV_TRAIT_SHAPE, slice);
    if (module != VV_NONE)
        VV_TRY(vv_graph_text(building, module, &nodes->module[node], error));
    if (phase != VV_NONE)
        VV_TRY(vv_dag_text(building->dag, vv_phase_text(building->model, phase),
                           &nodes->phase[node], error));
    if (source != VV_NONE)
        VV_TRY(vv_dag_text(building->dag, vv_intern_text(traits->texts, source),
                           &nodes->source[node], error));
    if (shapes != VV_NONE)
        VV_TRY(vv_graph_shapes(building, shapes, &nodes->inputs[node], &nodes->outputs[node],
                               error));
    return VARVE_OK;
}

static void add_amounts(struct vv_graph_building *building, uint32_t slice, uint32_t node)
{
    const struct vv_model *model = building->model;
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    uint32_t op = model->slices.op[slice], activity = model->slices.activity[slice];
    if (op != VV_NONE) {
        uint32_t collective = model->ops.collective[op];
        nodes->flop[node] = model->ops.flop[op];
        nodes->bytes[node] = model->ops.bytes[op];
        if (nodes->bytes[node] == 0 && collective != VV_NONE)
            nodes->bytes[node] = model->collectives.bytes[collective];
    }
    if (activity != VV_NONE && model->activities.bytes[activity] != 0)
        nodes->bytes[node] = model->activities.bytes[activity];
}

static uint32_t step_of(const struct vv_model *model, uint32_t slice)
{
    uint32_t activity = model->slices.activity[slice],
             launch = activity != VV_NONE && vv_is_device_work(model, activity)
                          ? model->activities.launch[activity]
                          : VV_NONE;
    return model->slices.step[launch != VV_NONE ? launch : slice];
}

enum varve_code vv_graph_add_slice_node(struct vv_graph_building *building, uint32_t slice,
                                        enum vv_dag_kind kind, int64_t self_ns,
                                        uint32_t *out_node, struct varve_error *error)
{
    const struct vv_model *model = building->model;
    struct vv_dag *dag = building->dag;
    uint32_t node, step = step_of(model, slice);
    VV_TRY(vv_dag_add_node(dag, NULL, kind, &node, error));
    struct vv_dag_nodes *nodes = &dag->nodes;
    int64_t duration_ns = model->slices.duration_ns[slice];
    nodes->id[node] = (uint64_t)slice + 1;
    nodes->count[node] = 1;
    nodes->begin_ns[node] = model->slices.begin_ns[slice];
    nodes->end_ns[node] = nodes->begin_ns[node] + duration_ns;
    nodes->total_ns[node] = nodes->min_ns[node] = nodes->max_ns[node] = duration_ns;
    nodes->p50_ns[node] = nodes->p95_ns[node] = duration_ns;
    nodes->self_ns[node] = self_ns;
    if (model->slices.flags[slice] & VV_SLICE_UNFINISHED)
        nodes->flags[node] |= VV_DAG_UNFINISHED;
    VV_TRY(vv_graph_text(building, model->slices.name[slice], &nodes->name[node], error));
    VV_TRY(vv_graph_where(building, model->slices.track[slice], &nodes->where[node], error));
    VV_TRY(add_traits(building, slice, node, error));
    add_amounts(building, slice, node);
    VV_TRY(VV_SCRATCH_RESERVE(building->scratch, &building->slice_of, &building->slice_capacity,
                              (size_t)node + 1, error));
    building->slice_of[node] = slice;
    building->holder[slice] = node;
    *out_node = node;
    if (step != VV_NONE)
        VV_TRY(vv_dag_add_occurrence(dag, node, model->steps.index[step], 1, duration_ns, error));
    return VARVE_OK;
}

/* ---- the host ---- */

static enum vv_dag_kind host_kind(struct vv_graph_building *building, uint32_t slice)
{
    static const enum vv_dag_kind of_role[VV_HOST_COUNT] = {
        [VV_HOST_NONE] = VV_DAG_RANGE,   [VV_HOST_OP] = VV_DAG_OPERATOR,
        [VV_HOST_PYTHON] = VV_DAG_PYTHON, [VV_HOST_GC] = VV_DAG_RANGE,
        [VV_HOST_COMPILE] = VV_DAG_RANGE, [VV_HOST_LOADER] = VV_DAG_RANGE,
        [VV_HOST_COMM] = VV_DAG_COLLECTIVE, [VV_HOST_CALL] = VV_DAG_CALL,
        [VV_HOST_ALLOCATION] = VV_DAG_CALL, [VV_HOST_SYNC] = VV_DAG_CALL,
    };
    const struct vv_slices *slices = &building->model->slices;
    if (slices->layer[slice] == VARVE_LAYER_PYTHON)
        return VV_DAG_PYTHON;
    if ((slices->flags[slice] & VV_SLICE_ANNOTATION) != 0 ||
        slices->layer[slice] == VARVE_LAYER_API)
        return VV_DAG_RANGE;
    return of_role[vv_host_role_of(&building->roles, slice)];
}

static bool is_drawn(const struct vv_graph_building *building, vv_graph_draws *draws,
                     uint32_t slice)
{
    const struct vv_model *model = building->model;
    return vv_is_operator(model, slice) && (model->slices.flags[slice] & VV_SLICE_OVERHEAD) == 0 &&
           vv_step_counts(&building->scope, model->slices.step[slice]) &&
           vv_scope_holds(&building->scope, slice) && (draws == NULL || draws(building, slice));
}

/* Slices whose time is divided among them: all of a track, or those of one kind. */
struct own {
    int64_t *begin_ns, *duration_ns, *own_ns;
    uint32_t *rows, *stack;
    uint32_t count;
};

static enum varve_code own_init(struct own *own, size_t rows, struct vv_scratch *scratch,
                                struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &own->begin_ns, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &own->duration_ns, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &own->own_ns, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &own->rows, rows, error));
    return VV_SCRATCH_ARRAY(scratch, &own->stack, rows, error);
}

/* Takes the rows [first, last) that `draws` names: a callee that has no node leaves its time to its
 * caller. Without `draws` all rows count, as in table `operators`. */
static void own_take(struct own *own, const struct vv_graph_building *building,
                     vv_graph_draws *draws, uint32_t first, uint32_t last)
{
    const struct vv_slices *slices = &building->model->slices;
    own->count = 0;
    for (uint32_t row = first; row < last; row++) {
        if (draws != NULL && !draws(building, row))
            continue;
        own->begin_ns[own->count] = slices->begin_ns[row];
        own->duration_ns[own->count] = slices->duration_ns[row];
        own->rows[own->count++] = row;
    }
}

static void own_divide(struct own *own, int64_t end_ns)
{
    const struct vv_slices taken = { .begin_ns = own->begin_ns, .duration_ns = own->duration_ns };
    vv_own_time(&taken, 0, own->count, end_ns, own->stack, own->own_ns);
}

static enum varve_code add_thread(struct vv_graph_building *building, vv_graph_draws *draws,
                                  struct own *own, uint32_t track, struct varve_error *error)
{
    uint32_t first, last, node;
    vv_track_rows(building->model, track, &first, &last);
    own_take(own, building, draws, first, last);
    own_divide(own, INT64_MAX);
    for (uint32_t i = 0; i < own->count; i++) {
        uint32_t row = own->rows[i];
        if (is_drawn(building, draws, row))
            VV_TRY(vv_graph_add_slice_node(building, row, host_kind(building, row),
                                           own->own_ns[i], &node, error));
    }
    return VARVE_OK;
}

/* Sets outside_ns[step]: the time of a chosen step in which no node's slice was the innermost one.
 * Gives the time of nodes in all of them. */
static int64_t find_outside(struct vv_graph_building *building, vv_graph_draws *draws,
                            struct own *own, int64_t *outside_ns)
{
    const struct vv_steps *steps = &building->model->steps;
    int64_t inside_ns = 0;
    for (uint32_t step = 0; step < steps->table.count; step++) {
        uint32_t first, last;
        outside_ns[step] = steps->duration_ns[step];
        if (!building->scope.steps[step])
            continue;
        vv_step_rows(building->model, step, &first, &last);
        own_take(own, building, draws, first, last);
        own_divide(own, steps->begin_ns[step] + steps->duration_ns[step]);
        for (uint32_t i = 0; i < own->count; i++)
            if (is_drawn(building, draws, own->rows[i]))
                outside_ns[step] -= own->own_ns[i];
        inside_ns += steps->duration_ns[step] - outside_ns[step];
    }
    return inside_ns;
}

/* Adds a step to its thread's node OUTSIDE. Steps stand in order of time on their thread. */
static enum varve_code add_outside(struct vv_graph_building *building, uint32_t step,
                                   int64_t outside_ns, uint32_t *node, struct varve_error *error)
{
    const struct vv_steps *steps = &building->model->steps;
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    int64_t end_ns = steps->begin_ns[step] + steps->duration_ns[step];
    if (*node == VV_NONE) {
        VV_TRY(vv_dag_add_node(building->dag, "(outside)", VV_DAG_OUTSIDE, node, error));
        VV_TRY(vv_graph_where(building, steps->track[step], &nodes->where[*node], error));
        nodes->id[*node] = building->model->slices.table.count + 1 + steps->track[step];
        VV_TRY(VV_SCRATCH_RESERVE(building->scratch, &building->slice_of,
                                  &building->slice_capacity, (size_t)*node + 1, error));
        building->slice_of[*node] = VV_NONE;
        building->outside_of[steps->track[step]] = *node;
        nodes->begin_ns[*node] = steps->begin_ns[step];
        nodes->min_ns[*node] = nodes->max_ns[*node] = outside_ns;
    }
    nodes->count[*node]++;
    nodes->end_ns[*node] = end_ns > nodes->end_ns[*node] ? end_ns : nodes->end_ns[*node];
    nodes->total_ns[*node] += outside_ns;
    nodes->self_ns[*node] += outside_ns;
    nodes->min_ns[*node] = outside_ns < nodes->min_ns[*node] ? outside_ns : nodes->min_ns[*node];
    nodes->max_ns[*node] = outside_ns > nodes->max_ns[*node] ? outside_ns : nodes->max_ns[*node];
    return vv_dag_add_occurrence(building->dag, *node, steps->index[step], 1, outside_ns, error);
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The node OUTSIDE of the thread of these steps. `sorted` has room for all of them. */
static enum varve_code add_outside_of(struct vv_graph_building *building,
                                      const struct vv_keyed_row *steps, size_t count,
                                      const int64_t *outside_ns, int64_t *sorted,
                                      struct varve_error *error)
{
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    uint32_t node = VV_NONE;
    for (size_t i = 0; i < count; i++) {
        VV_TRY(add_outside(building, steps[i].row, outside_ns[steps[i].row], &node, error));
        sorted[i] = outside_ns[steps[i].row];
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    nodes->p50_ns[node] = sorted[(count - 1) / 2];
    nodes->p95_ns[node] = sorted[(count - 1) * 95 / 100];
    return VARVE_OK;
}

static enum varve_code add_all_outside(struct vv_graph_building *building,
                                       const int64_t *outside_ns, struct vv_scratch *scratch,
                                       struct varve_error *error)
{
    const struct vv_steps *steps = &building->model->steps;
    struct vv_keyed_row *keys; /* chosen steps, by thread */
    int64_t *sorted;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &keys, steps->table.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &sorted, steps->table.count, error));
    for (uint32_t step = 0; step < steps->table.count; step++)
        if (building->scope.steps[step])
            keys[count++] = (struct vv_keyed_row){ steps->track[step], step };
    VV_TRY(vv_radix_sort(keys, count, error));
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && keys[last].key == keys[first].key; last++)
            ;
        VV_TRY(add_outside_of(building, keys + first, last - first, outside_ns, sorted, error));
    }
    return VARVE_OK;
}

static enum varve_code add_threads(struct vv_graph_building *building, vv_graph_draws *draws,
                                   struct vv_scratch *own_scratch, struct varve_error *error)
{
    const struct vv_model *model = building->model;
    struct own own;
    int64_t *outside_ns, drawn_ns = 0;
    char beyond[VV_NUMBER_BYTES];
    VV_TRY(own_init(&own, model->slices.table.count, own_scratch, error));
    VV_TRY(VV_SCRATCH_ARRAY(own_scratch, &outside_ns, model->steps.table.count, error));
    for (uint32_t track = 0; track < model->tracks.table.count; track++)
        if (building->scope.tracks[track] && vv_track_works(model, track))
            VV_TRY(add_thread(building, draws, &own, track, error));
    for (uint32_t node = 0; node < building->dag->nodes.table.count; node++)
        if (building->scope.step_tracks[model->slices.track[building->slice_of[node]]])
            drawn_ns += building->dag->nodes.self_ns[node];
    int64_t inside_ns = find_outside(building, draws, &own, outside_ns);
    VV_TRY(add_all_outside(building, outside_ns, own_scratch, error));
    if (drawn_ns == inside_ns)
        return VARVE_OK;
    vv_number_duration(drawn_ns - inside_ns, beyond, sizeof beyond);
    return vv_dag_note(building->dag, error, "beyond steps",
                       "%s on threads with steps: --steps 0.. leaves it out", beyond);
}

enum varve_code vv_graph_host_nodes(struct vv_graph_building *building, vv_graph_draws *draws,
                                    struct varve_error *error)
{
    struct vv_scratch own = { 0 };
    enum varve_code code = add_threads(building, draws, &own, error);
    vv_scratch_deinit(&own);
    return code;
}

/* ---- devices ---- */

static enum varve_code say_device(struct vv_graph_building *building, uint32_t node, uint32_t id,
                                  struct varve_error *error)
{
    char text[40];
    if (id == VV_NONE)
        return VARVE_OK;
    vv_device_text(id, text, sizeof text);
    return vv_dag_text(building->dag, text, &building->dag->nodes.device[node], error);
}

/* A device's own record of a wait counts as work does. */
static bool is_wait(const struct vv_graph_building *building, uint32_t activity)
{
    const struct vv_model *model = building->model;
    const struct vv_scope *scope = &building->scope;
    uint32_t slice = model->activities.slice[activity], launch = model->activities.launch[activity];
    if (model->activities.kind[activity] != VV_ACTIVITY_SYNC || slice == VV_NONE ||
        !vv_scope_holds(scope, slice))
        return false;
    uint32_t track = model->slices.track[slice], process = model->tracks.process[track],
             device = model->activities.device[activity];
    const char *wanted = building->question->selection.device;
    if (model->tracks.kind[track] != VV_TRACK_DEVICE ||
        (process != VV_NONE && !scope->processes[process]) ||
        (wanted != NULL && strcmp(wanted, "all") != 0 &&
         !vv_device_is_called(device != VV_NONE ? device : model->tracks.device[track], wanted)) ||
        (scope->by_thread && (launch == VV_NONE || !scope->tracks[model->slices.track[launch]])))
        return false;
    return vv_step_counts(scope, model->slices.step[launch != VV_NONE ? launch : slice]);
}

static enum varve_code add_waits(struct vv_graph_building *building, struct varve_error *error)
{
    const struct vv_model *model = building->model;
    for (uint32_t a = 0; a < model->activities.table.count; a++) {
        uint32_t node, slice = model->activities.slice[a], device = model->activities.device[a];
        if (!is_wait(building, a) || building->holder[slice] != VV_NONE)
            continue;
        VV_TRY(vv_graph_add_slice_node(building, slice, VV_DAG_WAIT,
                                       model->slices.duration_ns[slice], &node, error));
        if (device == VV_NONE)
            device = model->tracks.device[model->slices.track[slice]];
        VV_TRY(say_device(building, node, device, error));
    }
    return VARVE_OK;
}

enum varve_code vv_graph_device_nodes(struct vv_graph_building *building,
                                      struct varve_error *error)
{
    static const enum vv_dag_kind of_class[VV_CLASS_COUNT] = {
        [VV_CLASS_COMPUTE] = VV_DAG_KERNEL, [VV_CLASS_COMM] = VV_DAG_COLLECTIVE,
        [VV_CLASS_COPY] = VV_DAG_COPY, [VV_CLASS_SET] = VV_DAG_COPY,
    };
    struct vv_device_work *work = &building->work;
    VV_TRY(vv_device_work_init(work, &building->scope, building->question->selection.device,
                               error));
    for (size_t d = 0; d < work->device_count; d++)
        for (size_t i = work->devices[d].first; i < work->devices[d].last; i++) {
            uint32_t node, slice = building->model->activities.slice[work->items[i].activity];
            if (building->holder[slice] != VV_NONE)
                continue;
            VV_TRY(vv_graph_add_slice_node(building, slice, of_class[work->items[i].class],
                                           building->model->slices.duration_ns[slice], &node,
                                           error));
            VV_TRY(say_device(building, node, work->devices[d].id, error));
        }
    return add_waits(building, error);
}

void vv_graph_find_holders(struct vv_graph_building *building)
{
    const struct vv_slices *slices = &building->model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++)
        if (building->holder[row] == VV_NONE && slices->parent[row] != VV_NONE)
            building->holder[row] = building->holder[slices->parent[row]];
}

/* What is allocated while no slice inside is open. */
void vv_graph_add_memory(struct vv_graph_building *building)
{
    const struct vv_model *model = building->model;
    const struct vv_memory *memory = &model->memory;
    for (uint32_t event = 0; event < memory->table.count; event++) {
        uint32_t track = memory->track[event];
        if (memory->bytes[event] <= 0 || track == VV_NONE || !building->scope.tracks[track])
            continue;
        uint32_t node =
            vv_graph_holder(building, vv_slice_at(model, track, memory->time_ns[event]));
        if (node != VV_NONE)
            building->dag->nodes.memory_bytes[node] += (uint64_t)memory->bytes[event];
    }
}
