/* SPDX-License-Identifier: Apache-2.0 */
/* critical.c — marks the nodes and edges of the critical path, and says how much of it is theirs.
 * A slice's time counts for the node around it, if it has none; for the node OUTSIDE, if there is
 * none around it. Time from a launch to its work, and between pieces of work, is no node's. */
#include "analyse/critical/critical.h"

#include <stdlib.h>

#include "base/binary_search.h"
#include "base/radix.h"
#include "graph/build/building.h"
#include "sheet/number.h"

struct marking {
    struct vv_graph_building *building;
    const struct vv_critical *critical;
    struct vv_keyed_row *pairs; /* neighbours on the path: from << 32 | to                        */
    size_t pair_count;
};

/* The node that has the slice's time: its holder, or the one OUTSIDE of its thread; or VV_NONE. */
static uint32_t owner_of(const struct vv_graph_building *building, uint32_t slice)
{
    uint32_t holder = vv_graph_holder(building, slice);
    return holder != VV_NONE || slice == VV_NONE
               ? holder
               : building->outside_of[building->model->slices.track[slice]];
}

static void mark_nodes(struct marking *marking)
{
    struct vv_graph_building *building = marking->building;
    struct vv_dag_nodes *nodes = &building->dag->nodes;
    const struct vv_critical_solution *solution = &marking->critical->solution;
    uint32_t former = VV_NONE;
    for (size_t i = 0; i < solution->path_count; i++) {
        const struct vv_path_step *step = &solution->path[i];
        uint32_t node = vv_graph_holder(building, marking->critical->graph.event[step->node]),
                 owner = step->link == VV_LINK_OWN ? owner_of(building, step->owner) : VV_NONE;
        if (owner != VV_NONE) {
            nodes->critical_ns[owner] += step->weight_ns;
            nodes->flags[owner] |= VV_DAG_CRITICAL;
        }
        if (node == VV_NONE)
            continue;
        nodes->flags[node] |= VV_DAG_CRITICAL;
        if (former != VV_NONE && former != node)
            marking->pairs[marking->pair_count++] =
                (struct vv_keyed_row){ (uint64_t)former << 32 | node, 0 };
        former = node;
    }
}

static void mark_edges(const struct marking *marking)
{
    struct vv_dag_edges *edges = &marking->building->dag->edges;
    for (uint64_t e = 0; e < edges->table.count; e++) {
        uint64_t key = (uint64_t)edges->from[e] << 32 | edges->to[e];
        size_t at = VV_FIRST_NOT(i, 0, marking->pair_count, marking->pairs[i].key < key);
        if (at < marking->pair_count && marking->pairs[at].key == key)
            edges->flags[e] |= VV_DAG_CRITICAL;
    }
}

static enum varve_code mark(struct marking *marking, struct vv_scratch *scratch,
                            struct varve_error *error)
{
    const struct vv_critical *critical = marking->critical;
    char length[VV_NUMBER_BYTES], window[VV_NUMBER_BYTES];
    if (critical->graph.node_count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &marking->pairs, critical->solution.path_count, error));
    mark_nodes(marking);
    VV_TRY(vv_radix_sort(marking->pairs, marking->pair_count, error));
    mark_edges(marking);
    vv_number_duration(critical->solution.length_ns, length, sizeof length);
    vv_number_duration(critical->graph.end_ns - critical->graph.begin_ns, window, sizeof window);
    return vv_dag_note(marking->building->dag, error, "critical path", "%s: %s of %s",
                       critical->windows.says, length, window);
}

enum varve_code vv_graph_mark_critical(struct vv_graph_building *building,
                                       struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct vv_critical critical;
    struct vv_question question = *building->question;
    struct marking marking = { .building = building, .critical = &critical };
    question.compat = NULL;
    enum varve_code code = vv_critical_init(&critical, building->model, &question, &scratch, error);
    if (code == VARVE_OK)
        code = mark(&marking, &scratch, error);
    vv_scratch_deinit(&scratch);
    return code;
}
