/* SPDX-License-Identifier: Apache-2.0 */
/* executor.c — a program that registers graphs, and executes them as models on several threads.
 * tests/import records it and compares the trace with what it prints.
 *
 * Each thread loads a model of its own and runs it: a run executes the graph's nodes, of which
 * those on a device launch a kernel and allocate memory. A task that no thread launched follows
 * each run.
 * Standard output has one JSON object: what was executed, and what a subscriber heard. Arguments:
 * number of runs of each thread; "kill" to die by SIGKILL at the end, "fork" to let a child run a
 * model once more, "twice" to record in two sessions of its own. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "varve/exec.h"

#define THREADS 3
#define NODES 4

static uint32_t graph, body, track;
static uint64_t correlations, heard[7];
static long runs;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void hear(void *context, const struct varve_executor_event *event)
{
    uint64_t *counts = context;
    __atomic_fetch_add(&counts[__builtin_ctz(event->kind)], 1, __ATOMIC_RELAXED);
}

static int register_graph(void)
{
    static const int64_t image[] = { 32, 1, 28, 28 }, weights[] = { 8, 1, 5, 5 },
                         out[] = { 32, 8, 24, 24 };
    static const struct varve_graph_tensor conv_tensors[] = {
        { VARVE_INPUT, VARVE_F32, 4, 0, image, "NCHW", 11 },
        { VARVE_INPUT, VARVE_F16, 4, 0, weights, "FRACTAL_Z", 12 },
        { VARVE_OUTPUT, VARVE_F32, 4, 0, out, "NC1HWC0", 13 },
    };
    static const char *const origins[] = { "conv", "bias" };
    static const uint32_t contexts[] = { 4, 5, 4294967295u };
    static struct varve_graph_node body_nodes[1] = { VARVE_GRAPH_NODE_INIT };
    static struct varve_graph_info body_info = VARVE_GRAPH_INFO_INIT;
    static const struct varve_graph_info *const bodies[] = { &body_info };
    static struct varve_graph_node nodes[NODES] = { VARVE_GRAPH_NODE_INIT, VARVE_GRAPH_NODE_INIT,
                                                    VARVE_GRAPH_NODE_INIT, VARVE_GRAPH_NODE_INIT };
    static const struct varve_graph_edge edges[] = {
        { 0, 0, 1, 0 }, { 1, 0, 2, 0 }, { 2, VARVE_EDGE_CONTROL, 3, VARVE_EDGE_CONTROL }
    };
    struct varve_graph_info info = VARVE_GRAPH_INFO_INIT;
    struct varve_placement places[] = { VARVE_PLACEMENT_INIT, VARVE_PLACEMENT_INIT };
    struct varve_track_info track_info = { sizeof track_info, VARVE_CLOCK_MONOTONIC, "compute",
                                           VARVE_DEVICE(VARVE_DEVICE_KIND_OPENCL, 1), 0, 3, 9 };
    struct varve_error error = { 0 };
    nodes[0] = (struct varve_graph_node){
        .name = "conv1/Conv2D", .type = "Conv2D", .framework_type = "Convolution",
        .origins = origins, .origin_count = 2, .task_type = VARVE_TASK_MIX_AIC, .block_dim = 8,
        .mix_block_dim = 2, .stream = 5, .flop = 7372800, .bytes = 4096, .tensors = conv_tensors,
        .tensor_count = 3, .contexts = contexts, .context_count = 3, .parent_input = -1
    };
    nodes[1].name = "relu1";
    nodes[1].type = "Relu";
    nodes[1].task_type = VARVE_TASK_AIV;
    nodes[2].name = "loop";
    nodes[2].type = "While";
    nodes[2].subgraphs = bodies;
    nodes[2].subgraph_count = 1;
    nodes[3].name = "NetOutput";
    body_nodes[0].name = "arg0";
    body_nodes[0].type = "Data";
    body_nodes[0].parent_input = 0;
    body_info.name = "loop_body";
    body_info.nodes = body_nodes;
    body_info.node_count = 1;
    info.name = "net";
    info.nodes = nodes;
    info.node_count = NODES;
    info.edges = edges;
    info.edge_count = 3;
    info.graph_id = 7;
    if (varve_graph_register(&info, &graph, &error) != VARVE_OK) {
        fprintf(stderr, "executor: %s\n", error.message);
        return 0;
    }
    body = graph + 1;
    places[0].bytes = 100; /* this plan is replaced */
    places[1].node = 1;
    places[1].offset = 512;
    places[1].bytes = 256;
    places[1].first_use = 1;
    places[1].last_use = 2;
    return varve_graph_place(graph, places, 1, NULL) == VARVE_OK &&
           varve_graph_place(graph, places + 1, 1, NULL) == VARVE_OK &&
           varve_track_add(&track_info, &track, NULL) == VARVE_OK;
}

