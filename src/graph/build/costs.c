/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c — FLOP and bytes of operators. If the program says them, they are its own. Otherwise they
 * are estimated, as table roofline does it: of nested operators the outermost that has a cost
 * counts, so that sums count nothing twice. */
#include "graph/build/building.h"
#include "meaning/op_cost.h"

static bool says_flop(const struct vv_model *model)
{
    for (uint64_t op = 0; op < model->ops.table.count; op++)
        if (model->ops.flop[op] != 0)
            return true;
    return false;
}

static uint64_t whole(double amount)
{
    return amount >= 1 && amount < 1.8e19 ? (uint64_t)amount : 0;
}

static enum varve_code estimate(struct vv_graph_building *building, struct vv_scratch *scratch,
                                struct varve_error *error)
{
    const struct vv_model *model = building->model;
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    struct vv_costs costs;
    bool *has_cost;
    VV_TRY(vv_costs_init(&costs, model, scratch, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &has_cost, nodes->table.count, error));
    for (uint32_t node = 0; node < nodes->table.count; node++) {
        uint32_t slice = building->slice_of[node];
        struct vv_op_cost cost;
        if (slice == VV_NONE)
            continue;
        uint32_t around = vv_graph_holder(building, model->slices.parent[slice]);
        has_cost[node] = around != VV_NONE && has_cost[around];
        if (has_cost[node] || model->slices.op[slice] == VV_NONE ||
            !vv_op_cost(&costs, slice, &cost))
            continue;
        has_cost[node] = true;
        nodes->flop[node] = whole(cost.flop);
        if (nodes->bytes[node] == 0)
            nodes->bytes[node] = whole(cost.bytes);
    }
    return VARVE_OK;
}

enum varve_code vv_graph_add_costs(struct vv_graph_building *building, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    enum varve_code code = VARVE_OK;
    if (!says_flop(building->model))
        code = estimate(building, &scratch, error);
    vv_scratch_deinit(&scratch);
    return code;
}
