/* SPDX-License-Identifier: Apache-2.0 */
/* graph_nodes.c — what it costs to register a large graph: time, and the memory that is kept.
 *
 * Each node has a name of some 30 bytes, a type, two inputs and an output of rank 4 with a format,
 * and two edges. Prints the least of several registrations, and what the process has grown by; then
 * the same with a session that records the graph.
 * Usage: graph_nodes [NODES] [FOLDER]  (default: a million, build/bench_graph.varve) */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "varve/exec.h"

#define ROUNDS 5
#define NAME_BYTES 40

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double resident_bytes(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static struct varve_graph_info describe(uint32_t count)
{
    static const int64_t image[] = { 32, 256, 56, 56 }, weights[] = { 256, 256, 3, 3 };
    static const struct varve_graph_tensor tensors[] = {
        { VARVE_INPUT, VARVE_F16, 4, 0, image, "NC1HWC0", 1 },
        { VARVE_INPUT, VARVE_F16, 4, 0, weights, "FRACTAL_Z", 2 },
        { VARVE_OUTPUT, VARVE_F16, 4, 0, image, "NC1HWC0", 3 },
    };
    static const char *const types[] = { "Conv2D", "BatchNorm", "Relu", "Add" };
    struct varve_graph_node *nodes = calloc(count, sizeof *nodes);
    struct varve_graph_edge *edges = calloc((size_t)2 * count, sizeof *edges);
    char *names = calloc(count, NAME_BYTES);
    struct varve_graph_info info = VARVE_GRAPH_INFO_INIT;
    if (nodes == NULL || edges == NULL || names == NULL)
        abort();
    for (uint32_t n = 0; n < count; n++) {
        char *name = names + (size_t)n * NAME_BYTES;
        snprintf(name, NAME_BYTES, "model/layer%u/block%u/op%u", n / 40, n / 4 % 10, n % 4);
        nodes[n] = (struct varve_graph_node)VARVE_GRAPH_NODE_INIT;
        nodes[n].name = name;
        nodes[n].type = types[n % 4];
        nodes[n].task_type = VARVE_TASK_AI_CORE;
        nodes[n].block_dim = 32;
        nodes[n].tensors = tensors;
        nodes[n].tensor_count = 3;
        for (uint32_t e = 0; e < 2; e++)
            edges[2 * (size_t)n + e] = (struct varve_graph_edge){ n > e ? n - 1 - e : n, 0,
                                                                  n > e ? n : (n + 1) % count, e };
    }
    info.name = "large";
    info.nodes = nodes;
    info.node_count = count;
    info.edges = edges;
    info.edge_count = 2 * (uint64_t)count;
    return info;
}

static void measure(const struct varve_graph_info *info, const char *what)
{
    double least_s = 1e9, grown_bytes = 0;
    struct varve_error error = { 0 };
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t graph;
        double before_bytes = resident_bytes(), before_s = now_s();
        if (varve_graph_register(info, &graph, &error) != VARVE_OK) {
            fprintf(stderr, "graph_nodes: %s\n", error.message);
            exit(1);
        }
        double taken_s = now_s() - before_s;
        least_s = taken_s < least_s ? taken_s : least_s;
        if (round == 0)
            grown_bytes = resident_bytes() - before_bytes;
        varve_graph_unregister(graph);
    }
    printf("%-28s %8.3f s   %6.1f bytes a node\n", what, least_s,
           grown_bytes / info->node_count);
}

int main(int argc, char **argv)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    struct varve_graph_info info = describe(count);
    printf("%u nodes, three tensors and two edges each\n", count);
    measure(&info, "register");
    options.output = argc > 2 ? argv[2] : "build/bench_graph.varve";
    if (varve_session_start(&options, NULL) != VARVE_OK)
        return 1;
    measure(&info, "register, while recording");
    varve_session_stop(NULL);
    return 0;
}