static void run_node(uint32_t node)
{
    struct varve_activity_info work = { .struct_size = sizeof work, .track = track,
                                        .name = "kernel", .kind = VARVE_ACTIVITY_KERNEL };
    char place;
    varve_execute_begin(graph, node);
    if (node < 2) {
        work.correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
        varve_launch(work.correlation);
        varve_alloc(&place, 64 + node, VARVE_DEVICE_CPU);
        varve_free(&place, VARVE_DEVICE_CPU);
    }
    varve_execute_end(graph, node);
    if (node < 2) {
        work.begin = now_ns();
        work.end = work.begin + 10;
        varve_activity(&work);
    }
}

static void run_model(uint32_t model, long first, long count)
{
    struct varve_activity_info work = { .struct_size = sizeof work, .track = track,
                                        .kind = VARVE_ACTIVITY_KERNEL };
    struct varve_task_info task = { sizeof task, body, 0, model, 0 };
    for (long run = first; run < first + count; run++) {
        varve_model_begin(model, run);
        for (uint32_t node = 0; node < NODES; node++)
            run_node(node);
        varve_model_end(model);
        work.begin = now_ns();
        work.end = work.begin + 20;
        task.step = run;
        varve_task(&work, &task);
    }
    varve_execute_begin(4000000000u, 3); /* no such graph */
    varve_execute_end(4000000000u, 3);
    varve_execute_begin(graph, NODES);   /* no such node */
    varve_execute_end(graph, NODES);
}

static uint32_t load(intptr_t number)
{
    struct varve_model_info info = VARVE_MODEL_INFO_INIT;
    char name[32];
    uint32_t model;
    snprintf(name, sizeof name, "model %d", (int)number);
    info.name = number == 0 ? NULL : name;
    info.graph = graph;
    info.model_id = 40 + number;
    info.session_id = number == 0 ? -1 : 100 + number;
    if (varve_model_load_begin(&info, &model, NULL) != VARVE_OK)
        abort();
    varve_model_load_end(model);
    return model;
}

static void *work(void *number)
{
    uint32_t model = load((intptr_t)number);
    run_model(model, 0, runs);
    varve_model_unload(model);
    return NULL;
}

static void run_all(void)
{
    pthread_t threads[THREADS];
    for (intptr_t t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, work, (void *)t) != 0)
            abort();
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

static int run_sessions(void)
{
    for (int session = 0; session < 2; session++) {
        char output[32];
        struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
        snprintf(output, sizeof output, "session%d.varve", session);
        options.output = output;
        if (varve_session_start(&options, NULL) != VARVE_OK)
            return 0;
        run_all();
        if (varve_session_stop(NULL) != VARVE_OK)
            return 0;
    }
    return 1;
}

static int run_forked(void)
{
    uint32_t model = load(0);
    pid_t child = fork();
    if (child == 0) {
        run_model(model, 1000, 1);
        _exit(0);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    const char *manner = argc > 2 ? argv[2] : "";
    uint32_t subscriber;
    runs = argc > 1 ? atol(argv[1]) : 10;
    if (!register_graph() ||
        varve_subscriber_add(VARVE_EXECUTOR_ALL, hear, heard, &subscriber, NULL) != VARVE_OK)
        return 1;
    if (strcmp(manner, "twice") == 0) {
        if (!run_sessions())
            return 1;
    } else {
        run_all();
    }
    if (strcmp(manner, "fork") == 0 && !run_forked())
        return 1;
    varve_subscriber_remove(subscriber);
    uint32_t model = load(1); /* nobody hears it */
    varve_model_unload(model);
    printf("{\"launches\": %" PRIu64 ", \"heard\": [", correlations);
    for (int kind = 0; kind < 7; kind++)
        printf("%s%" PRIu64, kind > 0 ? ", " : "", heard[kind]);
    printf("]}\n");
    fflush(stdout);
    if (strcmp(manner, "kill") == 0)
        raise(SIGKILL);
    varve_graph_unregister(graph);
    return 0;
}
