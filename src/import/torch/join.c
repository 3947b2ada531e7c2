/* SPDX-License-Identifier: Apache-2.0 */
/* join.c — gives the tensors of an execution trace to the operators of the profiler's trace of the
 * same run. The profiler's argument "Record function id" is a node's rf_id, and the names must be
 * equal. Of several processes with the pid of the execution trace, as in containers, the one with
 * most such operators is meant. A profiler without these ids is joined by in_order.c. */
#include <string.h>

#include "base/scratch.h"
#include "import/torch/execution_trace.h"
#include "model/arg_walk.h"
#include "model/id_map.h"

#define ID_KEY "Record function id"

struct joining {
    struct vv_et *trace;
    struct vv_model *model;
    struct vv_scratch scratch;
    struct numbered { uint64_t id; uint32_t slice; } *slices;
    size_t slice_count;
    struct vv_id_map *slice_of;     /* (process, id) -> slice                                   */
    bool *is_taken;                 /* ops that a node has                                      */
};

static uint32_t process_of(const struct joining *joining, uint32_t slice)
{
    const struct vv_model *model = joining->model;
    uint32_t track = model->slices.track[slice];
    return track < model->tracks.table.count ? model->tracks.process[track] : VV_NONE;
}

/* The profiler's id of a slice; 0 = none. */
static uint64_t id_of(const struct vv_model *model, uint32_t slice, uint32_t key)
{
    struct vv_arg_walk walk =
        vv_arg_walk(model, model->slices.first_arg[slice], model->slices.arg_count[slice]);
    for (uint32_t row; vv_arg_next(&walk, &row);)
        if (model->args.key[row] == key && model->args.kind[row] == VV_ARG_INT)
            return (int64_t)model->args.value[row] > 0 ? model->args.value[row] : 0;
    return 0;
}

static enum varve_code find_slices(struct joining *joining, struct varve_error *error)
{
    const struct vv_model *model = joining->model;
    uint32_t key = vv_intern_find(&model->strings, ID_KEY, sizeof ID_KEY - 1);
    struct vv_id_range range = { 0 };
    size_t count = model->slices.table.count;
    if (key == UINT32_MAX)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(&joining->scratch, &joining->slices, count, error));
    for (uint32_t slice = 0; slice < count; slice++) {
        uint32_t process = process_of(joining, slice);
        uint64_t id;
        if (process == VV_NONE || model->processes.pid[process] != joining->trace->pid ||
            (id = id_of(model, slice, key)) == 0)
            continue;
        joining->slices[joining->slice_count++] = (struct numbered){ id, slice };
        vv_id_range_add(&range, process, id);
    }
    if (joining->slice_count == 0)
        return VARVE_OK;
    VV_TRY(vv_id_map_in(&joining->scratch, &joining->slice_of, &range, error));
    for (size_t i = joining->slice_count; i-- > 0;) /* the first of an id stays */
        *vv_id_map_put(joining->slice_of, process_of(joining, joining->slices[i].slice),
                       joining->slices[i].id) = joining->slices[i].slice;
    return VARVE_OK;
}

/* The operator of a process that a node is; VV_NONE. */
static uint32_t find(const struct joining *joining, uint32_t process, const struct vv_et_node *node)
{
    if (node->rf_id == 0)
        return VV_NONE;
    uint32_t slice = vv_id_map_find(joining->slice_of, process, node->rf_id);
    return slice != VV_NONE && joining->model->slices.name[slice] == node->name ? slice : VV_NONE;
}

static uint64_t count_in(const struct joining *joining, uint32_t process)
{
    uint64_t found = 0;
    for (size_t i = 0; i < joining->trace->nodes.count; i++)
        found += find(joining, process, &joining->trace->nodes.items[i]) != VV_NONE;
    return found;
}

/* VV_NONE: no process has an operator of the trace. */
static uint32_t choose_process(const struct joining *joining)
{
    const struct vv_processes *processes = &joining->model->processes;
    uint32_t chosen = VV_NONE;
    uint64_t most = 0;
    for (uint32_t process = 0; process < processes->table.count; process++) {
        uint64_t found =
            processes->pid[process] == joining->trace->pid ? count_in(joining, process) : 0;
        if (found > most) {
            most = found;
            chosen = process;
        }
    }
    return chosen;
}

