/* SPDX-License-Identifier: Apache-2.0 */
/* traced_steps.c — marks the trace points of two models. tests/analyse records it and compares the
 * tables with what it states.
 *
 * Model 7 runs five iterations with numbers 100 … 104 on a device whose clock is CLOCK_MONOTONIC.
 * Each begins 50 µs before the one before it ends, and has two all-reduces on one stream that end
 * in the other order. Model 8 runs three times on the host, without numbers; between them model 7
 * is marked. A second thread tells of model 7, the newest first. The plan of model 7 is recorded.
 * The times are stated, not measured: model 7's begin is printed as ns of CLOCK_MONOTONIC. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "varve/device.h"
#include "varve/trace_points.h"

#define ITERATIONS 5
#define PERIOD 150000 /* ns from one begin to the next; an iteration takes 200000               */

static struct varve_trace_plan *plan;
static uint32_t track;
static int64_t base;

static void mark(uint64_t tag, int64_t time, int64_t iteration)
{
    struct varve_mark_info info = VARVE_MARK_INFO_INIT;
    info.track = track;
    info.tag = tag;
    info.time = time;
    info.model = 7;
    info.iteration = iteration;
    info.stream = 3;
    varve_trace_mark(&info);
}

static const struct varve_trace_point *point_of(enum varve_point_kind kind, uint32_t index)
{
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++) {
        const struct varve_trace_point *point = varve_trace_plan_point(plan, i);
        if (point->kind == kind && point->index == index)
            return point;
    }
    return NULL;
}

static void mark_iteration(int number)
{
    int64_t begin = base + (int64_t)number * PERIOD, iteration = 100 + number;
    const struct varve_trace_point *reduces[] = { point_of(VARVE_POINT_COLLECTIVE, 0),
                                                  point_of(VARVE_POINT_COLLECTIVE, 1) };
    mark(point_of(VARVE_POINT_ITERATION, 0)->after_tag, begin + 200000, iteration);
    mark(reduces[0]->after_tag, begin + 190000, iteration);
    mark(reduces[1]->after_tag, begin + 180000, iteration);
    mark(point_of(VARVE_POINT_BACKWARD, 0)->after_tag, begin + 170000, iteration);
    mark(reduces[1]->before_tag, begin + 160000, iteration);
    mark(reduces[0]->before_tag, begin + 120000, iteration);
    mark(point_of(VARVE_POINT_FORWARD, 0)->before_tag, begin + 30000, iteration);
    mark(point_of(VARVE_POINT_FETCH, 0)->after_tag, begin + 25000, iteration);
    mark(point_of(VARVE_POINT_FETCH, 0)->before_tag, begin + 5000, iteration);
    mark(VARVE_POINT_TAG(VARVE_POINT_MODEL, 0, 0), begin, iteration);
}

static void *mark_all(void *unused)
{
    for (int i = ITERATIONS - 1; i >= 0; i--)
        mark_iteration(i);
    return unused;
}

/* GE's numbers, on this thread, now. */
static void run_on_host(void)
{
    static const uint64_t tags[] = { 0, 2, 3, 4, 1 };
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < 5; i++) {
            struct varve_mark_info info = VARVE_MARK_INFO_INIT;
            info.tag = tags[i];
            info.model = 8;
            varve_trace_mark(&info);
        }
        if (run == 1)
            mark(VARVE_POINT_TAG(99, 0, 0), base, 0); /* no such kind: lost */
    }
}

static int make_plan(void)
{
    static const char *const names[] = { "next", "conv", "grad2", "grad1", "ar2", "ar1", "out" };
    static const char *const types[] = { "GetNext", "Conv2D", "Grad", "Grad", "HcomAllReduce",
                                         "HcomAllReduce", "NetOutput" };
    static const struct varve_graph_edge edges[] = {
        { 0, 0, 1, 0 }, { 1, 0, 2, 0 }, { 2, 0, 3, 0 }, { 2, 0, 4, 0 }, { 3, 0, 5, 0 },
        { 4, 0, 6, 0 }, { 5, 0, 6, 1 },
    };
    static struct varve_graph_node nodes[7];
    static struct varve_graph_info graph = VARVE_GRAPH_INFO_INIT;
    for (uint32_t i = 0; i < 7; i++) {
        nodes[i] = (struct varve_graph_node)VARVE_GRAPH_NODE_INIT;
        nodes[i].name = names[i];
        nodes[i].type = types[i];
        nodes[i].task_type = VARVE_TASK_AI_CORE;
        nodes[i].stream = 3;
    }
    graph.nodes = nodes;
    graph.edges = edges;
    graph.node_count = 7;
    graph.edge_count = 7;
    graph.graph_id = 70;
    return varve_trace_plan(&graph, NULL, &plan, NULL) == VARVE_OK;
}

int main(void)
{
    struct varve_track_info info = { sizeof info, VARVE_CLOCK_MONOTONIC, "stream 3",
                                     VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, 2), 0, -1, 3 };
    struct timespec now;
    pthread_t thread;
    if (varve_track_add(&info, &track, NULL) != VARVE_OK || !make_plan())
        return 99;
    clock_gettime(CLOCK_MONOTONIC, &now);
    base = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    varve_trace_plan_record(plan, 7);
    run_on_host();
    if (pthread_create(&thread, NULL, mark_all, NULL) == 0)
        pthread_join(thread, NULL);
    printf("%" PRId64 "\n", base);
    varve_trace_plan_destroy(plan);
    return 0;
}
