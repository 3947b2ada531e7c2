/* SPDX-License-Identifier: Apache-2.0 */
/* path.c — vertex 2 * row is the begin of a node, which takes the node's time; 2 * row + 1 is its
 * end. */
#include "graph/path/path.h"

#include <string.h>

static bool is_around(const struct vv_dag *dag, uint32_t group, uint32_t node)
{
    while (node != VV_NONE && node > group)
        node = dag->nodes.parent[node];
    return node == group;
}

struct building {
    struct vv_path *path;
    bool *is_whole;       /* by row: it takes time itself, or an edge begins or ends at it       */
    uint32_t *fill;       /* by vertex: where its next row goes; NULL = they are only counted     */
    uint32_t *waits;      /* by vertex: how many it waits for                                   */
};

static void add(struct building *building, uint32_t from, uint32_t to)
{
    if (building->fill == NULL)
        building->waits[to]++;
    else
        building->path->from[building->fill[to]++] = from;
}

/* Goes over all waits, to count or to keep them. */
static void visit(struct building *building)
{
    const struct vv_dag *dag = building->path->dag;
    for (uint32_t row = 0; row < dag->nodes.table.count; row++) {
        uint32_t parent = dag->nodes.parent[row];
        add(building, 2 * row, 2 * row + 1);
        if (parent != VV_NONE && building->is_whole[parent]) {
            add(building, 2 * parent, 2 * row);
            add(building, 2 * row + 1, 2 * parent + 1);
        }
    }
    for (uint64_t e = 0; e < dag->edges.table.count; e++) {
        uint32_t from = dag->edges.from[e], to = dag->edges.to[e];
        if (!is_around(dag, from, to) && !is_around(dag, to, from))
            add(building, 2 * from + 1, 2 * to);
    }
}

/* Orders the vertices: those that wait for nothing more come next. */
static enum varve_code sort(struct building *building, struct vv_scratch *scratch,
                            struct varve_error *error)
{
    struct vv_path *path = building->path;
    uint32_t *next_at, *next, *left = building->waits;
    size_t all = path->first[path->count];
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &next_at, (size_t)path->count + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &next, all + 1, error));
    for (size_t i = 0; i < all; i++)
        next_at[path->from[i] + 2]++;
    for (uint32_t v = 0; v < path->count; v++)
        next_at[v + 2] += next_at[v + 1];
    for (uint32_t v = 0; v < path->count; v++)
        for (uint32_t i = path->first[v]; i < path->first[v + 1]; i++)
            next[next_at[path->from[i] + 1]++] = v;
    uint32_t done = 0, count = 0;
    for (uint32_t v = 0; v < path->count; v++)
        if (left[v] == 0)
            path->order[count++] = v;
    for (; done < count; done++)
        for (uint32_t i = next_at[path->order[done]]; i < next_at[path->order[done] + 1]; i++)
            if (--left[next[i]] == 0)
                path->order[count++] = next[i];
    vv_scratch_release(scratch, next);
    vv_scratch_release(scratch, next_at);
    if (count < path->count)
        VV_FAIL(error, VARVE_INVALID, "%u nodes of the graph wait for each other in a circle",
                (path->count - count + 1) / 2);
    return VARVE_OK;
}

enum varve_code vv_path_init(struct vv_path *path, const struct vv_dag *dag,
                             struct vv_scratch *scratch, struct varve_error *error)
{
    struct building building = { .path = path };
    uint64_t nodes = dag->nodes.table.count, edges = dag->edges.table.count;
    if (nodes >= UINT32_MAX / 4 || edges >= UINT32_MAX / 4)
        VV_FAIL(error, VARVE_LIMIT, "the graph has more than %u nodes or edges", UINT32_MAX / 4);
    *path = (struct vv_path){ .dag = dag, .count = (uint32_t)nodes * 2 };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &building.is_whole, nodes, error));
    for (uint64_t e = 0; e < edges; e++)
        building.is_whole[dag->edges.from[e]] = building.is_whole[dag->edges.to[e]] = true;
    for (uint64_t row = 0; row < nodes; row++)
        building.is_whole[row] |=
            dag->nodes.kind[row] != VV_DAG_GROUP && dag->nodes.self_ns[row] > 0;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &building.waits, path->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &path->order, path->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &path->first, (size_t)path->count + 1, error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &path->done_ns, path->count, error));
    visit(&building);
    path->first[0] = 0;
    for (uint32_t v = 0; v < path->count; v++)
        path->first[v + 1] = path->first[v] + building.waits[v];
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &path->from, path->first[path->count], error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &building.fill, path->count, error));
    if (path->count > 0)
        memcpy(building.fill, path->first, path->count * sizeof *building.fill);
    visit(&building);
    enum varve_code code = sort(&building, scratch, error);
    vv_scratch_release(scratch, building.fill);
    vv_scratch_release(scratch, building.waits);
    return code;
}

static int64_t ready_ns(const struct vv_path *path, uint32_t vertex)
{
    int64_t ready = 0;
    for (uint32_t i = path->first[vertex]; i < path->first[vertex + 1]; i++)
        if (path->done_ns[path->from[i]] > ready)
            ready = path->done_ns[path->from[i]];
    return ready;
}

int64_t vv_path_length(struct vv_path *path, const int64_t *node_ns)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i < path->count; i++) {
        uint32_t vertex = path->order[i];
        path->done_ns[vertex] =
            ready_ns(path, vertex) + (vertex % 2 == 0 ? node_ns[vertex / 2] : 0);
        if (path->done_ns[vertex] > longest)
            longest = path->done_ns[vertex];
    }
    return longest;
}

void vv_path_mark(const struct vv_path *path, const int64_t *node_ns, bool *on_path)
{
    uint32_t at = UINT32_MAX;
    for (uint32_t v = 0; v < path->count; v++)
        if (at == UINT32_MAX || path->done_ns[v] > path->done_ns[at])
            at = v;
    while (at != UINT32_MAX) {
        if (at % 2 == 0 && node_ns[at / 2] > 0)
            on_path[at / 2] = true;
        uint32_t before = UINT32_MAX;
        for (uint32_t i = path->first[at]; i < path->first[at + 1]; i++)
            if (before == UINT32_MAX ||
                path->done_ns[path->from[i]] > path->done_ns[before])
                before = path->from[i];
        at = before;
    }
}
