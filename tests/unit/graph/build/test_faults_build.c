/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_build.c — the n-th allocation of a graph fails, for every n and every graph: each
 * time the answer is VARVE_NO_MEMORY. Leaks show in the sanitizer build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "graph/build/build.h"
#include "handmade_device.h"

static void add_tensor(struct vv_model *model, uint32_t op, uint64_t identity, bool is_output)
{
    const int64_t dims[] = { 3 };
    uint32_t tensor;
    assert_int_equal(vv_model_add_tensor(model, VARVE_F32, 1, dims, &tensor, NULL), VARVE_OK);
    model->tensors.identity[tensor] = identity;
    model->ops.first_tensor[op] = tensor;
    model->ops.tensor_count[op] = !is_output;
    model->ops.output_count[op] = is_output;
    model->ops.shapes[op] = handmade_text(model, is_output ? "-> [3] f32" : "[3] f32");
    model->ops.module[op] = handmade_text(model, "net.fc");
}

static void add_graph(struct vv_model *model, uint32_t op)
{
    uint32_t graph, node, edge;
    assert_int_equal(vv_model_add_graph(model, &graph, NULL), VARVE_OK);
    model->graphs.process[graph] = 0;
    model->graphs.node_count[graph] = 2;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vv_model_add_node(model, &node, NULL), VARVE_OK);
        model->nodes.graph[node] = graph;
        model->nodes.name[node] = handmade_text(model, i == 0 ? "conv" : "relu");
        model->nodes.type[node] = handmade_text(model, "Op");
    }
    assert_int_equal(vv_model_add_edge(model, &edge, NULL), VARVE_OK);
    model->edges.to_node[edge] = 1;
    model->graphs.edge_count[graph] = 1;
    assert_int_equal(vv_model_add_graph(model, &graph, NULL), VARVE_OK); /* a body, without nodes */
    model->graphs.process[graph] = 0;
    model->graphs.parent[graph] = 0;
    model->ops.node[op] = 0;
}

static struct vv_model *everything(void)
{
    struct vv_model *model = handmade_model();
    uint32_t main = handmade_track(model, "train", 100), seven = handmade_stream(model, 0, 7), row;
    handmade_step(model, main, 3, 0, 1000);
    handmade_slice(model, main, "train.py(3): step", VARVE_LAYER_PYTHON, 5, 990);
    uint32_t makes = handmade_op(model, main, "makes", 10, 90),
             reads = handmade_op(model, main, "reads", 100, 200);
    add_tensor(model, handmade_arguments(model, makes, 0, 1, 0), 5, true);
    add_tensor(model, handmade_arguments(model, reads, 0, 1, 100), 5, false);
    add_graph(model, model->slices.op[reads]);
    handmade_call(model, main, "cudaLaunchKernel", 1, 120, 150);
    handmade_call(model, main, "cudaDeviceSynchronize", 2, 300, 900);
    handmade_work(model, seven, "sgemm", 1, 250, 800);
    handmade_work(model, seven, "relu", 0, 810, 850);
    uint32_t wait = handmade_slice(model, seven, "Stream Sync", VARVE_LAYER_DEVICE, 400, 850);
    handmade_activity(model, wait, VV_ACTIVITY_SYNC, 2);
    assert_int_equal(vv_model_add_flow(model, &row, NULL), VARVE_OK);
    model->flows.from_ns[row] = HANDMADE_BEGIN_NS + 20;
    model->flows.to_ns[row] = HANDMADE_BEGIN_NS + 110;
    model->flows.from_track[row] = model->flows.to_track[row] = main;
    model->flows.name[row] = handmade_text(model, "then");
    assert_int_equal(vv_model_add_memory(model, &row, NULL), VARVE_OK);
    model->memory.time_ns[row] = HANDMADE_BEGIN_NS + 50;
    model->memory.address[row] = 0x1000;
    model->memory.bytes[row] = 4096;
    model->memory.track[row] = main;
    handmade_finish(model);
    return model;
}

static void every_allocation_fails_once(void **state)
{
    static const struct { const char *of, *edges, *compat; } questions[] = {
        { NULL, NULL, NULL }, { NULL, "order", NULL }, { "python", NULL, NULL },
        { "calls", NULL, NULL }, { "kernels", NULL, NULL }, { "memory", NULL, NULL },
        { "registered", NULL, NULL }, { NULL, NULL, "mlirgraph" },
    };
    struct vv_model *model = everything();
    struct varve_error error;
    struct vv_dag dag;
    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct vv_question question = VV_QUESTION_ALL;
        question.of = questions[i].of;
        question.edges = questions[i].edges;
        question.compat = questions[i].compat;
        vv_onces_forget(model->onces);
        allocation_count = 0;
        assert_int_equal(vv_graph_build(model, &question, &dag, &error), VARVE_OK);
        long total = allocation_count;
        assert_true(total > 20);
        assert_true(dag.nodes.table.count > 1 || i == 2);
        vv_dag_deinit(&dag);
        for (long n = 0; n < total; n++) {
            vv_onces_forget(model->onces);
            allocations_left = n;
            enum varve_code code = vv_graph_build(model, &question, &dag, &error);
            allocations_left = -1;
            if (code != VARVE_NO_MEMORY)
                fail_msg("graph %zu, allocation %ld of %ld: code %d", i, n, total, code);
        }
    }
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
