/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of a small model: its nodes, what each kind of edge joins, levels and sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/build/build.h"
#include "handmade_device.h"

static struct vv_dag build(const struct vv_model *model, const struct vv_question *question)
{
    struct varve_error error = { 0 };
    struct vv_dag dag;
    if (vv_graph_build(model, question, &dag, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    return dag;
}

static uint32_t node_of(const struct vv_dag *dag, const char *name)
{
    for (uint32_t node = 0; node < dag->nodes.table.count; node++)
        if (strcmp(vv_dag_string(dag, dag->nodes.name[node]), name) == 0)
            return node;
    return VV_NONE;
}

static uint32_t edge_of(const struct vv_dag *dag, const char *from, const char *to)
{
    for (uint32_t edge = 0; edge < dag->edges.table.count; edge++)
        if (dag->edges.from[edge] == node_of(dag, from) && dag->edges.to[edge] == node_of(dag, to))
            return edge;
    return VV_NONE;
}

static void has_edge(const struct vv_dag *dag, const char *from, const char *to,
                     enum vv_dag_edge_kind kind)
{
    uint32_t edge = edge_of(dag, from, to);
    if (edge == VV_NONE)
        fail_msg("no edge from %s to %s", from, to);
    assert_int_equal(dag->edges.kind[edge], kind);
}

static void levels_rise(const struct vv_dag *dag)
{
    for (uint32_t edge = 0; edge < dag->edges.table.count; edge++)
        assert_true(dag->nodes.level[dag->edges.from[edge]] <
                    dag->nodes.level[dag->edges.to[edge]]);
}

/* A step of 1000 in which an operator launches a kernel, and a call waits for it. */
static struct vv_model *one_kernel(void)
{
    struct vv_model *model = handmade_model();
    uint32_t main = handmade_track(model, "train", 100), seven = handmade_stream(model, 0, 7);
    handmade_step(model, main, 3, 0, 1000);
    handmade_op(model, main, "aten::mm", 100, 200);
    handmade_call(model, main, "cudaLaunchKernel", 1, 120, 150);
    handmade_call(model, main, "cudaDeviceSynchronize", 2, 300, 900);
    handmade_work(model, seven, "sgemm", 1, 250, 800);
    handmade_work(model, seven, "relu", 0, 810, 850);
    handmade_finish(model);
    return model;
}

static void every_kind_of_edge(void **state)
{
    (void)state;
    struct vv_model *model = one_kernel();
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_dag dag = build(model, &question);
    assert_int_equal(dag.nodes.table.count, 6); /* with the node OUTSIDE */
    has_edge(&dag, "aten::mm", "cudaLaunchKernel", VV_DAG_EDGE_NESTING);
    has_edge(&dag, "cudaLaunchKernel", "sgemm", VV_DAG_EDGE_FLOW);
    has_edge(&dag, "sgemm", "relu", VV_DAG_EDGE_STREAM);
    has_edge(&dag, "sgemm", "cudaDeviceSynchronize", VV_DAG_EDGE_SYNC);
    assert_int_equal(edge_of(&dag, "aten::mm", "cudaDeviceSynchronize"), VV_NONE);
    levels_rise(&dag);
    assert_int_equal(dag.nodes.level[node_of(&dag, "cudaDeviceSynchronize")], 3);
    uint32_t outside = node_of(&dag, "(outside)"), kernel = node_of(&dag, "sgemm");
    assert_int_equal(dag.nodes.self_ns[outside], 1000 - 100 - 600);
    assert_int_equal(dag.nodes.level[outside], VV_NONE);
    assert_int_equal(dag.nodes.kind[kernel], VV_DAG_KERNEL);
    assert_string_equal(vv_dag_string(&dag, dag.nodes.device[kernel]), "cuda:0");
    assert_int_equal(dag.occurrences.step[dag.nodes.first_occurrence[kernel]], 3);
    assert_true(dag.nodes.flags[kernel] & VV_DAG_CRITICAL);
    assert_int_equal(dag.nodes.critical_ns[kernel], 550);
    assert_string_equal(vv_dag_find_note(&dag, "data edges"),
                        "not known: no tensor has an identity in this trace");
    vv_dag_deinit(&dag);
    vv_model_destroy(model);
}

static void only_the_edges_asked_for(void **state)
{
    (void)state;
    struct vv_model *model = one_kernel();
    struct vv_question question = VV_QUESTION_ALL;
    struct varve_error error;
    struct vv_dag dag;
    question.edges = "flow,stream";
    dag = build(model, &question);
    assert_int_equal(dag.edges.table.count, 2);
    vv_dag_deinit(&dag);
    question.edges = "order"; /* over threads and streams: relu comes after the kernel */
    dag = build(model, &question);
    has_edge(&dag, "sgemm", "relu", VV_DAG_EDGE_ORDER);
    assert_int_equal(dag.nodes.level[node_of(&dag, "cudaDeviceSynchronize")], 1);
    vv_dag_deinit(&dag);
    question.edges = "flow,nonsense";
    assert_int_equal(vv_graph_build(model, &question, &dag, &error), VARVE_INVALID);
    assert_non_null(strstr(error.message, "no edges are called 'nonsense'"));
    question.edges = NULL;
    question.of = "nonsense";
    assert_int_equal(vv_graph_build(model, &question, &dag, &error), VARVE_INVALID);
    assert_non_null(strstr(error.message, "no graph of 'nonsense'. Write operators"));
    vv_model_destroy(model);
}

/* What is filtered away leaves its arrows to what is around it. */
static void arrows_end_at_what_is_drawn(void **state)
{
    (void)state;
    struct vv_model *model = one_kernel();
    struct vv_question question = VV_QUESTION_ALL;
    question.selection.filter = "name == 'aten::mm' || name == 'sgemm'";
    struct vv_dag dag = build(model, &question);
    assert_int_equal(dag.nodes.table.count, 3);
    has_edge(&dag, "aten::mm", "sgemm", VV_DAG_EDGE_FLOW);
    vv_dag_deinit(&dag);
    vv_model_destroy(model);
}

/* a makes t1; b reads it and makes t1 anew and t2; c reads both; the copy d reads what it makes. */
static void tensors_join_nodes(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t begin, end; uint64_t in[2], out[2]; } ops[] = {
        { "a", 0, 10, { 0 }, { 1 } },
        { "b", 20, 30, { 1 }, { 1, 2 } },
        { "c", 40, 50, { 1, 2 }, { 0 } },
        { "d", 60, 60, { 2 }, { 2 } },
    };
    const int64_t dims[] = { 8, 4 };
    struct vv_model *model = handmade_model();
    uint32_t main = handmade_track(model, "main", 100);
    for (size_t i = 0; i < 4; i++) {
        uint32_t op = handmade_arguments(model, handmade_op(model, main, ops[i].name, ops[i].begin,
                                                            ops[i].end), 0, -1, 0), tensor;
        for (int side = 0; side < 2; side++)
            for (int t = 0; t < 2; t++) {
                uint64_t identity = side == 0 ? ops[i].in[t] : ops[i].out[t];
                if (identity == 0)
                    continue;
                assert_int_equal(vv_model_add_tensor(model, VARVE_F32, 2, dims, &tensor,
                                                     NULL), VARVE_OK);
                model->tensors.identity[tensor] = identity;
                model->tensors.side[tensor] = (uint8_t)side;
                if (model->ops.tensor_count[op] + model->ops.output_count[op] == 0)
                    model->ops.first_tensor[op] = tensor;
                if (side == 0)
                    model->ops.tensor_count[op]++;
                else
                    model->ops.output_count[op]++;
            }
    }
    handmade_finish(model);
    struct vv_question question = VV_QUESTION_ALL;
    question.edges = "data";
    struct vv_dag dag = build(model, &question);
    assert_int_equal(dag.edges.table.count, 3); /* a -> b, b -> c, b -> d */
    has_edge(&dag, "a", "b", VV_DAG_EDGE_DATA);
    has_edge(&dag, "b", "d", VV_DAG_EDGE_DATA);
    uint32_t both = edge_of(&dag, "b", "c");
    assert_int_equal(dag.edges.bytes[both], 2 * 8 * 4 * 4);
    assert_string_equal(vv_dag_string(&dag, dag.edges.name[both]), "[8,4] f32");
    levels_rise(&dag);
    vv_dag_deinit(&dag);
    vv_model_destroy(model);
}

static void remember(struct vv_model *model, uint32_t track, int64_t at, uint64_t address,
                     int64_t bytes)
{
    uint32_t row;
    assert_int_equal(vv_model_add_memory(model, &row, NULL), VARVE_OK);
    model->memory.time_ns[row] = HANDMADE_BEGIN_NS + at;
    model->memory.address[row] = address;
    model->memory.bytes[row] = bytes;
    model->memory.track[row] = track;
}

/* "makes" allocates two pieces, one of which "reads" releases; nobody releases the other. */
static void pieces_of_memory(void **state)
{
    (void)state;
    struct vv_model *model = handmade_model();
    struct vv_question question = VV_QUESTION_ALL;
    uint32_t main = handmade_track(model, "main", 100);
    handmade_op(model, main, "makes", 0, 100);
    handmade_op(model, main, "idles", 110, 190);
    handmade_op(model, main, "reads", 200, 300);
    remember(model, main, 50, 0x1000, 4096);
    remember(model, main, 60, 0x2000, 64);
    remember(model, main, 250, 0x1000, -4096);
    handmade_finish(model);
    struct vv_dag dag = build(model, &question);
    assert_int_equal(dag.nodes.memory_bytes[node_of(&dag, "makes")], 4160);
    vv_dag_deinit(&dag);
    question.of = "memory";
    dag = build(model, &question);
    assert_int_equal(dag.nodes.table.count, 4); /* "idles" has nothing to do with it */
    assert_int_equal(dag.edges.table.count, 3);
    for (uint32_t node = 0; node < 4; node++) {
        if (dag.nodes.kind[node] != VV_DAG_TENSOR)
            continue;
        bool is_first = dag.nodes.memory_bytes[node] == 4096;
        assert_string_equal(vv_dag_string(&dag, dag.nodes.name[node]), "makes");
        assert_int_equal(dag.nodes.total_ns[node], is_first ? 200 : 940);
        assert_int_equal(dag.nodes.flags[node], is_first ? 0 : VV_DAG_UNFINISHED);
        assert_int_equal(dag.nodes.self_ns[node], 0);
    }
    levels_rise(&dag);
    vv_dag_deinit(&dag);
    vv_model_destroy(model);
}

static uint32_t registered_node(struct vv_model *model, uint32_t graph, const char *name,
                                const char *type)
{
    uint32_t node;
    assert_int_equal(vv_model_add_node(model, &node, NULL), VARVE_OK);
    model->nodes.graph[node] = graph;
    model->nodes.number[node] = model->graphs.node_count[graph]++;
    model->nodes.name[node] = handmade_text(model, name);
    model->nodes.type[node] = handmade_text(model, type);
    return node;
}

static void registered_edge(struct vv_model *model, uint32_t graph, uint32_t from, uint32_t to)
{
    uint32_t edge;
    assert_int_equal(vv_model_add_edge(model, &edge, NULL), VARVE_OK);
    model->edges.from_node[edge] = from;
    model->edges.to_node[edge] = to;
    model->graphs.edge_count[graph]++;
}

/* A graph of two nodes, the second of which has a body. It runs twice. */
static struct vv_model *registered(bool has_cycle)
{
    struct vv_model *model = handmade_model();
    uint32_t main = handmade_track(model, "main", 100), graph, body;
    assert_int_equal(vv_model_add_graph(model, &graph, NULL), VARVE_OK);
    model->graphs.process[graph] = 0;
    uint32_t conv = registered_node(model, graph, "conv1", "Conv2D"),
             loop = registered_node(model, graph, "While", "While");
    registered_edge(model, graph, conv, loop);
    if (has_cycle)
        registered_edge(model, graph, loop, conv);
    assert_int_equal(vv_model_add_graph(model, &body, NULL), VARVE_OK);
    model->graphs.process[body] = 0;
    model->graphs.name[body] = handmade_text(model, "body");
    model->graphs.parent[body] = loop;
    model->graphs.first_node[body] = (uint32_t)model->nodes.table.count;
    uint32_t add = registered_node(model, body, "add", "Add");
    const uint32_t rows[] = { conv, loop, add };
    for (int run = 0; run < 2; run++)
        for (size_t i = 0; i < 3; i++) {
            int64_t begin = 300 * run + 100 * (int64_t)i;
            uint32_t slice = handmade_op(model, main, "exec", begin, begin + 10 + 10 * run);
            uint32_t op = handmade_arguments(model, slice, 0, -1, 0);
            model->ops.node[op] = rows[i];
        }
    handmade_finish(model);
    return model;
}

static void a_registered_graph(void **state)
{
    (void)state;
    struct vv_model *model = registered(false);
    struct vv_question question = VV_QUESTION_ALL;
    question.of = "registered";
    struct vv_dag dag = build(model, &question);
    assert_int_equal(dag.nodes.table.count, 4);
    has_edge(&dag, "conv1 (Conv2D)", "While", VV_DAG_EDGE_DATA);
    has_edge(&dag, "While", "body", VV_DAG_EDGE_NESTING);
    uint32_t conv = node_of(&dag, "conv1 (Conv2D)"), body = node_of(&dag, "body"),
             add = node_of(&dag, "add (Add)");
    assert_int_equal(dag.nodes.count[conv], 2);
    assert_int_equal(dag.nodes.total_ns[conv], 30);
    assert_int_equal(dag.nodes.min_ns[conv], 10);
    assert_int_equal(dag.nodes.max_ns[conv], 20);
    assert_int_equal(dag.nodes.parent[add], body);
    assert_int_equal(dag.nodes.kind[body], VV_DAG_GROUP);
    assert_int_equal(dag.nodes.total_ns[body], 30);
    vv_dag_deinit(&dag);
    question.of = "operators"; /* the executions are joined by the graph's edges, run by run */
    question.edges = "data";
    dag = build(model, &question);
    assert_int_equal(dag.edges.table.count, 2);
    vv_dag_deinit(&dag);
    vv_model_destroy(model);
}

static void a_registered_graph_with_a_cycle(void **state)
{
    (void)state;
    struct vv_model *model = registered(true);
    struct vv_question question = VV_QUESTION_ALL;
    struct varve_error error = { 0 };
    struct vv_dag dag;
    question.of = "registered";
    assert_int_equal(vv_graph_build(model, &question, &dag, &error), VARVE_INVALID);
    assert_string_equal(error.message, "a cycle: 'conv1 (Conv2D)' -> 'While' -> 'conv1 (Conv2D)'. "
                                       "--break-cycles draws what is left");
    question.break_cycles = true;
    dag = build(model, &question);
    assert_int_equal(dag.edges.table.count, 2);
    vv_dag_deinit(&dag);
    vv_model_destroy(model);
}

static void nothing_and_one_event(void **state)
{
    (void)state;
    struct vv_question question = VV_QUESTION_ALL;
    static const char *const of[] = { "operators", "python", "calls", "kernels", "memory",
                                      "registered" };
    for (int events = 0; events < 2; events++) {
        struct vv_model *model = handmade_model();
        if (events > 0)
            handmade_op(model, handmade_track(model, "main", 100), "only", 5, 5);
        handmade_finish(model);
        for (size_t i = 0; i < 6; i++) {
            question.of = of[i];
            struct vv_dag dag = build(model, &question);
            assert_int_equal(dag.nodes.table.count, events == 1 && (i == 0 || i == 2));
            if (dag.nodes.table.count == 0)
                assert_non_null(vv_dag_find_note(&dag, "nodes"));
            vv_dag_deinit(&dag);
        }
        vv_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_edge), cmocka_unit_test(only_the_edges_asked_for),
        cmocka_unit_test(arrows_end_at_what_is_drawn), cmocka_unit_test(tensors_join_nodes),
        cmocka_unit_test(pieces_of_memory), cmocka_unit_test(a_registered_graph),
        cmocka_unit_test(a_registered_graph_with_a_cycle), cmocka_unit_test(nothing_and_one_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
