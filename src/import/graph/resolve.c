/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c — what is known only when all of a graph has been read: which nodes its ids mean, and
 * what each node is by default. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/graph/reading.h"
#include "model/columns.h"

static uint32_t row_of(const struct vv_graph_reading *reading, uint32_t id)
{
    return id < reading->rows.count ? reading->rows.items[id] : VV_NONE;
}

/* ---- edges ---- */

static void copy_edge(struct vv_dag_edges *edges, uint64_t from, uint64_t to)
{
    const struct vv_model_table *kind = &vv_model_tables[VV_TABLE_DAG_EDGES];
    for (size_t c = 0; c < kind->column_count && from != to; c++) {
        const struct vv_column *column = &kind->columns[c];
        char *cells = *(char **)((uintptr_t)edges + column->pointer_offset);
        memcpy(cells + to * column->width_bytes, cells + from * column->width_bytes,
               column->width_bytes);
    }
}

/* Edges whose ends are nodes stay, in their order. */
static void find_ends(struct vv_graph_reading *reading)
{
    struct vv_dag_edges *edges = &reading->dag.edges;
    uint64_t kept = reading->closed_edges;
    for (uint64_t e = kept; e < edges->table.count; e++) {
        uint32_t from = row_of(reading, edges->from[e]), to = row_of(reading, edges->to[e]);
        if (from == VV_NONE || to == VV_NONE) {
            reading->unknown_ends++;
            continue;
        }
        copy_edge(edges, e, kept);
        edges->from[kept] = from;
        edges->to[kept++] = to;
    }
    edges->table.count = kept;
}

struct pair { uint32_t from, to, row; };

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;
    if (left->from != right->from)
        return left->from < right->from ? -1 : 1;
    if (left->to != right->to)
        return left->to < right->to ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

/* An edge may be said twice, by its node and in the list of edges: the one that comes first stays,
 * in the order of the nodes. */
static enum varve_code join_edges(struct vv_graph_reading *reading, struct varve_error *error)
{
    struct vv_dag_edges *edges = &reading->dag.edges;
    uint64_t first = reading->closed_edges, count = edges->table.count - first, kept = first;
    if (count == 0)
        return VARVE_OK;
    struct pair *pairs = malloc(count * sizeof *pairs);
    uint64_t *order = malloc((first + count) * sizeof *order);
    if (pairs == NULL || order == NULL) {
        free(pairs);
        free(order);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %" PRIu64 " edges", count);
    }
    for (uint64_t i = 0; i < count; i++)
        pairs[i] = (struct pair){ edges->from[first + i], edges->to[first + i],
                                  (uint32_t)(first + i) };
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (uint64_t e = 0; e < first; e++)
        order[e] = e;
    uint64_t doubles = first + count;
    for (uint64_t i = 0; i < count; i++)
        if (i > 0 && pairs[i].from == pairs[i - 1].from && pairs[i].to == pairs[i - 1].to)
            order[--doubles] = pairs[i].row;
        else
            order[kept++] = pairs[i].row;
    const struct vv_model_table *kind = &vv_model_tables[VV_TABLE_DAG_EDGES];
    enum varve_code code =
        vv_table_permute(&edges->table, kind->columns, kind->column_count, order, error);
    edges->table.count = kept;
    free(pairs);
    free(order);
    return code;
}

/* ---- nodes ---- */

/* A group stands before its members. */
static void find_parents(struct vv_graph_reading *reading)
{
    struct vv_dag_nodes *nodes = &reading->dag.nodes;
    for (uint64_t row = reading->closed_nodes; row < nodes->table.count; row++) {
        if (nodes->parent[row] == VV_NONE)
            continue;
        nodes->parent[row] = row_of(reading, nodes->parent[row]);
        if (nodes->parent[row] != VV_NONE && nodes->parent[row] < row)
            continue;
        reading->late_parents++;
        nodes->parent[row] = VV_NONE;
    }
}

static void find_time(struct vv_graph_reading *reading, uint32_t row)
{
    struct vv_dag_nodes *nodes = &reading->dag.nodes;
    uint8_t flags = reading->nodes.items[row].flags;
    int64_t end_ns;
    if (reading->is_ours)
        return;
    if (!(flags & VV_GRAPH_HAS_COUNT))
        nodes->count[row] = (flags & VV_GRAPH_HAS_TIME) != 0 || reading->has_all_run;
    if (nodes->self_ns[row] == 0)
        nodes->self_ns[row] = nodes->total_ns[row];
    if (nodes->end_ns[row] == 0 && nodes->count[row] > 0 &&
        !__builtin_add_overflow(nodes->begin_ns[row], nodes->total_ns[row], &end_ns))
        nodes->end_ns[row] = end_ns;
    if (nodes->count[row] == 1 && nodes->max_ns[row] == 0)
        nodes->min_ns[row] = nodes->max_ns[row] = nodes->p50_ns[row] = nodes->p95_ns[row] =
            nodes->total_ns[row];
}