/* ---- tensors ---- */

static enum varve_code add_tensor(struct joining *joining, uint32_t op, uint32_t number,
                                  enum vv_tensor_side side, uint64_t identity,
                                  struct varve_error *error)
{
    struct vv_model *model = joining->model;
    const struct vv_et *trace = joining->trace;
    const struct vv_et_tensor *tensor = &trace->tensors.items[number];
    uint32_t row;
    VV_TRY(vv_model_add_tensor(model, tensor->dtype, tensor->rank,
                               trace->dims.items + tensor->first_dim, &row, error));
    model->tensors.side[row] = (uint8_t)side;
    model->tensors.identity[row] = identity;
    if (model->ops.tensor_count[op] + model->ops.output_count[op] == 0)
        model->ops.first_tensor[op] = row;
    *(side == VV_TENSOR_INPUT ? &model->ops.tensor_count[op] : &model->ops.output_count[op]) += 1;
    return VARVE_OK;
}

static enum varve_code add_tensors(struct joining *joining, const struct vv_et_node *node,
                                   uint32_t op, struct varve_error *error)
{
    struct vv_et *trace = joining->trace;
    struct vv_ops *ops = &joining->model->ops;
    const struct vv_et_tensor *tensors = trace->tensors.items + node->first_tensor;
    ops->tensor_count[op] = ops->output_count[op] = 0;
    for (uint32_t i = 0; i < node->inputs; i++)
        VV_TRY(add_tensor(joining, op, node->first_tensor + i, VV_TENSOR_INPUT, tensors[i].storage,
                          error));
    for (uint32_t i = 0; i < node->outputs; i++)
        VV_TRY(add_tensor(joining, op, node->first_tensor + node->inputs + i, VV_TENSOR_OUTPUT,
                          tensors[node->inputs + i].is_made ? tensors[node->inputs + i].storage : 0,
                          error));
    for (uint32_t i = 0; i < node->inputs; i++)
        if (tensors[i].is_made)
            VV_TRY(add_tensor(joining, op, node->first_tensor + i, VV_TENSOR_OUTPUT,
                              tensors[i].storage, error));
    return vv_et_shapes(trace, node, &ops->shapes[op], error);
}

/* slice_of[node], by the profiler's ids. */
static void find_by_id(const struct joining *joining, uint32_t *slice_of)
{
    uint32_t process = choose_process(joining);
    for (size_t i = 0; i < joining->trace->nodes.count; i++)
        slice_of[i] = process != VV_NONE ? find(joining, process, &joining->trace->nodes.items[i])
                                         : VV_NONE;
}

static enum varve_code join(struct joining *joining, uint64_t *out_joined,
                            struct varve_error *error)
{
    struct vv_model *model = joining->model;
    size_t op_count = model->ops.table.count, count = joining->trace->nodes.count;
    uint32_t *slice_of;
    VV_TRY(VV_SCRATCH_ARRAY(&joining->scratch, &slice_of, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(&joining->scratch, &joining->is_taken, op_count, error));
    VV_TRY(find_slices(joining, error));
    if (joining->slice_count > 0)
        find_by_id(joining, slice_of);
    else
        VV_TRY(vv_et_find_in_order(joining->trace, slice_of, &joining->scratch, error));
    for (size_t i = 0; i < count; i++) {
        uint32_t slice = slice_of[i];
        if (slice == VV_NONE)
            continue;
        uint32_t op = model->slices.op[slice];
        if (op != VV_NONE && op < op_count && joining->is_taken[op])
            continue; /* two slices share it, or two nodes have one id */
        if (op == VV_NONE)
            VV_TRY(vv_model_add_op(model, &op, error));
        else
            joining->is_taken[op] = true;
        model->slices.op[slice] = op;
        VV_TRY(add_tensors(joining, &joining->trace->nodes.items[i], op, error));
        ++*out_joined;
    }
    return VARVE_OK;
}

enum varve_code vv_et_join(struct vv_et *trace, uint64_t *out_joined, struct varve_error *error)
{
    struct joining joining = { .trace = trace, .model = trace->model };
    *out_joined = 0;
    enum varve_code code = join(&joining, out_joined, error);
    vv_scratch_deinit(&joining.scratch);
    return code;
}
