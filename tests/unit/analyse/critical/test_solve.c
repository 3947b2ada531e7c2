/* SPDX-License-Identifier: Apache-2.0 */
/* The longest path through graphs made by hand: chains that wait for each other, rests, changes,
 * contradictions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/critical/solve.h"
#include "handmade.h"

/* Two chains of two nodes, each 10 ns apart, and edges between them that weigh nothing. */
static void begin(struct vv_critical_graph *graph, const struct vv_model *model,
                  struct vv_scratch *scratch)
{
    *graph = (struct vv_critical_graph){ .model = model, .scratch = scratch, .is_exact = true };
    assert_int_equal(vv_critical_reserve(graph, 4, NULL), VARVE_OK);
    for (uint32_t chain = 0; chain < 2; chain++) {
        assert_int_equal(vv_critical_chain(graph, NULL), VARVE_OK);
        vv_critical_node(graph, 0, VV_NONE, VV_LINK_NONE, VV_NONE);
        vv_critical_node(graph, 10, VV_NONE, VV_LINK_OWN, VV_NONE);
    }
    assert_int_equal(vv_critical_chain(graph, NULL), VARVE_OK);
    graph->chain_count--;
}

static void connect(struct vv_critical_graph *graph, uint32_t from, uint32_t to)
{
    struct vv_critical_edge edge = { 0, from, to, VV_NONE, VV_LINK_WAIT };
    assert_int_equal(vv_critical_edge(graph, edge, NULL), VARVE_OK);
}

static void a_chain_waits_for_another(void **state)
{
    struct vv_model *model = handmade_model();
    struct vv_scratch scratch = { 0 };
    struct vv_critical_graph graph;
    struct vv_critical_solution solution;
    int64_t rest_ns[4];
    (void)state;
    begin(&graph, model, &scratch);
    connect(&graph, 3, 0); /* the second chain's end, before the first chain's begin */
    assert_int_equal(vv_critical_solve(&solution, &graph, NULL), VARVE_OK);
    assert_int_equal(solution.length_ns, 20);
    assert_int_equal(solution.path_count, 4);
    const uint32_t wanted[] = { 2, 3, 0, 1 };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(solution.path[i].node, wanted[i]);
    vv_critical_rest(&solution, rest_ns);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(solution.longest_ns[wanted[i]] + rest_ns[wanted[i]], 20);
    assert_int_equal(graph.contradictions, 0);
    vv_scratch_deinit(&scratch);
    vv_model_destroy(model);
}

/* Of ways that are as long the thread's own is taken, and of edges the first. */
static void of_equal_ways_the_first_is_taken(void **state)
{
    struct vv_model *model = handmade_model();
    struct vv_scratch scratch = { 0 };
    struct vv_critical_graph graph;
    struct vv_critical_solution solution;
    (void)state;
    begin(&graph, model, &scratch);
    graph.time_ns[3] = 4; /* the second chain's own end is no rival */
    assert_int_equal(vv_critical_edge(&graph,
                                      (struct vv_critical_edge){ 10, 2, 1, 7, VV_LINK_WAIT }, NULL),
                     VARVE_OK);
    assert_int_equal(vv_critical_solve(&solution, &graph, NULL), VARVE_OK);
    assert_int_equal(solution.length_ns, 10);
    assert_int_equal(solution.path_count, 2);
    assert_int_equal(solution.path[0].node, 0); /* not 2, from where 1 is as far */
    assert_int_equal(solution.path[1].owner, VV_NONE);
    vv_scratch_deinit(&scratch);

    begin(&graph, model, &scratch);
    for (uint32_t owner = 7; owner < 9; owner++)
        assert_int_equal(
            vv_critical_edge(&graph, (struct vv_critical_edge){ 30, 2, 1, owner, VV_LINK_WAIT },
                             NULL),
            VARVE_OK);
    assert_int_equal(vv_critical_solve(&solution, &graph, NULL), VARVE_OK);
    assert_int_equal(solution.length_ns, 30);
    assert_int_equal(solution.path[1].owner, 7);
    vv_scratch_deinit(&scratch);
    vv_model_destroy(model);
}

static void what_is_not_on_the_path_has_slack(void **state)
{
    struct vv_model *model = handmade_model();
    struct vv_scratch scratch = { 0 };
    struct vv_critical_graph graph;
    struct vv_critical_solution solution;
    int64_t rest_ns[4];
    (void)state;
    begin(&graph, model, &scratch);
    graph.time_ns[3] = 4; /* the second chain is shorter, and ends before the first may */
    connect(&graph, 3, 1);
    assert_int_equal(vv_critical_solve(&solution, &graph, NULL), VARVE_OK);
    vv_critical_rest(&solution, rest_ns);
    assert_int_equal(solution.length_ns, 10);
    assert_int_equal(solution.length_ns - solution.longest_ns[2] - rest_ns[2], 6);
    assert_int_equal(solution.length_ns - solution.longest_ns[0] - rest_ns[0], 0);
    vv_scratch_deinit(&scratch);
    vv_model_destroy(model);
}

static void chains_that_wait_for_each_other_are_parted(void **state)
{
    struct vv_model *model = handmade_model();
    struct vv_scratch scratch = { 0 };
    struct vv_critical_graph graph;
    struct vv_critical_solution solution;
    (void)state;
    begin(&graph, model, &scratch);
    connect(&graph, 3, 0); /* each begin after the other's end */
    connect(&graph, 1, 2);
    assert_int_equal(vv_critical_solve(&solution, &graph, NULL), VARVE_OK);
    assert_int_equal(graph.contradictions, 1);
    assert_int_equal(solution.length_ns, 20); /* the first goes without, the second after it */
    struct vv_what_if cases[] = { { VV_WHAT_NAME, 0, 2, 0 }, { VV_WHAT_LAUNCH, 0, 1, 0 },
                                  { VV_WHAT_NAME, 0, 4, 0 } };
    assert_int_equal(vv_critical_what_if(&solution, cases, 3, NULL), VARVE_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cases[i].length_ns, 20); /* nobody owns that time */
    vv_scratch_deinit(&scratch);
    vv_model_destroy(model);
}

static void nothing_has_no_path(void **state)
{
    struct vv_model *model = handmade_model();
    struct vv_scratch scratch = { 0 };
    struct vv_critical_graph graph = { .model = model, .scratch = &scratch };
    struct vv_critical_solution solution;
    (void)state;
    assert_int_equal(vv_critical_reserve(&graph, 0, NULL), VARVE_OK);
    assert_int_equal(vv_critical_chain(&graph, NULL), VARVE_OK);
    graph.chain_count--;
    assert_int_equal(vv_critical_solve(&solution, &graph, NULL), VARVE_OK);
    assert_int_equal(solution.path_count, 0);
    assert_int_equal(solution.length_ns, 0);
    vv_scratch_deinit(&scratch);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_waits_for_another),
        cmocka_unit_test(of_equal_ways_the_first_is_taken),
        cmocka_unit_test(what_is_not_on_the_path_has_slack),
        cmocka_unit_test(chains_that_wait_for_each_other_are_parted),
        cmocka_unit_test(nothing_has_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