/* A node without a name is called as its id is. */
static enum varve_code find_name(struct vv_graph_reading *reading, uint32_t row,
                                 struct varve_error *error)
{
    const struct vv_graph_node *node = &reading->nodes.items[row];
    if (reading->is_ours || reading->has_all_run || node->id == VV_NONE ||
        (node->flags & (VV_GRAPH_HAS_NAME | VV_GRAPH_HAS_LABEL)) != 0)
        return VARVE_OK;
    const char *id = vv_intern_text(&reading->ids, node->id);
    return vv_dag_text_of(&reading->dag, id, strlen(id), &reading->dag.nodes.name[row], error);
}

/* The number that an id is, written as numbers are; 0 and false: it is none. */
static bool number_of(const char *text, uint64_t *out_number)
{
    char again[24];
    *out_number = strtoull(text, NULL, 10);
    snprintf(again, sizeof again, "%" PRIu64, *out_number);
    return strcmp(again, text) == 0;
}

/* Ids that are numbers stay. The others become numbers that no node has. If the file has several
 * graphs, all nodes are numbered anew. */
static void find_ids(struct vv_graph_reading *reading)
{
    uint64_t *ids = reading->dag.nodes.id, count = reading->dag.nodes.table.count, next = 1, number;
    bool has_others = reading->closed_nodes > 0;
    for (uint64_t row = 0; row < count; row++) {
        uint32_t id = reading->nodes.items[row].id;
        bool is_kept = id != VV_NONE && row_of(reading, id) == row &&
                       number_of(vv_intern_text(&reading->ids, id), &number);
        reading->nodes.items[row].flags |= is_kept ? VV_GRAPH_HAS_NUMBER : 0;
        has_others |= !is_kept;
        if (is_kept && number >= next)
            next = number + 1;
        if (is_kept)
            ids[row] = number;
    }
    bool all_new = next == 0 || next > UINT64_MAX - count || reading->closed_nodes > 0;
    for (uint64_t row = 0; row < count && has_others; row++)
        if (all_new)
            ids[row] = row + 1;
        else if (!(reading->nodes.items[row].flags & VV_GRAPH_HAS_NUMBER))
            ids[row] = next++;
}

enum varve_code vv_draft_close(struct vv_graph_reading *reading, struct varve_error *error)
{
    find_ends(reading);
    if (reading->dag.nodes.table.count == reading->closed_nodes)
        return VARVE_OK;
    if (reading->is_simple && !reading->is_ours)
        VV_TRY(join_edges(reading, error));
    find_parents(reading);
    for (uint64_t row = reading->closed_nodes; row < reading->dag.nodes.table.count; row++) {
        find_time(reading, (uint32_t)row);
        VV_TRY(find_name(reading, (uint32_t)row, error));
    }
    find_ids(reading);
    reading->closed_nodes = reading->dag.nodes.table.count;
    reading->closed_edges = reading->dag.edges.table.count;
    for (size_t id = 0; id < reading->rows.count; id++)
        reading->rows.items[id] = VV_NONE;
    return VARVE_OK;
}

/* ---- what could not be known ---- */

static enum varve_code add_notes(struct vv_graph_reading *reading, struct varve_error *error)
{
    struct vv_dag *dag = &reading->dag;
    uint64_t without = 0;
    for (uint64_t row = 0; row < dag->nodes.table.count; row++)
        without += dag->nodes.count[row] == 0;
    const struct { uint64_t count; const char *key, *one; } notes[] = {
        { reading->is_ours ? 0 : without, "times", "nodes without a time: no slices" },
        { reading->has_bare_unit, "unit", "the file names none: times are taken as nanoseconds" },
        { reading->double_ids, "ids", "nodes with an id that another node has: they got new ones" },
        { reading->unknown_ends, "edges", "edges from or to nodes that are not in the file" },
        { reading->late_parents, "groups", "nodes whose group does not stand before them" },
        { reading->is_ours || reading->said_kinds > 0 ? 0 : dag->edges.table.count, "edge kinds",
          reading->is_order ? "edges of which the file says only the order"
                            : "edges of which the file does not say the kind: taken as data" },
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].count > 0)
            VV_TRY(i == 1 ? vv_dag_add_note(dag, notes[i].key, notes[i].one, error)
                          : vv_dag_note(dag, error, notes[i].key, "%" PRIu64 " %s", notes[i].count,
                                        notes[i].one));
    return VARVE_OK;
}

enum varve_code vv_graph_reading_end(struct vv_graph_reading *reading, enum varve_code code,
                                     struct varve_error *error)
{
    if (code == VARVE_TRUNCATED) {
        reading->model->health.truncated_files++;
        code = VARVE_OK;
    }
    if (code == VARVE_OK)
        code = vv_draft_close(reading, error);
    if (code == VARVE_OK)
        code = add_notes(reading, error);
    if (code == VARVE_OK)
        code = vv_draft_to_model(reading, error);
    vv_graph_reading_free(reading);
    return code;
}
