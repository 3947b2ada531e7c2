/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c — what follows from the leaves of a folded graph: totals of groups, levels, order of the
 * edges. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/dag/levels.h"
#include "graph/fold/folding.h"
#include "model/columns.h"

static void add_to_group(struct vv_dag_nodes *nodes, uint32_t group, uint32_t row)
{
    nodes->total_ns[group] += nodes->kind[row] == VV_DAG_GROUP ? nodes->total_ns[row]
                                                               : nodes->self_ns[row];
    nodes->critical_ns[group] += nodes->critical_ns[row];
    nodes->flop[group] += nodes->flop[row];
    nodes->bytes[group] += nodes->bytes[row];
    nodes->memory_bytes[group] += nodes->memory_bytes[row];
    nodes->flags[group] |= nodes->flags[row];
    if (nodes->count[row] == 0)
        return; /* when it ran is not known */
    if (nodes->count[group] == 0 || nodes->begin_ns[row] < nodes->begin_ns[group])
        nodes->begin_ns[group] = nodes->begin_ns[row];
    if (nodes->count[group] == 0 || nodes->end_ns[row] > nodes->end_ns[group])
        nodes->end_ns[group] = nodes->end_ns[row];
    nodes->count[group] += nodes->count[row];
}

/* Children come after their parents, so the last row is settled first. */
static void add_up(struct vv_dag_nodes *nodes)
{
    for (uint32_t row = (uint32_t)nodes->table.count; row-- > 0;)
        if (nodes->parent[row] != VV_NONE)
            add_to_group(nodes, nodes->parent[row], row);
}

struct place { int64_t begin_ns; uint32_t row; };

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

/* Edges by their first end: first[row] … first[row + 1] of `order`. */
static enum varve_code sort_edges(const struct vv_dag *dag, struct vv_scratch *scratch,
                                  uint32_t **out_first, uint32_t **out_order,
                                  struct varve_error *error)
{
    uint64_t nodes = dag->nodes.table.count, edges = dag->edges.table.count;
    uint32_t *first, *order;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &first, nodes + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &order, edges, error));
    for (uint64_t edge = 0; edge < edges; edge++)
        first[dag->edges.from[edge] + 2]++;
    for (uint64_t row = 2; row < nodes + 2; row++)
        first[row] += first[row - 1];
    for (uint64_t edge = 0; edge < edges; edge++)
        order[first[dag->edges.from[edge] + 1]++] = (uint32_t)edge;
    *out_first = first;
    *out_order = order;
    return VARVE_OK;
}

static enum varve_code find_levels(struct vv_dag *dag, struct vv_scratch *scratch,
                                   struct varve_error *error)
{
    struct vv_dag_nodes *nodes = &dag->nodes;
    uint32_t count = (uint32_t)nodes->table.count, *first, *order, *place_of;
    struct place *places;
    uint64_t back = 0;
    VV_TRY(sort_edges(dag, scratch, &first, &order, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &places, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &place_of, count, error));
    for (uint32_t row = 0; row < count; row++)
        places[row] = (struct place){ nodes->begin_ns[row], row };
    if (count > 0)
        qsort(places, count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = places[i].row;
        bool is_placed = nodes->kind[row] != VV_DAG_GROUP && nodes->kind[row] != VV_DAG_OUTSIDE &&
                         nodes->kind[row] != VV_DAG_REST;
        place_of[row] = i;
        nodes->level[row] = is_placed ? 0 : VV_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = places[i].row;
        for (uint32_t e = first[from]; e < first[from + 1]; e++) {
            uint32_t to = dag->edges.to[order[e]];
            back += place_of[to] <= i;
            if (place_of[to] > i && nodes->level[from] != VV_NONE && nodes->level[to] != VV_NONE &&
                nodes->level[to] <= nodes->level[from])
                nodes->level[to] = nodes->level[from] + 1;
        }
    }
    if (back > 0)
        return vv_dag_note(dag, error, "edges back",
                           "%" PRIu64 " to a node that began earlier, as in a loop", back);
    return VARVE_OK;
}

/* Without a loop the levels are those of any graph. */
static enum varve_code settle_levels(struct vv_dag *dag, struct varve_error *error)
{
    struct vv_dag_nodes *nodes = &dag->nodes;
    struct vv_scratch scratch = { 0 };
    enum varve_code code = vv_dag_levels(dag, false, error);
    if (code == VARVE_INVALID) {
        code = find_levels(dag, &scratch, error);
        vv_scratch_deinit(&scratch);
        return code;
    }
    for (uint32_t row = 0; row < nodes->table.count; row++)
        if (nodes->kind[row] == VV_DAG_GROUP || nodes->kind[row] == VV_DAG_REST)
            nodes->level[row] = VV_NONE;
    return code;
}

enum varve_code vv_fold_settle(struct vv_dag *dag, struct varve_error *error)
{
    add_up(&dag->nodes);
    return settle_levels(dag, error);
}
