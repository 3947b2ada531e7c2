/* SPDX-License-Identifier: Apache-2.0 */
/* made_dag.h — a graph that a fuzzer's bytes describe: any names, times, kinds, edges and groups.
 * vv_dag_check says whether it holds the laws of a graph. */
#ifndef VARVE_TESTS_MADE_DAG_H
#define VARVE_TESTS_MADE_DAG_H

#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "graph/dag/dag.h"

enum { NODES_MAX = 40, EDGES_MAX = 60, NOTES_MAX = 6, OCCURRENCES_MAX = 4 };

static const char *const texts[] = {
    "", "aten::mm", "a \"quoted\" name", "back\\slash", "two\nlines", "<b>&amp;</b>", "]]>",
    "</script><script>", "\xc3\x97 \xe2\x80\xae right to left", "\x01\x1f\x7f", "tab\tand\rreturn",
    "/a/b.c", "{\"json\": [1]}", "key: text", "%s%n", "'single'", "\xf0\x9f\x94\xa5", " ", "; = ->",
    "Infinity", "null", "0", "-1", "true",
};

static inline void must(bool holds)
{
    if (!holds)
        abort();
}

static inline uint32_t make_text(struct vv_dag *dag, struct draw *draw)
{
    uint32_t id;
    must(vv_dag_text(dag, DRAW_FROM(draw, texts), &id, NULL) == VARVE_OK);
    return id;
}

/* Small enough to be added forty times. */
static inline int64_t make_size(struct draw *draw)
{
    return draw_size(draw) & ((INT64_C(1) << 56) - 1);
}

static inline void make_node(struct vv_dag *dag, struct draw *draw)
{
    struct vv_dag_nodes *nodes = &dag->nodes;
    uint32_t row;
    must(vv_dag_add_node(dag, DRAW_FROM(draw, texts),
                         (enum vv_dag_kind)draw_below(draw, VV_DAG_KINDS), &row, NULL) == VARVE_OK);
    nodes->id[row] = (uint64_t)row * 1000 + draw_byte(draw);
    nodes->count[row] = (uint64_t)make_size(draw);
    nodes->begin_ns[row] = draw_number(draw) % (INT64_C(1) << 60);
    nodes->end_ns[row] = nodes->begin_ns[row] + make_size(draw);
    nodes->total_ns[row] = make_size(draw);
    nodes->self_ns[row] = nodes->total_ns[row] / (1 + draw_byte(draw));
    nodes->min_ns[row] = make_size(draw);
    nodes->max_ns[row] = make_size(draw);
    nodes->p50_ns[row] = make_size(draw);
    nodes->p95_ns[row] = make_size(draw);
    nodes->critical_ns[row] = make_size(draw);
    nodes->flop[row] = (uint64_t)make_size(draw);
    nodes->bytes[row] = (uint64_t)make_size(draw);
    nodes->memory_bytes[row] = (uint64_t)make_size(draw);
    uint32_t *const strings[] = { &nodes->where[row],  &nodes->device[row], &nodes->module[row],
                                  &nodes->phase[row],  &nodes->source[row], &nodes->inputs[row],
                                  &nodes->outputs[row] };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = make_text(dag, draw);
    if (row > 0 && draw_below(draw, 2) == 0) {
        uint32_t parent = draw_below(draw, row);
        if (nodes->kind[parent] == VV_DAG_GROUP)
            nodes->parent[row] = parent;
    }
    if (draw_below(draw, 4) != 0)
        nodes->level[row] = draw_byte(draw);
    nodes->begin_rest_ps[row] = (uint16_t)(draw_byte(draw) * 3);
    nodes->total_rest_ps[row] = (uint16_t)(draw_byte(draw) * 3);
    nodes->flags[row] = (uint8_t)draw_below(draw, 4);
    for (unsigned i = draw_below(draw, OCCURRENCES_MAX); i > 0; i--)
        must(vv_dag_add_occurrence(dag, row, draw_number(draw), (uint64_t)make_size(draw),
                                   make_size(draw), NULL) == VARVE_OK);
}

static inline void make_edge(struct vv_dag *dag, struct draw *draw)
{
    struct vv_dag_edges *edges = &dag->edges;
    uint32_t row, count = (uint32_t)dag->nodes.table.count;
    must(vv_dag_add_edge(dag, draw_below(draw, count), draw_below(draw, count),
                         (enum vv_dag_edge_kind)draw_below(draw, VV_DAG_EDGE_KINDS), &row,
                         NULL) == VARVE_OK);
    edges->count[row] = (uint64_t)make_size(draw);
    edges->bytes[row] = (uint64_t)make_size(draw);
    edges->longest_ns[row] = make_size(draw);
    edges->name[row] = make_text(dag, draw);
    edges->flags[row] = (uint8_t)draw_below(draw, 2);
}

static inline void make_dag(struct vv_dag *dag, struct draw *draw)
{
    must(vv_dag_init(dag, NULL) == VARVE_OK);
    unsigned nodes = draw_below(draw, NODES_MAX), edges = draw_below(draw, EDGES_MAX);
    for (unsigned i = draw_below(draw, NOTES_MAX); i > 0; i--) {
        const char *key = DRAW_FROM(draw, texts);
        must(vv_dag_note(dag, NULL, key, "%s", DRAW_FROM(draw, texts)) == VARVE_OK);
    }
    for (unsigned i = 0; i < nodes; i++)
        make_node(dag, draw);
    for (unsigned i = 0; i < edges && nodes > 0; i++)
        make_edge(dag, draw);
}

#endif
