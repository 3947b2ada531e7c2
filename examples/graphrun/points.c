/* SPDX-License-Identifier: Apache-2.0 */
/* points.c — see points.h. Where processes learn together the library finds the end of the backward
 * pass: what the last all-reduce waits for. A process alone has no all-reduce, and its output waits
 * for the optimizer; there the runtime names the node. */
#include "points.h"

#include <inttypes.h>

#include "message.h"
#include "operators.h"

static const char *last_backward_node(const struct graph *graph)
{
    const char *name = NULL;
    for (int i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].operator->task == TASK_COLLECTIVE)
            return NULL;
        if (graph->nodes[i].phase == PHASE_BACKWARD)
            name = graph->nodes[i].name;
    }
    return name;
}

bool points_find(const struct graph *graph, const struct varve_graph_info *description,
                 struct point_names names, struct varve_trace_plan **out_plan)
{
    VARVE_SCOPE_LAYER("find_trace_points", VARVE_LAYER_HOST);
    struct varve_trace_options options = VARVE_TRACE_OPTIONS_INIT;
    struct varve_error error;
    bool learns = graph->loss != NONE;
    options.fp_point = learns ? names.fp_point : "";
    options.bp_point = !learns                  ? ""
                       : names.bp_point != NULL ? names.bp_point
                                                : last_backward_node(graph);
    *out_plan = NULL;
    switch (varve_trace_plan(description, &options, out_plan, &error)) {
    case VARVE_OK:
    case VARVE_UNSUPPORTED: /* compiled without Varve: nothing is marked */
        return true;
    default:
        refuse("the graph '%s' has no trace points: %s", graph->name, error.message);
        return false;
    }
}

struct point_tags points_at(const struct varve_trace_plan *plan, int node, bool is_after)
{
    struct point_tags tags = { .count = 0 };
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++) {
        const struct varve_trace_point *point = varve_trace_plan_point(plan, i);
        uint64_t tag = is_after ? point->after_tag : point->before_tag;
        if (point->node == node && tag != 0 && tags.count < POINTS_AT_NODE_MAX)
            tags.tags[tags.count++] = tag;
    }
    return tags;
}

void points_print(const struct graph *graph, const struct varve_trace_plan *plan, FILE *file)
{
    static const char *const kinds[VARVE_POINT_KIND_COUNT] = {
        [VARVE_POINT_FORWARD] = "forward start", [VARVE_POINT_BACKWARD] = "backward end",
        [VARVE_POINT_ITERATION] = "iteration end", [VARVE_POINT_COLLECTIVE] = "collective",
        [VARVE_POINT_FETCH] = "data fetch",
    };
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++) {
        const struct varve_trace_point *point = varve_trace_plan_point(plan, i);
        fprintf(file, "point %s: %s %" PRIu32 " at %s: %s\n", graph->name, kinds[point->kind],
                point->index, point->node < 0 ? "none" : graph->nodes[point->node].name,
                point->reason);
    }
}
