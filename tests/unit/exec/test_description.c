/* SPDX-License-Identifier: Apache-2.0 */
/* test_description.c — exec/description.c and cycle.c: what is wrong with a graph is said, with
 * the names of the nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "exec/description.h"
#include "made_graph.h"

static struct made_graph made;
static struct varve_error error;

static void assert_refused(enum varve_code code, const char *message)
{
    memset(&error, 0, sizeof error);
    assert_int_equal(vv_description_check(&made.info, &error), code);
    assert_string_equal(error.message, message);
}

static void graphs_without_circles_pass(void **state)
{
    (void)state;
    /* all edges forward: as many as there can be */
    struct varve_graph_edge edges[MADE_NODES * MADE_NODES];
    uint64_t count = 0;
    for (uint32_t a = 0; a < MADE_NODES; a++)
        for (uint32_t b = a + 1; b < MADE_NODES; b++)
            edges[count++] = (struct varve_graph_edge){ a, 0, b, a };
    make_graph(&made, MADE_NODES, edges, count);
    assert_int_equal(vv_description_check(&made.info, &error), VARVE_OK);
    make_graph(&made, 0, NULL, 0);
    assert_int_equal(vv_description_check(&made.info, &error), VARVE_OK);
}

static void a_circle_is_named(void **state)
{
    (void)state;
    const struct varve_graph_edge edges[] = {
        { 0, 0, 1, 0 }, { 1, 0, 2, 0 }, { 2, VARVE_EDGE_CONTROL, 3, VARVE_EDGE_CONTROL },
        { 3, 0, 1, 1 }, { 3, 0, 4, 0 }
    };
    make_graph(&made, 5, edges, 5);
    assert_refused(VARVE_INVALID, "varve_graph_register: graph 'g' has a circle of 3 nodes: "
                                  "n02 -> n03 -> n01 -> n02");
    const struct varve_graph_edge own[] = { { 7, 0, 7, 0 } };
    make_graph(&made, 8, own, 1);
    assert_refused(VARVE_INVALID,
                   "varve_graph_register: graph 'g' has a circle of 1 nodes: n07 -> n07");
}

static void a_long_circle_is_cut(void **state)
{
    (void)state;
    struct varve_graph_edge edges[MADE_NODES];
    for (uint32_t n = 0; n < MADE_NODES; n++)
        edges[n] = (struct varve_graph_edge){ n, 0, (n + 1) % MADE_NODES, 0 };
    make_graph(&made, MADE_NODES, edges, MADE_NODES);
    assert_refused(VARVE_INVALID, "varve_graph_register: graph 'g' has a circle of 64 nodes: "
                                  "n01 -> n02 -> n03 -> n04 -> n05 -> n06 -> n07 -> n08 -> "
                                  "... -> n01");
}

/* Every circle that is named is one: each of its nodes has an edge to the next. */
static void named_circles_are_circles(void **state)
{
    (void)state;
    uint32_t random = 1;
    unsigned circles = 0;
    for (int round = 0; round < 3000; round++) {
        struct varve_graph_edge edges[24];
        bool has_edge[8][8] = { 0 };
        for (int e = 0; e < 24; e++) {
            random = random * 1664525u + 1013904223u;
            edges[e] = (struct varve_graph_edge){ random >> 29, 0, random >> 26 & 7, 0 };
        }
        uint64_t count = (uint64_t)(round % 24) + 1;
        for (uint64_t e = 0; e < count; e++)
            has_edge[edges[e].from_node][edges[e].to_node] = true;
        make_graph(&made, 8, edges, count);
        bool reaches[8][8];
        memcpy(reaches, has_edge, sizeof reaches);
        for (int k = 0; k < 8; k++)
            for (int a = 0; a < 8; a++)
                for (int b = 0; b < 8; b++)
                    reaches[a][b] |= reaches[a][k] && reaches[k][b];
        bool is_cyclic = false;
        for (int a = 0; a < 8; a++)
            is_cyclic |= reaches[a][a];
        assert_int_equal(vv_description_check(&made.info, &error),
                         is_cyclic ? VARVE_INVALID : VARVE_OK);
        circles += is_cyclic;
        const char *at = is_cyclic ? strstr(error.message, ": n") + 2 : NULL;
        for (unsigned from, to; at != NULL && sscanf(at, "n%u -> n%u", &from, &to) == 2; at += 7)
            assert_true(has_edge[from][to]);
    }
    assert_in_range(circles, 500, 2900);
}

