/* SPDX-License-Identifier: Apache-2.0 */
/* trace_plan.c — a program that plans its graph without saying where forward starts and backward
 * ends. tests/control gives it options that do.
 *
 * Prints what varve_profiling_option says of fp_point, then a line for forward start and one for
 * backward end: the node's number and the reason; or the error. */
#include <stdio.h>

#include "varve/control.h"
#include "varve/trace_points.h"

int main(void)
{
    static const char *const names[] = { "x", "conv1", "conv2", "grad2", "grad1" };
    struct varve_graph_node nodes[5];
    struct varve_graph_edge edges[4];
    struct varve_graph_info graph = VARVE_GRAPH_INFO_INIT;
    for (uint32_t i = 0; i < 5; i++) {
        nodes[i] = (struct varve_graph_node)VARVE_GRAPH_NODE_INIT;
        nodes[i].name = names[i];
        nodes[i].type = i == 0 ? "Data" : i < 4 ? "Conv2D" : "NetOutput";
        nodes[i].task_type = i == 0 ? VARVE_TASK_NONE : VARVE_TASK_CPU;
        if (i > 0)
            edges[i - 1] = (struct varve_graph_edge){ i - 1, 0, i, 0 };
    }
    graph.nodes = nodes;
    graph.edges = edges;
    graph.node_count = 5;
    graph.edge_count = 4;
    const char *effect = varve_profiling_option("fp_point");
    puts(effect != NULL ? effect : "not given");
    struct varve_trace_plan *plan;
    struct varve_error error;
    if (varve_trace_plan(&graph, NULL, &plan, &error) != VARVE_OK) {
        puts(error.message);
        return 1;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const struct varve_trace_point *point = varve_trace_plan_point(plan, i);
        printf("%d %s\n", (int)point->node, point->reason);
    }
    varve_trace_plan_destroy(plan);
    return 0;
}
