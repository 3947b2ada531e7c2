/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.c — see runtime.h: opening, compiling, loading. launch.c has what happens in each run. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

#include <varve/varve.h>

#include "message.h"
#include "plan.h"
#include "schedule.h"
#include "shapes.h"

bool runtime_open(struct runtime *runtime, const struct runtime_options *options)
{
    VARVE_SCOPE_LAYER("runtime_open", VARVE_LAYER_API);
    *runtime = (struct runtime){ .options = *options };
    if (!communicator_open(&runtime->communicator, options->is_parallel))
        return false;
    runtime->device = options->use_opencl
                          ? opencl_device_open(&runtime->communicator)
                          : cpu_device_open(&runtime->communicator, options->workers);
    return runtime->device != NULL;
}

void runtime_close(struct runtime *runtime)
{
    VARVE_SCOPE_LAYER("runtime_close", VARVE_LAYER_API);
    if (runtime->device != NULL)
        runtime->device->kind->close(runtime->device);
    runtime->device = NULL;
    communicator_close(&runtime->communicator);
}

bool runtime_compile(struct runtime *runtime, struct graph *graph)
{
    VARVE_SCOPE_LAYER("runtime_compile", VARVE_LAYER_API);
    graph_sort(graph);
    if (!shapes_infer(graph) || !tiling_choose(graph, runtime->device->tiling) ||
        !plan_memory(graph))
        return false;
    if (runtime->options.break_plan)
        plan_break(graph);
    else if (plan_check(graph, NULL, 0) != 0)
        return refuse("the memory plan of '%s' is wrong: this is a mistake in plan.c",
                      graph->name);
    schedule_streams(graph);
    return true;
}

static bool load(struct model *model)
{
    const struct graph *graph = model->graph;
    struct runtime *runtime = model->runtime;
    const struct node *output = &graph->nodes[graph->node_count - 1];
    model->result_count = (size_t)tensor_elements(&graph->tensors[output->inputs[0]]);
    model->result = calloc(model->result_count, sizeof *model->result);
    if (model->result == NULL)
        return refuse("out of memory");
    if (!points_find(graph, &model->description->info, runtime->options.points, &model->points))
        return false;
    varve_trace_plan_record(model->points, (uint64_t)graph->id);
    model->memory = runtime->device->kind->allocate(runtime->device, graph->memory_bytes);
    return model->memory != NULL;
}

bool model_load(struct model *model, struct runtime *runtime, const struct graph *graph)
{
    VARVE_SCOPE_LAYER("model_load", VARVE_LAYER_API);
    *model = (struct model){ .runtime = runtime, .graph = graph };
    model->description = calloc(1, sizeof *model->description);
    if (model->description == NULL)
        return refuse("out of memory");
    describe_graph(graph, runtime->options.use_opencl, model->description);
    model->varve_graph = registration_of_graph(
        graph, model->description, VARVE_DEVICE(runtime->device->kind->varve_kind, 0));
    model->varve_model = registration_of_model(graph, model->varve_graph);
    bool loaded = load(model);
    varve_model_load_end(model->varve_model);
    return loaded;
}

void model_unload(struct model *model)
{
    VARVE_SCOPE_LAYER("model_unload", VARVE_LAYER_API);
    if (model->memory != NULL)
        model->runtime->device->kind->release(model->runtime->device, model->memory);
    varve_model_unload(model->varve_model);
    varve_graph_unregister(model->varve_graph);
    varve_trace_plan_destroy(model->points);
    free(model->description);
    free(model->result);
    *model = (struct model){ .runtime = NULL };
}

static struct task copy_of(const struct model *model, int tensor, void *host)
{
    return (struct task){ .offset_bytes = model->graph->tensors[tensor].offset_bytes,
                          .bytes = model->graph->tensors[tensor].bytes,
                          .host = host };
}

bool model_write(struct model *model, int tensor, const float *values)
{
    VARVE_SCOPE_LAYER("model_write", VARVE_LAYER_API);
    struct device *device = model->runtime->device;
    struct task copy = copy_of(model, tensor, (void *)values); /* which is only read */
    return device->kind->write(device, model->memory, &copy);
}

bool model_read(struct model *model, int tensor, float *out_values)
{
    VARVE_SCOPE_LAYER("model_read", VARVE_LAYER_API);
    struct device *device = model->runtime->device;
    struct task copy = copy_of(model, tensor, out_values);
    return device->kind->read(device, model->memory, &copy);
}
