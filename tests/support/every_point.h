/* SPDX-License-Identifier: Apache-2.0 */
/* every_point.h — trace marks with tags of both kinds, and a plan, for tests/programs/
 * every_record.c; and how its journal tells of them. */
#ifndef VV_TESTS_EVERY_POINT_H
#define VV_TESTS_EVERY_POINT_H

#include <inttypes.h>
#include <stdint.h>

#include "journal.h"
#include "varve/trace_points.h"

/* On each of four tracks, and on the thread. */
static void trace_marks(struct journal *journal, const uint32_t tracks[4])
{
    static const uint64_t tags[] = { 0, 1, 2, 3, 4, 10000, 19999, 20001, 60001,
                                     VARVE_POINT_TAG(VARVE_POINT_COLLECTIVE, 0x7fffffff, 1),
                                     VARVE_POINT_TAG(VARVE_POINT_MODEL, 0, 0) };
    for (uint32_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        struct varve_mark_info info = VARVE_MARK_INFO_INIT;
        info.track = i % 5 == 4 ? 0 : tracks[i % 5];
        info.tag = tags[i];
        info.time = i % 5 == 4 ? 0 : INT64_MIN + i;
        info.model = UINT64_MAX - i;
        info.iteration = (int64_t)i - 1;
        info.stream = -(int64_t)i;
        varve_trace_mark(&info);
        note(journal, "varve.trace_mark",
             "{\"track\": %" PRIu32 ", \"tag\": %" PRIu64 ", \"model\": %" PRIu64
             ", \"iteration\": %" PRId64 ", \"stream_number\": %" PRId64
             ", \"value\": %" PRId64 "}",
             info.track, info.tag, info.model, info.iteration, info.stream, info.time);
    }
}

/* A plan with points that are found, refused, and not there. */
static void trace_plan(struct journal *journal)
{
    struct varve_graph_node nodes[] = { VARVE_GRAPH_NODE_INIT, VARVE_GRAPH_NODE_INIT };
    struct varve_graph_info graph = VARVE_GRAPH_INFO_INIT;
    struct varve_trace_options options = { sizeof options, VARVE_NUMBERING_GE, "",
                                           "grad \xc3\xa9" };
    struct varve_trace_plan *plan;
    nodes[0].name = options.bp_point;
    nodes[1].name = "gather";
    nodes[1].type = "HcomAllGather";
    nodes[0].task_type = nodes[1].task_type = VARVE_TASK_CPU;
    graph.nodes = nodes;
    graph.node_count = 2;
    graph.graph_id = 77;
    if (varve_trace_plan(&graph, &options, &plan, NULL) != VARVE_OK)
        return;
    varve_trace_plan_record(plan, 5);
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++) {
        const struct varve_trace_point *point = varve_trace_plan_point(plan, i);
        note(journal, "varve.trace_point",
             "{\"model\": 5, \"before_tag\": %" PRIu64 ", \"after_tag\": %" PRIu64
             ", \"graph_id\": %d, \"node\": %" PRId64 ", \"kind\": %" PRIu32
             ", \"state\": %" PRIu32 ", \"name\": \"%s\", \"operation\": \"%s\", "
             "\"reason\": \"%s\"}",
             point->before_tag, point->after_tag, point->node < 0 ? -1 : 77, point->node,
             point->kind, point->state, point->node < 0 ? "" : nodes[point->node].name,
             point->operation != NULL ? point->operation : "", point->reason);
    }
    varve_trace_plan_destroy(plan);
}

#endif