static void wrong_descriptions_are_refused(void **state)
{
    (void)state;
    const struct varve_graph_edge far = { 0, 0, 9, 0 }, half = { 0, VARVE_EDGE_CONTROL, 1, 0 };
    static const struct varve_graph_tensor no_dims = { VARVE_INPUT, 1, 2, 0, NULL, NULL, 0 },
                                           third_side = { 2, 1, 0, 0, NULL, NULL, 0 };
    make_graph(&made, 2, &far, 1);
    assert_refused(VARVE_INVALID,
                   "varve_graph_register: graph 'g': edge 0 names node 9, of 2 nodes");
    make_graph(&made, 2, &half, 1);
    assert_refused(VARVE_INVALID, "varve_graph_register: graph 'g': edge 0, from 'n00' to 'n01', "
                                  "is of control at one end only");
    make_graph(&made, 2, NULL, 0);
    made.nodes[1].name = "";
    assert_refused(VARVE_INVALID, "varve_graph_register: graph 'g': node 1 has no name");
    make_graph(&made, 2, NULL, 0);
    made.nodes[1].tensors = &no_dims;
    made.nodes[1].tensor_count = 1;
    assert_refused(VARVE_INVALID, "varve_graph_register: graph 'g', node 'n01': tensor 0 has rank "
                                  "2, and no dims");
    made.nodes[1].tensors = &third_side;
    assert_refused(VARVE_INVALID, "varve_graph_register: graph 'g', node 'n01': tensor 0 has side "
                                  "2, neither input (0) nor output (1)");
    make_graph(&made, 2, NULL, 0);
    made.nodes[0].task_type = VARVE_TASK_TYPE_COUNT;
    assert_refused(VARVE_INVALID,
                   "varve_graph_register: graph 'g', node 'n00': task type 16 is not known");
    make_graph(&made, 2, NULL, 0);
    made.nodes[0].context_count = VARVE_NODE_CONTEXTS_MAX + 1;
    assert_refused(VARVE_LIMIT, "varve_graph_register: graph 'g', node 'n00': 4097 contexts, at "
                                "most 4096");
    make_graph(&made, 2, NULL, 0);
    made.info.struct_size = 0;
    assert_refused(VARVE_INVALID, "varve_graph_register: a graph is NULL, or struct_size, "
                                  "node_size or edge_size is 0 or of an unknown version");
}

/* A graph that is its own body. */
static void endless_bodies_are_refused(void **state)
{
    (void)state;
    const struct varve_graph_info *const bodies[] = { &made.info };
    make_graph(&made, 1, NULL, 0);
    made.nodes[0].subgraphs = bodies;
    made.nodes[0].subgraph_count = 1;
    assert_int_equal(vv_description_check(&made.info, &error), VARVE_LIMIT);
}

/* A later version's structs are longer. */
static void longer_structs_are_read(void **state)
{
    (void)state;
    struct {
        struct varve_graph_node node;
        uint64_t later[3];
    } nodes[3] = { { VARVE_GRAPH_NODE_INIT, { 1, 2, 3 } }, { VARVE_GRAPH_NODE_INIT, { 0 } },
                   { VARVE_GRAPH_NODE_INIT, { 0 } } };
    make_graph(&made, 0, NULL, 0);
    for (int n = 0; n < 3; n++)
        nodes[n].node.name = n == 2 ? "third" : "other";
    made.info.nodes = &nodes[0].node;
    made.info.node_size = sizeof nodes[0];
    made.info.node_count = 3;
    assert_int_equal(vv_description_check(&made.info, &error), VARVE_OK);
    assert_string_equal(vv_described_node(&made.info, 2)->name, "third");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_without_circles_pass),
        cmocka_unit_test(a_circle_is_named),
        cmocka_unit_test(a_long_circle_is_cut),
        cmocka_unit_test(named_circles_are_circles),
        cmocka_unit_test(wrong_descriptions_are_refused),
        cmocka_unit_test(endless_bodies_are_refused),
        cmocka_unit_test(longer_structs_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
