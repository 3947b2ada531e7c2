/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/dag/levels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define NAME_SHOWN 40u /* bytes of a node's name                                                  */
#define CYCLE_NAMED 6 /* nodes of a cycle that a message names                                    */

struct levelling {
    struct vv_dag *dag;
    struct vv_scratch *scratch;
    uint32_t nodes, edges;
    uint32_t *first;    /* node -> its first edge in `out`; nodes + 1 items                       */
    uint32_t *out;      /* rows of edges, by the node that they start from                        */
    uint32_t *waits;    /* node -> edges that lead to it from nodes without a level               */
    uint32_t *ready;    /* nodes with a level, in the order in which they got it                  */
    uint32_t done;      /* number of `ready`                                                      */
};

static enum varve_code check(const struct levelling *work, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &work->dag->edges;
    for (uint32_t e = 0; e < work->edges; e++)
        if (edges->from[e] >= work->nodes || edges->to[e] >= work->nodes)
            VV_FAIL(error, VARVE_CORRUPT, "edge %" PRIu32 " of the graph leads to no node", e);
    return VARVE_OK;
}

/* Sorts the edges by the node that they start from. */
static enum varve_code sort_edges(struct levelling *work, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &work->dag->edges;
    work->edges = (uint32_t)edges->table.count;
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &work->first, (size_t)work->nodes + 2, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->out, work->edges, error));
    VV_TRY(check(work, error));
    for (uint32_t e = 0; e < work->edges; e++)
        work->first[edges->from[e] + 2]++;
    for (uint32_t n = 2; n < work->nodes + 2; n++)
        work->first[n] += work->first[n - 1];
    for (uint32_t e = 0; e < work->edges; e++)
        work->out[work->first[edges->from[e] + 1]++] = e;
    return VARVE_OK;
}

/* Gives a level to every node that no cycle leads to. */
static void walk(struct levelling *work)
{
    struct vv_dag_nodes *nodes = &work->dag->nodes;
    const struct vv_dag_edges *edges = &work->dag->edges;
    work->done = 0;
    memset(work->waits, 0, work->nodes * sizeof *work->waits);
    for (uint32_t e = 0; e < work->edges; e++)
        work->waits[edges->to[e]]++;
    for (uint32_t n = 0; n < work->nodes; n++) {
        nodes->level[n] = 0;
        if (work->waits[n] == 0)
            work->ready[work->done++] = n;
    }
    for (uint32_t i = 0; i < work->done; i++) {
        uint32_t from = work->ready[i];
        for (uint32_t e = work->first[from]; e < work->first[from + 1]; e++) {
            uint32_t to = edges->to[work->out[e]];
            if (nodes->level[to] <= nodes->level[from])
                nodes->level[to] = nodes->level[from] + 1;
            if (--work->waits[to] == 0)
                work->ready[work->done++] = to;
        }
    }
}

/* ---- cycles ---- */

/* A node that has no level is behind a cycle or in one: an edge leads to it from another such node.
 * So the way back from any of them ends in a cycle. */
static uint32_t find_in_cycle(const struct levelling *work, uint32_t *before, bool *is_seen)
{
    const struct vv_dag_edges *edges = &work->dag->edges;
    uint32_t node = 0;
    for (uint32_t e = 0; e < work->edges; e++)
        if (work->waits[edges->from[e]] > 0 && work->waits[edges->to[e]] > 0)
            before[edges->to[e]] = edges->from[e];
    while (work->waits[node] == 0)
        node++;
    for (; !is_seen[node]; node = before[node])
        is_seen[node] = true;
    return node;
}

/* Bytes of the node's name that a message shows, without a part of a character. */
static int shown(const char *name)
{
    size_t length = strlen(name);
    return (int)vv_utf8_valid(name, length < NAME_SHOWN ? length : NAME_SHOWN);
}

static void name_cycle(const struct levelling *work, const uint32_t *before, uint32_t node,
                       uint32_t *nodes, char *text, size_t bytes)
{
    const struct vv_dag *dag = work->dag;
    uint32_t length = 0;
    for (uint32_t at = node; length == 0 || at != node; at = before[at])
        nodes[length++] = at;
    const char *name = vv_dag_string(dag, dag->nodes.name[node]);
    int at = snprintf(text, bytes, "'%.*s'", shown(name), name);
    for (uint32_t i = length; i > 0 && at >= 0 && (size_t)at < bytes; i--) {
        if (length > CYCLE_NAMED && i == length - CYCLE_NAMED + 2) {
            at += snprintf(text + at, bytes - (size_t)at, " -> … %" PRIu32 " more",
                           length - CYCLE_NAMED + 1);
            i = 2; /* the last one closes the cycle */
            continue;
        }
        name = vv_dag_string(dag, dag->nodes.name[nodes[i - 1]]);
        at += snprintf(text + at, bytes - (size_t)at, " -> '%.*s'", shown(name), name);
    }
}

