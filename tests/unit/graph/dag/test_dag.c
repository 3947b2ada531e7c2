/* SPDX-License-Identifier: Apache-2.0 */
/* A graph keeps its rows and texts when it is copied, and when it goes through a model. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "graph/dag/dag.h"

static void fill(struct vv_dag *dag)
{
    struct varve_error error;
    uint32_t a, b, edge;
    assert_int_equal(vv_dag_init(dag, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_node(dag, "aten::mm", VV_DAG_OPERATOR, &a, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_node(dag, "gemm <f32>", VV_DAG_KERNEL, &b, &error), VARVE_OK);
    dag->nodes.total_ns[b] = 1234;
    assert_int_equal(vv_dag_text(dag, "cuda:0", &dag->nodes.device[b], &error), VARVE_OK);
    assert_int_equal(vv_dag_add_edge(dag, a, b, VV_DAG_EDGE_FLOW, &edge, &error), VARVE_OK);
    assert_int_equal(vv_dag_add_occurrence(dag, b, 7, 2, 1234, &error), VARVE_OK);
    assert_int_equal(vv_dag_note(dag, &error, "steps", "%d", 10), VARVE_OK);
}

static void check(const struct vv_dag *dag)
{
    assert_int_equal(dag->nodes.table.count, 2);
    assert_string_equal(vv_dag_string(dag, dag->nodes.name[1]), "gemm <f32>");
    assert_string_equal(vv_dag_string(dag, dag->nodes.device[1]), "cuda:0");
    assert_int_equal(dag->nodes.id[1], 2);
    assert_int_equal(dag->nodes.total_ns[1], 1234);
    assert_int_equal(dag->nodes.parent[1], VV_NONE);
    assert_int_equal(dag->nodes.occurrence_count[1], 1);
    assert_int_equal(dag->occurrences.step[dag->nodes.first_occurrence[1]], 7);
    assert_int_equal(dag->edges.table.count, 1);
    assert_int_equal(dag->edges.to[0], 1);
    assert_int_equal(dag->edges.count[0], 1);
    assert_string_equal(vv_dag_find_note(dag, "steps"), "10");
    assert_null(vv_dag_find_note(dag, "devices"));
}

static void copies(void **state)
{
    struct vv_dag dag, copy, back;
    struct vv_model *model;
    struct varve_error error;
    (void)state;
    fill(&dag);
    check(&dag);
    assert_int_equal(vv_dag_init(&copy, &error), VARVE_OK);
    assert_int_equal(vv_dag_copy(&dag, &copy, &error), VARVE_OK);
    check(&copy);
    assert_int_equal(vv_model_create(&model, &error), VARVE_OK);
    assert_int_equal(vv_dag_to_model(&copy, model, &error), VARVE_OK);
    vv_dag_deinit(&copy);
    assert_int_equal(vv_dag_init(&back, &error), VARVE_OK);
    assert_int_equal(vv_dag_from_model(model, &back, &error), VARVE_OK);
    vv_model_destroy(model);
    check(&back);
    vv_dag_deinit(&back);
    vv_dag_deinit(&dag);
}

static void knows_its_words(void **state)
{
    (void)state;
    for (int kind = 0; kind < VV_DAG_KINDS; kind++)
        assert_int_equal(vv_dag_find_kind(vv_dag_kind_word((enum vv_dag_kind)kind)), kind);
    for (int kind = 0; kind < VV_DAG_EDGE_KINDS; kind++)
        assert_int_equal(vv_dag_find_edge_kind(vv_dag_edge_word((enum vv_dag_edge_kind)kind)),
                         kind);
    assert_int_equal(vv_dag_find_kind("nonsense"), VV_DAG_KINDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(copies),
                                        cmocka_unit_test(knows_its_words) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
