/* SPDX-License-Identifier: Apache-2.0 */
/* A graph with its bodies as one list; and graphs that are not whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "points/flat/flat_graph.h"

static struct varve_graph_node node_named(const char *name)
{
    struct varve_graph_node node = VARVE_GRAPH_NODE_INIT;
    node.name = name;
    return node;
}

static struct varve_graph_info graph_of(const struct varve_graph_node *nodes, uint32_t count)
{
    struct varve_graph_info graph = VARVE_GRAPH_INFO_INIT;
    graph.name = "g";
    graph.nodes = nodes;
    graph.node_count = count;
    return graph;
}

/* a, b {c, d}{e}, f: bodies run after their owner, and are numbered after the root. */
static void bodies_lie_behind_their_owner(void **state)
{
    (void)state;
    struct varve_graph_node then_nodes[] = { node_named("c"), node_named("d") },
                            else_nodes[] = { node_named("e") },
                            nodes[] = { node_named("a"), node_named("b"), node_named("f") };
    struct varve_graph_info bodies[] = { graph_of(then_nodes, 2), graph_of(else_nodes, 1) },
                            graph = graph_of(nodes, 3);
    const struct varve_graph_info *list[] = { &bodies[0], &bodies[1] };
    const struct varve_graph_edge edges[] = { { 1, 0, 2, 0 }, { 0, 0, 2, 1 }, { 0, 1, 1, 0 } };
    static const char *const order[] = { "a", "b", "c", "d", "e", "f" };
    struct vv_flat_graph flat;
    nodes[1].subgraphs = list;
    nodes[1].subgraph_count = 2;
    graph.edges = edges;
    graph.edge_count = 3;
    assert_int_equal(vv_flat_graph_make(&flat, &graph, NULL), VARVE_OK);
    assert_int_equal(flat.node_count, 6);
    for (uint32_t p = 0; p < 6; p++) {
        assert_string_equal(vv_flat_node(&flat, flat.by_position[p])->name, order[p]);
        assert_int_equal(flat.position[flat.by_position[p]], p);
    }
    assert_int_equal(vv_flat_body(&flat, 4)->owner, 1);
    assert_int_equal(vv_flat_body(&flat, 5)->number, 1);
    static const uint64_t outs[] = { 0, 2, 3, 3, 3, 3, 3 }, ins[] = { 0, 0, 1, 3, 3, 3, 3 };
    assert_memory_equal(flat.outs, outs, sizeof outs);
    assert_memory_equal(flat.ins, ins, sizeof ins);
    assert_int_equal(flat.out_edges[1].node, 1);
    assert_int_equal(flat.out_edges[1].output, 1);
    assert_int_equal(flat.in_edges[1].node, 1);
    assert_int_equal(flat.in_edges[2].node, 0);
    assert_int_equal(vv_flat_graph_check_acyclic(&flat, NULL), VARVE_OK);
    vv_flat_graph_deinit(&flat);
    vv_flat_graph_deinit(&flat);
}

/* Of a long cycle the first eight are named; what only leads into it or out of it is not. */
static void a_long_cycle_is_cut(void **state)
{
    (void)state;
    enum { NODES = 12 };
    static const char *const names[NODES] = { "in", "a", "b", "c", "d", "e", "f", "g", "h", "i",
                                              "j", "out" };
    struct varve_graph_node nodes[NODES];
    struct varve_graph_edge edges[NODES];
    struct vv_flat_graph flat;
    struct varve_error error;
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = node_named(names[i]);
        edges[i] = (struct varve_graph_edge){ i, 0, i + 1, 0 };
    }
    edges[11] = (struct varve_graph_edge){ 10, 0, 1, 1 };
    struct varve_graph_info graph = graph_of(nodes, NODES);
    graph.edges = edges;
    graph.edge_count = NODES;
    assert_int_equal(vv_flat_graph_make(&flat, &graph, NULL), VARVE_OK);
    assert_int_equal(vv_flat_graph_check_acyclic(&flat, &error), VARVE_INVALID);
    assert_string_equal(error.message, "the graph has a cycle of 10 nodes: 'a' -> 'b' -> 'c' -> "
                        "'d' -> 'e' -> 'f' -> 'g' -> 'h' -> 2 more -> 'a'");
    vv_flat_graph_deinit(&flat);
}

static void refuse(const struct varve_graph_info *graph, enum varve_code code, const char *says)
{
    struct vv_flat_graph flat;
    struct varve_error error;
    assert_int_equal(vv_flat_graph_make(&flat, graph, &error), code);
    assert_string_equal(error.message, says);
    assert_null(flat.bodies.items);
}

static void what_is_not_whole_is_refused(void **state)
{
    (void)state;
    struct varve_graph_node nodes[] = { node_named("a"), node_named("b") };
    struct varve_graph_info graph = graph_of(nodes, 2), self = graph_of(nodes, 2);
    const struct varve_graph_info *of_itself[] = { &self };
    struct varve_graph_edge edge = { 0, 0, 2, 0 };
    refuse(NULL, VARVE_INVALID, "the graph is NULL");
    graph.node_size = 8;
    refuse(&graph, VARVE_INVALID, "struct_size 56, node_size 8 or edge_size 16 is of an unknown "
           "version: begin with VARVE_GRAPH_INFO_INIT");
    graph = graph_of(NULL, 2);
    refuse(&graph, VARVE_INVALID, "graph 'g' has 2 nodes and 0 edges, but an array is NULL");
    graph = graph_of(nodes, 2);
    graph.edges = &edge;
    graph.edge_count = 1;
    refuse(&graph, VARVE_INVALID,
           "edge 0 of graph 'g' leads from node 0 to node 2, but there are 2");
    edge = (struct varve_graph_edge){ 0, VARVE_EDGE_CONTROL, 1, 0 };
    refuse(&graph, VARVE_INVALID,
           "edge 0 of graph 'g', from 'a', is a control edge at one end only");
    graph.edge_count = 0;
    nodes[1].name = "";
    refuse(&graph, VARVE_INVALID, "node 1 of graph 'g' has no name");
    nodes[1].name = "b";
    nodes[1].origin_count = 1;
    refuse(&graph, VARVE_INVALID,
           "node 'b' of graph 'g' counts origins or subgraphs that are NULL");
    nodes[1].origin_count = 0;
    nodes[1].subgraphs = of_itself;
    nodes[1].subgraph_count = 1;
    refuse(&self, VARVE_LIMIT,
           "body 0 of node 'b': graph 'g' lies in more than 64 others, or in itself");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_lie_behind_their_owner),
        cmocka_unit_test(a_long_cycle_is_cut),
        cmocka_unit_test(what_is_not_whole_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