static enum varve_code say_cycle(const struct levelling *work, struct varve_error *error)
{
    uint32_t *before, *nodes;
    bool *is_seen;
    char text[400];
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &before, work->nodes, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &nodes, work->nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &is_seen, work->nodes, error));
    name_cycle(work, before, find_in_cycle(work, before, is_seen), nodes, text, sizeof text);
    VV_FAIL_SAID(error, VARVE_INVALID, "a cycle: %s. --break-cycles draws what is left", text);
}

enum { NOT_SEEN, OPEN, LEFT };

/* An edge leads back if its end is on the way to its begin, in a search from each node in turn. */
static enum varve_code find_back(const struct levelling *work, bool *leads_back,
                                 struct varve_error *error)
{
    const struct vv_dag_edges *edges = &work->dag->edges;
    uint32_t *stack, *next;
    uint8_t *state;
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &stack, work->nodes, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &next, work->nodes, error));
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &state, work->nodes, error));
    memcpy(next, work->first, work->nodes * sizeof *next);
    for (uint32_t root = 0; root < work->nodes; root++) {
        uint32_t depth = 0;
        if (state[root] != NOT_SEEN)
            continue;
        state[root] = OPEN;
        stack[depth++] = root;
        while (depth > 0) {
            uint32_t node = stack[depth - 1];
            if (next[node] == work->first[node + 1]) {
                state[node] = LEFT;
                depth--;
                continue;
            }
            uint32_t edge = work->out[next[node]++], to = edges->to[edge];
            leads_back[edge] = state[to] == OPEN;
            if (state[to] == NOT_SEEN) {
                state[to] = OPEN;
                stack[depth++] = to;
            }
        }
    }
    return VARVE_OK;
}

static void take_out(struct vv_dag_edges *edges, const bool *leads_back)
{
    uint64_t kept = 0;
    for (uint64_t e = 0; e < edges->table.count; e++) {
        if (leads_back[e])
            continue;
#define MOVE(table, type, name) edges->name[kept] = edges->name[e];
        VV_DAG_EDGE_COLUMNS(MOVE, )
#undef MOVE
        kept++;
    }
    edges->table.count = kept;
}

static enum varve_code break_all(struct levelling *work, struct varve_error *error)
{
    struct vv_dag *dag = work->dag;
    bool *leads_back;
    uint64_t former = dag->edges.table.count;
    VV_TRY(VV_SCRATCH_ZEROS(work->scratch, &leads_back, work->edges, error));
    VV_TRY(find_back(work, leads_back, error));
    take_out(&dag->edges, leads_back);
    VV_TRY(sort_edges(work, error));
    walk(work);
    uint64_t count = former - dag->edges.table.count;
    return vv_dag_note(dag, error, "cycles", "%" PRIu64 " edge%s that led back %s left out", count,
                       count == 1 ? "" : "s", count == 1 ? "is" : "are");
}

static enum varve_code level_all(struct levelling *work, bool break_cycles,
                                 struct varve_error *error)
{
    VV_TRY(sort_edges(work, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->waits, work->nodes, error));
    VV_TRY(VV_SCRATCH_ARRAY(work->scratch, &work->ready, work->nodes, error));
    walk(work);
    if (work->done < work->nodes && !break_cycles)
        return say_cycle(work, error);
    if (work->done < work->nodes)
        VV_TRY(break_all(work, error));
    struct vv_dag_nodes *nodes = &work->dag->nodes;
    for (uint32_t n = 0; n < work->nodes; n++)
        if (nodes->kind[n] == VV_DAG_OUTSIDE)
            nodes->level[n] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_dag_levels(struct vv_dag *dag, bool break_cycles, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct levelling work = { .dag = dag, .scratch = &scratch,
                              .nodes = (uint32_t)dag->nodes.table.count };
    enum varve_code code = level_all(&work, break_cycles, error);
    vv_scratch_deinit(&scratch);
    return code;
}
