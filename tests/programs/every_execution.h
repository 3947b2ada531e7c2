/* SPDX-License-Identifier: Apache-2.0 */
/* every_execution.h — the part of every_record.c that makes the records of exec.h. */
#ifndef EVERY_EXECUTION_H
#define EVERY_EXECUTION_H

static uint32_t graph, model;

static bool add_graph(void)
{
    static const int64_t dims[] = { -1, INT64_MAX };
    static const struct varve_graph_tensor tensors[] = {
        { VARVE_INPUT, VARVE_F32, 2, 0, dims, "NCHW", UINT64_MAX },
        { VARVE_OUTPUT, VARVE_BITS, 0, 0, NULL, NULL, 0 },
    };
    static const char *const origins[] = { "first", split_name };
    static const uint32_t contexts[] = { 0, UINT32_MAX };
    struct varve_graph_node nodes[] = { VARVE_GRAPH_NODE_INIT, VARVE_GRAPH_NODE_INIT };
    const struct varve_graph_edge edge = { 0, 0, 1, 0 };
    struct varve_graph_info info = VARVE_GRAPH_INFO_INIT;
    struct varve_model_info model_info = VARVE_MODEL_INFO_INIT;
    struct varve_placement place = VARVE_PLACEMENT_INIT;
    nodes[0].name = long_name;
    nodes[0].framework_type = "Convolution";
    nodes[0].tensors = tensors;
    nodes[0].tensor_count = 2;
    nodes[0].origins = origins;
    nodes[0].origin_count = 2;
    nodes[0].contexts = contexts;
    nodes[0].context_count = 2;
    nodes[1].name = odd_sites[3].name;
    nodes[1].type = odd_sites[1].name;
    nodes[1].flop = UINT64_MAX;
    info.name = odd_sites[2].name;
    info.nodes = nodes;
    info.node_count = 2;
    info.edges = &edge;
    info.edge_count = 1;
    model_info.model_id = INT64_MIN;
    place.offset = UINT64_MAX;
    if (varve_graph_register(&info, &graph, NULL) != VARVE_OK ||
        varve_graph_place(graph, &place, 1, NULL) != VARVE_OK)
        return false;
    model_info.graph = graph;
    return varve_model_load_begin(&model_info, &model, NULL) == VARVE_OK;
}

static void note_model_event(struct journal *journal, uint32_t kind, int64_t step)
{
    note(journal, "varve.model_event",
         "{\"model\": %" PRIu32 ", \"kind\": %" PRIu32 ", \"step\": %" PRId64 "}", model, kind,
         step);
}

static void executions(struct journal *journal)
{
    static const int64_t run_numbers[] = { 0, -1, INT64_MIN, INT64_MAX };
    for (uint32_t i = 0; i < 4; i++) {
        struct varve_activity_info info = { .struct_size = sizeof info, .track = tracks[0],
                                            .name = i % 2 ? "a task" : NULL, .kind = 1,
                                            .begin = i, .end = 2 * i };
        struct varve_task_info task = { sizeof task, graph, i % 2, model, run_numbers[i] };
        varve_model_begin(model, run_numbers[i]);
        note_model_event(journal, 1, run_numbers[i]);
        varve_execute_begin(graph, i);
        note(journal, "varve.execute", "{\"graph\": %" PRIu32 ", \"node\": %" PRIu32 "}", graph, i);
        varve_execute_end(graph, i);
        note(journal, "varve.end", "{}");
        varve_model_end(model);
        note(journal, "varve.end", "{}");
        varve_task(&info, &task);
        fprintf(journal->stream, "%s ", journal->thread);
        write_hex(journal->stream, "varve.task");
        fputs(" {\"text\": \"", journal->stream);
        write_hex(journal->stream, info.name != NULL ? info.name : "");
        fprintf(journal->stream,
                "\", \"track\": %" PRIu32 ", \"kind\": 1, \"model\": %" PRIu32
                ", \"begin\": %" PRId64 ", \"end\": %" PRId64 ", \"correlation\": 0, \"bytes\": 0, "
                "\"graph\": %" PRIu32 ", \"node\": %" PRIu32 ", \"step\": %" PRId64 "}\n",
                info.track, model, info.begin, info.end, graph, task.node, task.step);
    }
}

#endif
