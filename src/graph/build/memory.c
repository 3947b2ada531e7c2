/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — the graph of memory: a node for each piece of memory that was allocated, from its
 * allocation to its release, between the operators that allocated and released it. Who reads a
 * piece in between is not known from an allocator; data edges between operators say it. */
#include <inttypes.h>

#include "analyse/memory/lifetimes.h"
#include "graph/build/building.h"
#include "graph/build/kinds.h"

struct remembering {
    struct vv_graph_building *building;
    struct vv_allocations allocations;
    uint32_t *operator_of; /* row in memory -> the slice that was open; VV_NONE                   */
};

static uint32_t operator_at(const struct remembering *remembering, uint32_t event)
{
    return event != VV_NONE ? remembering->operator_of[event] : VV_NONE;
}

static enum varve_code find_operators(struct remembering *remembering, struct varve_error *error)
{
    struct vv_graph_building *building = remembering->building;
    const struct vv_model *model = building->model;
    const struct vv_memory *memory = &model->memory;
    VV_TRY(VV_SCRATCH_ARRAY(building->scratch, &remembering->operator_of, memory->table.count,
                            error));
    for (uint32_t event = 0; event < memory->table.count; event++) {
        uint32_t track = memory->track[event];
        remembering->operator_of[event] =
            track != VV_NONE && building->scope.tracks[track]
                ? vv_operator_at(model, track, memory->time_ns[event])
                : VV_NONE;
    }
    VV_TRY(VV_SCRATCH_ZEROS(building->scratch, &building->chosen, model->slices.table.count,
                            error));
    for (size_t i = 0; i < remembering->allocations.count; i++) {
        const struct vv_allocation *item = &remembering->allocations.items[i];
        uint32_t ends[] = { operator_at(remembering, item->made),
                            operator_at(remembering, item->freed) };
        for (int end = 0; end < 2; end++)
            if (ends[end] != VV_NONE)
                building->chosen[ends[end]] = true;
    }
    return VARVE_OK;
}

static bool is_chosen(const struct vv_graph_building *building, uint32_t slice)
{
    return building->chosen[slice];
}

/* The instants between which the piece is known to be there. */
static struct vv_interval life_of(const struct remembering *remembering,
                                  const struct vv_allocation *item)
{
    const struct vv_run *run = &remembering->building->model->run;
    struct vv_interval life = { item->begin_ns != INT64_MIN ? item->begin_ns : run->begin_ns,
                                item->end_ns != INT64_MAX ? item->end_ns : run->end_ns };
    if (life.begin_ns > life.end_ns)
        life.begin_ns = life.end_ns;
    return life;
}

static enum varve_code name_piece(struct remembering *remembering, const struct vv_allocation *item,
                                  uint32_t node, struct varve_error *error)
{
    struct vv_graph_building *building = remembering->building;
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    uint32_t maker = operator_at(remembering, item->made);
    char text[40];
    vv_device_text(remembering->allocations.pools[item->pool].device, text, sizeof text);
    VV_TRY(vv_dag_text(building->dag, text, &nodes->device[node], error));
    if (item->made != VV_NONE && building->model->memory.track[item->made] != VV_NONE)
        VV_TRY(vv_graph_where(building, building->model->memory.track[item->made],
                              &nodes->where[node], error));
    if (maker != VV_NONE)
        return vv_graph_text(building, building->model->slices.name[maker], &nodes->name[node],
                             error);
    return vv_dag_text(building->dag,
                       item->begin_ns == INT64_MIN ? "(before the trace)" : "(no operator)",
                       &nodes->name[node], error);
}

static enum varve_code add_piece(struct remembering *remembering, const struct vv_allocation *item,
                                 struct varve_error *error)
{
    struct vv_graph_building *building = remembering->building;
    struct vv_dag *dag = building->dag;
    struct vv_interval life = life_of(remembering, item);
    uint32_t node, made = vv_graph_holder(building, operator_at(remembering, item->made)),
                   freed = vv_graph_holder(building, operator_at(remembering, item->freed)), text;
    VV_TRY(vv_dag_add_node(dag, NULL, VV_DAG_TENSOR, &node, error));
    struct vv_dag_nodes *nodes = &dag->nodes;
    nodes->count[node] = 1;
    nodes->begin_ns[node] = life.begin_ns;
    nodes->end_ns[node] = life.end_ns;
    nodes->total_ns[node] = nodes->min_ns[node] = nodes->max_ns[node] =
        life.end_ns - life.begin_ns;
    nodes->p50_ns[node] = nodes->p95_ns[node] = nodes->total_ns[node];
    nodes->memory_bytes[node] = (uint64_t)item->bytes;
    if (item->end_ns == INT64_MAX)
        nodes->flags[node] |= VV_DAG_UNFINISHED;
    VV_TRY(name_piece(remembering, item, node, error));
    VV_TRY(VV_SCRATCH_RESERVE(building->scratch, &building->slice_of, &building->slice_capacity,
                              (size_t)node + 1, error));
    building->slice_of[node] = VV_NONE;
    VV_TRY(vv_dag_text(dag, "allocates", &text, error));
    VV_TRY(vv_graph_edge(building, made, node, VV_DAG_EDGE_DATA, text, error));
    VV_TRY(vv_dag_text(dag, "released in", &text, error));
    if (freed != VV_NONE && nodes->begin_ns[freed] > life.begin_ns)
        VV_TRY(vv_graph_edge(building, node, freed, VV_DAG_EDGE_DATA, text, error));
    return VARVE_OK;
}

static enum varve_code add_pieces(struct remembering *remembering, struct varve_error *error)
{
    struct vv_graph_building *building = remembering->building;
    const struct vv_allocations *allocations = &remembering->allocations;
    uint64_t kept = 0;
    VV_TRY(vv_graph_host_nodes(building, is_chosen, error));
    vv_graph_find_holders(building);
    for (size_t i = 0; i < allocations->count; i++) {
        kept += allocations->items[i].end_ns == INT64_MAX;
        VV_TRY(add_piece(remembering, &allocations->items[i], error));
    }
    return vv_dag_note(building->dag, error, "memory",
                       "%zu pieces, of which %" PRIu64 " are not released in the trace",
                       allocations->count, kept);
}

static enum varve_code build_memory(struct vv_graph_building *building, struct varve_error *error)
{
    struct remembering remembering = { .building = building };
    VV_TRY(vv_allocations_init(&remembering.allocations, &building->scope,
                               building->question->selection.device, error));
    building->unknown[VV_DAG_EDGE_DATA] = "no operator is open where memory is allocated";
    if (remembering.allocations.count == 0)
        return vv_dag_note(building->dag, error, "nodes", "%s",
                           vv_allocations_none(&remembering.allocations));
    VV_TRY(find_operators(&remembering, error));
    return add_pieces(&remembering, error);
}

const struct vv_graph_kind vv_graph_memory = { "memory", 1u << VV_DAG_EDGE_DATA, true,
                                               build_memory };
