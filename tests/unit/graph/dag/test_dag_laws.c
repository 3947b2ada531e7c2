/* SPDX-License-Identifier: Apache-2.0 */
/* A graph whose numbers cannot be added is refused, and the message names where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/dag/laws.h"

static void make(struct vv_dag *dag)
{
    uint32_t row, edge;
    assert_int_equal(vv_dag_init(dag, NULL), VARVE_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vv_dag_add_node(dag, "mm", VV_DAG_OPERATOR, &row, NULL), VARVE_OK);
        assert_int_equal(vv_dag_add_occurrence(dag, row, 0, 1, 5, NULL), VARVE_OK);
    }
    assert_int_equal(vv_dag_add_edge(dag, 0, 1, VV_DAG_EDGE_DATA, &edge, NULL), VARVE_OK);
}

static void says(const struct vv_dag *dag, const char *text)
{
    struct varve_error error;
    assert_int_equal(vv_dag_check(dag, &error), VARVE_CORRUPT);
    if (strstr(error.message, text) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, text);
}

static void a_whole_graph_passes(void **state)
{
    struct vv_dag dag;
    (void)state;
    make(&dag);
    dag.nodes.total_ns[0] = INT64_MAX - 1;
    dag.nodes.total_ns[1] = 1;
    dag.nodes.parent[2] = 1;
    dag.nodes.total_rest_ps[2] = 999;
    assert_int_equal(vv_dag_check(&dag, NULL), VARVE_OK);
    vv_dag_deinit(&dag);
}

static void amounts_add_up(void **state)
{
    struct vv_dag dag;
    (void)state;
    make(&dag);
    dag.nodes.self_ns[1] = -1;
    says(&dag, "node 2 of the graph: self_ns is negative");
    dag.nodes.self_ns[1] = INT64_MAX;
    assert_int_equal(vv_dag_check(&dag, NULL), VARVE_OK);
    dag.nodes.self_ns[2] = 1;
    says(&dag, "node 3 of the graph: with it, self_ns adds up to 2^63");
    dag.nodes.self_ns[2] = 0;
    dag.nodes.count[0] = UINT64_MAX;
    says(&dag, "node 1 of the graph: count is negative, or 2^63 or more");
    dag.nodes.count[0] = 0;
    dag.edges.bytes[0] = UINT64_MAX;
    says(&dag, "edge 1 of the graph: bytes");
    dag.edges.bytes[0] = 0;
    dag.occurrences.total_ns[2] = INT64_MAX;
    says(&dag, "occurrence 3 of the graph: with it, total_ns");
    vv_dag_deinit(&dag);
}

static void nodes_have_their_place(void **state)
{
    struct vv_dag dag;
    (void)state;
    make(&dag);
    dag.nodes.parent[1] = 1;
    says(&dag, "node 2 of the graph: its group does not stand before it");
    dag.nodes.parent[1] = 7;
    says(&dag, "node 2 of the graph: its group does not stand before it");
    dag.nodes.parent[1] = VV_NONE;
    dag.nodes.begin_rest_ps[2] = 1000;
    says(&dag, "node 3 of the graph: 1000 or more picoseconds");
    dag.nodes.begin_rest_ps[2] = 0;
    dag.nodes.begin_ns[0] = INT64_MIN;
    says(&dag, "node 1 of the graph: it is 2^63 ns or more away from another");
    dag.nodes.begin_ns[0] = 0;
    dag.edges.to[0] = 3;
    says(&dag, "edge 1 of the graph leads to no node");
    vv_dag_deinit(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_graph_passes),
        cmocka_unit_test(amounts_add_up),
        cmocka_unit_test(nodes_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
