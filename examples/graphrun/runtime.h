/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h — the runtime's own interface: a device, graphs made ready for it, models that run.
 *
 *     runtime_open → runtime_compile → model_load
 *         → model_begin → model_launch … → model_wait → model_end
 *     → model_unload
 *
 * What fails says so in a line on standard error. One thread calls. */
#ifndef GRAPHRUN_RUNTIME_H
#define GRAPHRUN_RUNTIME_H

#include "../train/digits.h"
#include "describe.h"
#include "points.h"
#include "profile.h"
#include "registration.h"

struct runtime_options {
    int workers;      /* of the processor */
    bool use_opencl;
    bool is_parallel; /* under mpirun */
    bool break_plan;
    struct point_names points;
};

/* How long the tasks of an operator took, by the device's clock. */
struct task_time {
    const char *name; /* NULL = no more */
    uint64_t count;
    int64_t total_ns;
};

struct runtime {
    struct runtime_options options;
    struct communicator communicator;
    struct device *device;
    struct task_time times[OPERATOR_COUNT + 2];
};

bool runtime_open(struct runtime *runtime, const struct runtime_options *options);
void runtime_close(struct runtime *runtime); /* idempotent */

/* Orders the graph, infers shapes, tiles, plans memory, and finds what waits for what. */
bool runtime_compile(struct runtime *runtime, struct graph *graph);

/* A compiled graph with memory on the device. */
struct model {
    struct runtime *runtime;
    const struct graph *graph;
    struct description *description; /* of the graph */
    struct varve_trace_plan *points;
    uint32_t varve_graph, varve_model; /* Varve's numbers, or 0 */
    void *memory;
    int tickets[NODES_MAX]; /* of the run that goes on */
    struct varve_backward links[NODES_MAX]; /* of forward nodes, for their backward ones */
    const struct batch *batch;
    float *result; /* of the last run: the graph's output */
    size_t result_count;
    uint64_t runs;
    int64_t step; /* of the run that goes on */
};

bool model_load(struct model *model, struct runtime *runtime, const struct graph *graph);
void model_unload(struct model *model); /* idempotent */

/* Copy a tensor of the model, while it does not run. */
bool model_write(struct model *model, int tensor, const float *values);
bool model_read(struct model *model, int tensor, float *out_values);

/* A run begins. The batch is read until model_end. */
void model_begin(struct model *model, int64_t step, const struct batch *batch);
/* Begins the nodes of a phase, in the order of phases. */
bool model_launch(struct model *model, enum phase phase);
/* Waits for all that was begun; model->result is there then. */
bool model_wait(struct model *model);
/* The run ends. Each model_begin needs one. */
void model_end(struct model *model);

#endif
