/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of graphs with and without cycles, against the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/dag/levels.h"

/* A graph of nodes "a", "b" …, and an edge for each two letters. */
static void make(struct vv_dag *dag, uint32_t nodes, const char *edges)
{
    uint32_t row;
    assert_int_equal(vv_dag_init(dag, NULL), VARVE_OK);
    for (uint32_t node = 0; node < nodes; node++) {
        const char name[] = { (char)('a' + node), '\0' };
        assert_int_equal(vv_dag_add_node(dag, name, VV_DAG_OPERATOR, &row, NULL), VARVE_OK);
    }
    for (; edges[0] != '\0'; edges += 2)
        assert_int_equal(vv_dag_add_edge(dag, (uint32_t)(edges[0] - 'a'),
                                         (uint32_t)(edges[1] - 'a'), VV_DAG_EDGE_DATA, &row, NULL),
                         VARVE_OK);
}

static void has_levels(uint32_t nodes, const char *edges, const char *levels)
{
    struct vv_dag dag;
    make(&dag, nodes, edges);
    assert_int_equal(vv_dag_levels(&dag, false, NULL), VARVE_OK);
    for (uint32_t node = 0; node < nodes; node++)
        assert_int_equal(dag.nodes.level[node], levels[node] - '0');
    vv_dag_deinit(&dag);
}

static void the_longest_path_counts(void **state)
{
    (void)state;
    has_levels(0, "", "");
    has_levels(3, "", "000");
    has_levels(3, "abbc", "012");
    has_levels(4, "abacbdcdad", "0112");
    has_levels(4, "dccbba", "3210"); /* rows need not stand in order */
    has_levels(3, "abababbc", "012"); /* one edge three times */
}

static void says_cycle(uint32_t nodes, const char *edges, const char *says)
{
    struct varve_error error = { 0 };
    struct vv_dag dag;
    make(&dag, nodes, edges);
    assert_int_equal(vv_dag_levels(&dag, false, &error), VARVE_INVALID);
    assert_string_equal(error.message, says);
    vv_dag_deinit(&dag);
}

static void a_cycle_is_named(void **state)
{
    (void)state;
    says_cycle(1, "aa", "a cycle: 'a' -> 'a'. --break-cycles draws what is left");
    says_cycle(2, "abba", "a cycle: 'a' -> 'b' -> 'a'. --break-cycles draws what is left");
    says_cycle(4, "abbccbcd", "a cycle: 'b' -> 'c' -> 'b'. --break-cycles draws what is left");
    says_cycle(10, "abbccddeeffgghhiijja",
               "a cycle: 'a' -> 'b' -> 'c' -> 'd' -> 'e' -> … 5 more -> 'a'. "
               "--break-cycles draws what is left");
}

static void a_long_name_is_cut_between_characters(void **state)
{
    (void)state;
    struct varve_error error = { 0 };
    struct vv_dag dag;
    make(&dag, 1, "aa");
    assert_int_equal(vv_dag_text(&dag, "a23456789012345678901234567890123456789é and more",
                                 &dag.nodes.name[0], NULL), VARVE_OK);
    assert_int_equal(vv_dag_levels(&dag, false, &error), VARVE_INVALID);
    assert_string_equal(error.message, "a cycle: 'a23456789012345678901234567890123456789' -> "
                                       "'a23456789012345678901234567890123456789'. "
                                       "--break-cycles draws what is left");
    vv_dag_deinit(&dag);
}

static void what_is_left_has_levels(void **state)
{
    (void)state;
    struct vv_dag dag;
    make(&dag, 4, "abbccacddd");
    assert_int_equal(vv_dag_levels(&dag, true, NULL), VARVE_OK);
    assert_int_equal(dag.edges.table.count, 3);
    for (uint32_t node = 0; node < 4; node++)
        assert_int_equal(dag.nodes.level[node], node);
    assert_string_equal(vv_dag_find_note(&dag, "cycles"), "2 edges that led back are left out");
    vv_dag_deinit(&dag);
}

static void an_edge_to_nothing_is_told(void **state)
{
    (void)state;
    struct varve_error error = { 0 };
    struct vv_dag dag;
    make(&dag, 2, "ab");
    dag.edges.to[0] = 7;
    assert_int_equal(vv_dag_levels(&dag, true, &error), VARVE_CORRUPT);
    vv_dag_deinit(&dag);
}

/* Any graph: edges rise, each node above level 0 has an edge from the level below, and breaking
 * takes nothing out of a graph without a cycle. */
static void any_graph(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 500; round++) {
        struct vv_dag dag;
        uint32_t row, nodes = 1 + (uint32_t)rand() % 20, edges = (uint32_t)rand() % 60;
        bool is_led_to[20] = { false };
        make(&dag, nodes, "");
        for (uint32_t e = 0; e < edges; e++)
            assert_int_equal(vv_dag_add_edge(&dag, (uint32_t)rand() % nodes,
                                             (uint32_t)rand() % nodes, VV_DAG_EDGE_FLOW, &row,
                                             NULL), VARVE_OK);
        bool has_cycle = vv_dag_levels(&dag, false, NULL) != VARVE_OK;
        assert_int_equal(vv_dag_levels(&dag, true, NULL), VARVE_OK);
        assert_int_equal(has_cycle, dag.edges.table.count < edges);
        for (uint32_t e = 0; e < dag.edges.table.count; e++) {
            uint32_t from = dag.edges.from[e], to = dag.edges.to[e];
            assert_true(dag.nodes.level[from] < dag.nodes.level[to]);
            is_led_to[to] |= dag.nodes.level[from] + 1 == dag.nodes.level[to];
        }
        for (uint32_t node = 0; node < nodes; node++)
            assert_int_equal(is_led_to[node], dag.nodes.level[node] > 0);
        vv_dag_deinit(&dag);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_path_counts), cmocka_unit_test(a_cycle_is_named),
        cmocka_unit_test(a_long_name_is_cut_between_characters),
        cmocka_unit_test(what_is_left_has_levels), cmocka_unit_test(an_edge_to_nothing_is_told),
        cmocka_unit_test(any_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
