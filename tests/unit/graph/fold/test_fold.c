/* SPDX-License-Identifier: Apache-2.0 */
/* Folding: groups and lists of equal modules, sums, calls of a function by itself, the rest, what
 * is near a node, and that folding again changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/fold/fold.h"

static uint32_t add(struct vv_dag *dag, const char *name, const char *module, int64_t begin_ns,
                    int64_t self_ns)
{
    uint32_t row;
    struct vv_dag_nodes *nodes = &dag->nodes;
    assert_int_equal(vv_dag_add_node(dag, name, VV_DAG_OPERATOR, &row, NULL), VARVE_OK);
    assert_int_equal(vv_dag_text(dag, module, &nodes->module[row], NULL), VARVE_OK);
    nodes->begin_ns[row] = begin_ns;
    nodes->end_ns[row] = begin_ns + self_ns;
    nodes->count[row] = 1;
    nodes->total_ns[row] = nodes->self_ns[row] = self_ns;
    assert_int_equal(vv_dag_add_occurrence(dag, row, begin_ns / 10000, 1, self_ns, NULL), VARVE_OK);
    return row;
}

/* Three steps of an embedding, 24 equal layers of two modules, and a head. */
static void make_model(struct vv_dag *dag)
{
    uint32_t before = VV_NONE, row, edge;
    assert_int_equal(vv_dag_init(dag, NULL), VARVE_OK);
    for (int step = 0; step < 3; step++) {
        int64_t now_ns = step * 10000;
        add(dag, "embedding", "net.embed", now_ns, 7);
        for (int layer = 0; layer < 24; layer++) {
            char module[60];
            snprintf(module, sizeof module, "net.layers.%d.attn", layer);
            row = add(dag, "mm", module, now_ns += 100, 10 + layer);
            if (before != VV_NONE)
                assert_int_equal(vv_dag_add_edge(dag, before, row, VV_DAG_EDGE_DATA, &edge, NULL),
                                 VARVE_OK);
            snprintf(module, sizeof module, "net.layers.%d.mlp", layer);
            before = add(dag, "gelu", module, now_ns += 50, 5);
            assert_int_equal(vv_dag_add_edge(dag, row, before, VV_DAG_EDGE_DATA, &edge, NULL),
                             VARVE_OK);
        }
        add(dag, "mm", "net.head", now_ns += 100, 30);
    }
}

static int64_t whole_ns(const struct vv_dag *dag)
{
    int64_t sum_ns = 0;
    for (uint32_t row = 0; row < dag->nodes.table.count; row++)
        if (dag->nodes.kind[row] != VV_DAG_GROUP)
            sum_ns += dag->nodes.self_ns[row];
    return sum_ns;
}

static uint32_t find(const struct vv_dag *dag, const char *name)
{
    for (uint32_t row = 0; row < dag->nodes.table.count; row++)
        if (strcmp(vv_dag_string(dag, dag->nodes.name[row]), name) == 0)
            return row;
    fail_msg("no node '%s'", name);
    return VV_NONE;
}

static void fold_by(const struct vv_dag *dag, const char *by, int64_t top, const char *around,
                    struct vv_dag *out_dag)
{
    struct vv_fold_options options = { .top = top, .around = around, .hops = 1 };
    assert_int_equal(vv_fold_read_keys(by, &options, NULL), VARVE_OK);
    assert_int_equal(vv_dag_init(out_dag, NULL), VARVE_OK);
    assert_int_equal(vv_fold(dag, &options, out_dag, NULL), VARVE_OK);
    assert_int_equal(whole_ns(out_dag), whole_ns(dag));
}

static void equal_layers_become_one(void **state)
{
    struct vv_dag dag, folded;
    (void)state;
    make_model(&dag);
    fold_by(&dag, NULL, 0, NULL, &folded);
    /* net, embed, layers, 24 x layers, attn, mlp, head; embedding, mm, gelu, mm */
    assert_int_equal(folded.nodes.table.count, 11);
    uint32_t net = find(&folded, "net"), list = find(&folded, "24 \xc3\x97 layers"),
             gelu = find(&folded, "gelu");
    assert_int_equal(folded.nodes.total_ns[net], whole_ns(&dag));
    assert_int_equal(folded.nodes.total_ns[list], 3 * (24 * 15 + 276));
    assert_int_equal(folded.nodes.parent[list], find(&folded, "layers"));
    assert_int_equal(folded.nodes.parent[gelu], find(&folded, "mlp"));
    assert_int_equal(folded.nodes.count[gelu], 72);
    assert_int_equal(folded.nodes.p50_ns[gelu], 5);
    assert_int_equal(folded.nodes.occurrence_count[gelu], 3);
    assert_int_equal(folded.occurrences.total_ns[folded.nodes.first_occurrence[gelu]], 120);
    /* mm -> gelu 72 times, and gelu -> mm of the next layer, back to a node that began earlier */
    assert_int_equal(folded.edges.table.count, 2);
    assert_int_equal(folded.edges.count[0] + folded.edges.count[1], dag.edges.table.count);
    assert_string_equal(vv_dag_find_note(&folded, "edges back"),
                        "1 to a node that began earlier, as in a loop");
    for (uint32_t row = 0; row < folded.nodes.table.count; row++)
        assert_true(folded.nodes.parent[row] == VV_NONE || folded.nodes.parent[row] < row);
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

/* Layers of two kinds in turn, each with a list of its own. */
static void make_two_kinds(struct vv_dag *dag)
{
    assert_int_equal(vv_dag_init(dag, NULL), VARVE_OK);
    for (int layer = 0; layer < 6; layer++)
        for (int expert = 0; expert < 4; expert++) {
            char module[60];
            snprintf(module, sizeof module, "net.%d.%s.%d", layer, layer % 2 ? "mlp" : "experts",
                     expert);
            add(dag, "mm", module, layer * 10 + expert, 1);
        }
}

static void kinds_of_members_have_names_of_their_own(void **state)
{
    struct vv_dag dag, once, twice;
    (void)state;
    make_two_kinds(&dag);
    fold_by(&dag, NULL, 0, NULL, &once);
    /* net; both kinds; in each its list, and in that one for all four members; mm in each */
    assert_int_equal(once.nodes.table.count, 9);
    uint32_t even = find(&once, "3 \xc3\x97 net"), odd = find(&once, "3 \xc3\x97 net from 1");
    assert_int_equal(once.nodes.total_ns[even], 12);
    assert_int_equal(once.nodes.total_ns[odd], 12);
    assert_int_equal(once.nodes.parent[find(&once, "experts")], even);
    assert_int_equal(once.nodes.total_ns[find(&once, "4 \xc3\x97 experts")], 12);
    fold_by(&once, NULL, 0, NULL, &twice);
    assert_int_equal(twice.nodes.table.count, once.nodes.table.count);
    vv_dag_deinit(&twice);
    vv_dag_deinit(&once);
    vv_dag_deinit(&dag);
}

static void a_list_in_a_list_is_counted_once(void **state)
{
    struct vv_dag dag, folded;
    (void)state;
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    for (int layer = 0; layer < 6; layer++)
        for (int part = 0; part < 4; part++) {
            char module[60];
            snprintf(module, sizeof module, "net.%d.%d", layer, part);
            add(&dag, "mm", module, layer * 10 + part, 1);
        }
    fold_by(&dag, NULL, 0, NULL, &folded);
    assert_int_equal(folded.nodes.table.count, 4);
    assert_int_equal(folded.nodes.parent[find(&folded, "4 \xc3\x97 6 \xc3\x97 net")],
                     find(&folded, "6 \xc3\x97 net"));
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

/* Two operators launch a kernel each, by the same call. */
static void work_keeps_its_operator_when_folded_again(void **state)
{
    struct vv_dag dag, once, twice;
    uint32_t edge;
    (void)state;
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    for (int i = 0; i < 2; i++) {
        uint32_t op = add(&dag, i == 0 ? "add" : "mm", NULL, 100 * i, 10),
                 call = add(&dag, "launch", NULL, 100 * i + 2, 3),
                 work = add(&dag, "gemm", NULL, 100 * i + 20, 30);
        dag.nodes.kind[call] = VV_DAG_CALL;
        dag.nodes.kind[work] = VV_DAG_KERNEL;
        assert_int_equal(vv_dag_add_edge(&dag, op, call, VV_DAG_EDGE_NESTING, &edge, NULL),
                         VARVE_OK);
        assert_int_equal(vv_dag_add_edge(&dag, call, work, VV_DAG_EDGE_FLOW, &edge, NULL),
                         VARVE_OK);
    }
    fold_by(&dag, "op", 0, NULL, &once);
    fold_by(&once, "op", 0, NULL, &twice);
    assert_int_equal(once.nodes.table.count, 5); /* add, mm, launch, and the work of both */
    assert_int_equal(twice.nodes.table.count, 5);
    for (uint32_t row = 0; row < 5; row++)
        assert_string_equal(vv_dag_string(&twice, twice.nodes.name[row]),
                            vv_dag_string(&once, once.nodes.name[row]));
    vv_dag_deinit(&twice);
    vv_dag_deinit(&once);
    vv_dag_deinit(&dag);
}

static void unequal_members_of_a_list_remain(void **state)
{
    struct vv_dag dag, folded;
    (void)state;
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    add(&dag, "conv", "net.0", 0, 1);
    add(&dag, "relu", "net.1", 1, 1);
    add(&dag, "conv", "net.2", 2, 1);
    fold_by(&dag, NULL, 0, NULL, &folded);
    assert_int_equal(folded.nodes.count[find(&folded, "conv")], 2);
    assert_int_equal(folded.nodes.parent[find(&folded, "conv")], find(&folded, "2 \xc3\x97 net"));
    assert_int_equal(folded.nodes.parent[find(&folded, "relu")], find(&folded, "1"));
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

static void folding_again_changes_nothing(void **state)
{
    static const char *const keys[] = { "name", "module,name", "phase,name", "execution" };
    struct vv_dag dag, once, twice;
    (void)state;
    make_model(&dag);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        fold_by(&dag, keys[i], 0, NULL, &once);
        fold_by(&once, keys[i], 0, NULL, &twice);
        assert_int_equal(twice.nodes.table.count, once.nodes.table.count);
        assert_int_equal(twice.edges.table.count, once.edges.table.count);
        for (uint32_t row = 0; row < once.nodes.table.count; row++) {
            assert_string_equal(vv_dag_string(&twice, twice.nodes.name[row]),
                                vv_dag_string(&once, once.nodes.name[row]));
            assert_int_equal(twice.nodes.count[row], once.nodes.count[row]);
            assert_int_equal(twice.nodes.total_ns[row], once.nodes.total_ns[row]);
            assert_int_equal(twice.nodes.p95_ns[row], once.nodes.p95_ns[row]);
            assert_int_equal(twice.nodes.level[row], once.nodes.level[row]);
            assert_int_equal(twice.nodes.parent[row], once.nodes.parent[row]);
            assert_int_equal(twice.nodes.occurrence_count[row], once.nodes.occurrence_count[row]);
        }
        vv_dag_deinit(&once);
        vv_dag_deinit(&twice);
    }
    vv_dag_deinit(&dag);
}

static void a_call_of_itself_counts_once(void **state)
{
    struct vv_dag dag, folded;
    uint32_t edge;
    (void)state;
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    uint32_t outer = add(&dag, "f", NULL, 0, 60), inner = add(&dag, "f", NULL, 10, 40);
    dag.nodes.total_ns[outer] = 100;
    assert_int_equal(vv_dag_add_edge(&dag, outer, inner, VV_DAG_EDGE_NESTING, &edge, NULL),
                     VARVE_OK);
    fold_by(&dag, "name", 0, NULL, &folded);
    assert_int_equal(folded.nodes.table.count, 1);
    assert_int_equal(folded.nodes.count[0], 1);
    assert_int_equal(folded.nodes.total_ns[0], 100);
    assert_int_equal(folded.nodes.self_ns[0], 100);
    assert_int_equal(folded.edges.table.count, 0);
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

static void the_rest_is_one_node(void **state)
{
    struct vv_dag dag, folded;
    (void)state;
    make_model(&dag);
    fold_by(&dag, "name", 1, NULL, &folded);
    assert_int_equal(folded.nodes.table.count, 2);
    uint32_t rest = find(&folded, "(2 others)");
    assert_int_equal(folded.nodes.kind[rest], VV_DAG_REST);
    assert_int_equal(folded.nodes.self_ns[rest], 3 * (7 + 24 * 5));
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

static void what_is_near_remains(void **state)
{
    struct vv_fold_options options = { .around = "gelo" };
    struct vv_dag dag, folded;
    struct varve_error error;
    (void)state;
    make_model(&dag);
    fold_by(&dag, "name", 0, "gelu", &folded);
    find(&folded, "gelu");
    find(&folded, "mm"); /* one edge away */
    assert_int_equal(folded.nodes.self_ns[find(&folded, "(1 other)")], 21);
    vv_dag_deinit(&folded);
    fold_by(&dag, "name", 0, "1", &folded); /* by its id; no edge leads to it */
    assert_int_equal(folded.nodes.self_ns[find(&folded, "embedding")], 21);
    find(&folded, "(2 others)");
    vv_dag_deinit(&folded);
    assert_int_equal(vv_fold_read_keys("name", &options, NULL), VARVE_OK);
    assert_int_equal(vv_dag_init(&folded, NULL), VARVE_OK);
    assert_int_equal(vv_fold(&dag, &options, &folded, &error), VARVE_INVALID);
    assert_string_equal(error.message, "no node is called 'gelo'. Nearest: 'gelu'");
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

/* A chain of nodes, each in the group before it, and what lies 3 hops from one of them. Neither the
 * depth nor the length costs more than once. */
static void deep_groups_and_long_chains_are_walked_once(void **state)
{
    enum { NODES = 200000 };
    struct vv_dag dag, folded;
    uint32_t row, edge;
    char name[20];
    (void)state;
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%u", i);
        row = add(&dag, name, "", i, 1);
        if (i == 0)
            continue;
        dag.nodes.parent[row] = row - 1;
        assert_int_equal(vv_dag_add_edge(&dag, row - 1, row, VV_DAG_EDGE_DATA, &edge, NULL),
                         VARVE_OK);
    }
    struct vv_fold_options options = { .around = "n7", .hops = NODES };
    assert_int_equal(vv_fold_read_keys("name", &options, NULL), VARVE_OK);
    assert_int_equal(vv_dag_init(&folded, NULL), VARVE_OK);
    assert_int_equal(vv_fold(&dag, &options, &folded, NULL), VARVE_OK);
    assert_int_equal(whole_ns(&folded), NODES);
    assert_int_equal(folded.nodes.table.count, 2 * NODES - 1);
    vv_dag_deinit(&folded);
    options.hops = 3;
    options.around = "n100";
    memset(dag.nodes.parent, 0xff, NODES * sizeof *dag.nodes.parent);
    assert_int_equal(vv_dag_init(&folded, NULL), VARVE_OK);
    assert_int_equal(vv_fold(&dag, &options, &folded, NULL), VARVE_OK);
    assert_int_equal(folded.nodes.table.count, 7 + 1);
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

/* A note is kept whole, however long it is. */
static void long_notes_remain(void **state)
{
    struct vv_dag dag, folded;
    char text[2001];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    add(&dag, "mm", "", 0, 1);
    assert_int_equal(vv_dag_add_note(&dag, "said", text, NULL), VARVE_OK);
    fold_by(&dag, "name", 0, NULL, &folded);
    assert_string_equal(vv_dag_find_note(&folded, "said"), text);
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

static void wrong_keys_are_refused(void **state)
{
    struct vv_fold_options options = { .top = 0 };
    struct varve_error error;
    (void)state;
    assert_int_equal(vv_fold_read_keys("module,colour", &options, &error), VARVE_INVALID);
    assert_string_equal(error.message,
                        "a graph cannot be folded by 'colour'. Write module, block, phase, name, "
                        "op or execution, or several with commas between");
    assert_int_equal(vv_fold_read_keys("phase,phase", &options, &error), VARVE_INVALID);
}

static void an_empty_graph_folds_to_nothing(void **state)
{
    struct vv_dag dag, folded;
    (void)state;
    assert_int_equal(vv_dag_init(&dag, NULL), VARVE_OK);
    fold_by(&dag, NULL, 3, NULL, &folded);
    assert_int_equal(folded.nodes.table.count, 0);
    vv_dag_deinit(&folded);
    vv_dag_deinit(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_layers_become_one),
        cmocka_unit_test(kinds_of_members_have_names_of_their_own),
        cmocka_unit_test(a_list_in_a_list_is_counted_once),
        cmocka_unit_test(work_keeps_its_operator_when_folded_again),
        cmocka_unit_test(unequal_members_of_a_list_remain),
        cmocka_unit_test(folding_again_changes_nothing),
        cmocka_unit_test(a_call_of_itself_counts_once),
        cmocka_unit_test(the_rest_is_one_node),
        cmocka_unit_test(what_is_near_remains),
        cmocka_unit_test(deep_groups_and_long_chains_are_walked_once),
        cmocka_unit_test(long_notes_remain),
        cmocka_unit_test(wrong_keys_are_refused),
        cmocka_unit_test(an_empty_graph_folds_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
