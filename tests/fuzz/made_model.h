/* SPDX-License-Identifier: Apache-2.0 */
/* made_model.h — a model that a fuzzer's bytes describe, thing by thing. Whatever an importer
 * vouches for holds (rows and strings that are there, ends that an int64 holds, processes and the
 * run around all of their instants); everything else, sizes, numbers and times first of all, is as
 * the bytes have it. */
#ifndef VARVE_TESTS_MADE_MODEL_H
#define VARVE_TESTS_MADE_MODEL_H

#include <stdlib.h>

#include "draw.h"
#include "model/model.h"
#include "varve/varve.h"

/* Names that an analysis has a rule for, and some that nothing has. */
static const char *const made_names[] = {
    "aten::mm", "aten::addmm", "aten::convolution_backward", "aten::copy_", "ProfilerStep#1",
    "ProfilerStep#2",
    "enumerate(DataLoader)#_It.__next__", "Optimizer.step#SGD.step",
    "Optimizer.zero_grad#SGD.zero_grad",
    "autograd::engine::evaluate_function: MmBackward0", "MmBackward0", "nn.Module: Linear_0",
    "c10d::allreduce_",
    "ncclDevKernel_AllReduce_Sum_f32", "Memcpy HtoD (Pageable -> Device)", "Memset (Device)",
    "cudaLaunchKernel",
    "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventRecord",
    "cudaStreamWaitEvent",
    "PyTorch Profiler (0)", "Event Sync", "kernel<f32>", "data", "forward", "backward", "",
    "a\tb\n\x1b[31m", "\xff\xc0",
    "collector.torch", "NVIDIA H100 80GB HBM3",
    "[\"\", \"\", \"\", \"[1, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\", \"[0]\", \"1\"]",
};
static const uint16_t made_layers[] = {
    VARVE_LAYER_OP, VARVE_LAYER_OP, VARVE_LAYER_OP, VARVE_LAYER_STEP, VARVE_LAYER_RUNTIME,
    VARVE_LAYER_PYTHON,
    VARVE_LAYER_COMM, VARVE_LAYER_HOST, VARVE_LAYER_DEVICE, VARVE_LAYER_MEMORY, VARVE_LAYER_API, 0,
};

struct making {
    struct draw draw;
    struct vv_model *model;
    int64_t now_ns; /* most things come one after another                                       */
};

static inline void made_or_die(enum varve_code code)
{
    if (code != VARVE_OK)
        abort();
}

static inline uint32_t make_name(struct making *making)
{
    uint32_t id;
    made_or_die(vv_model_text(making->model, DRAW_FROM(&making->draw, made_names), &id, NULL));
    return id;
}

static inline uint32_t make_row(struct making *making, uint64_t count)
{
    return draw_byte(&making->draw) % (uint32_t)count;
}

static inline int64_t make_time(struct making *making)
{
    unsigned how = draw_byte(&making->draw);
    int64_t time_ns;
    if (how < 200) {
        making->now_ns += how % 20;
        return making->now_ns;
    }
    if (how < 240)
        return making->now_ns - how % 40;
    time_ns = draw_number(&making->draw);
    if (how >= 250 && time_ns < INT64_MAX / 2 && time_ns > INT64_MIN / 2)
        making->now_ns = time_ns;
    return time_ns;
}

/* The instant is within the process of a track, and in the run. */
static inline void make_room(struct making *making, uint32_t track, int64_t begin_ns,
                             int64_t end_ns)
{
    struct vv_model *model = making->model;
    uint32_t process = model->tracks.process[track];
    model->processes.begin_ns[process] = begin_ns < model->processes.begin_ns[process]
                                             ? begin_ns
                                             : model->processes.begin_ns[process];
    model->processes.end_ns[process] =
        end_ns > model->processes.end_ns[process] ? end_ns : model->processes.end_ns[process];
    model->processes.events[process]++;
    model->run.begin_ns = begin_ns < model->run.begin_ns ? begin_ns : model->run.begin_ns;
    model->run.end_ns = end_ns > model->run.end_ns ? end_ns : model->run.end_ns;
    model->run.events++;
}

static inline uint32_t make_device(struct making *making)
{
    return VARVE_DEVICE(draw_below(&making->draw, 7), draw_below(&making->draw, 5));
}

static inline void make_process(struct making *making)
{
    struct vv_processes *processes = &making->model->processes;
    uint32_t row;
    made_or_die(vv_model_add_process(making->model, &row, NULL));
    processes->pid[row] = draw_number(&making->draw);
    processes->name[row] = make_name(making);
    processes->scope[row] = draw_below(&making->draw, 3);
    processes->rank[row] = draw_byte(&making->draw) % 4 - 1;
    processes->world_size[row] = draw_size(&making->draw);
    processes->lost[row] = (uint64_t)draw_number(&making->draw);
    processes->clock_uncertainty_ns[row] = draw_size(&making->draw) - 1;
    processes->begin_ns[row] = processes->end_ns[row] = making->now_ns;
}

static inline void make_track(struct making *making)
{
    struct vv_tracks *tracks = &making->model->tracks;
    uint32_t row;
    made_or_die(vv_model_add_track(making->model, &row, NULL));
    tracks->process[row] = make_row(making, making->model->processes.table.count);
    tracks->tid[row] = draw_number(&making->draw);
    tracks->name[row] = make_name(making);
    tracks->kind[row] = (uint8_t)draw_below(&making->draw, VV_TRACK_DEVICE + 1);
    tracks->device[row] = tracks->kind[row] == VV_TRACK_DEVICE ? make_device(making) : VV_NONE;
    tracks->sort_index[row] = (int32_t)draw_number(&making->draw);
    tracks->lost[row] = (uint64_t)draw_size(&making->draw);
}

static inline uint32_t make_slice_on(struct making *making, uint32_t track)
{
    struct vv_slices *slices = &making->model->slices;
    int64_t begin_ns = make_time(making), duration_ns = draw_size(&making->draw), end_ns;
    uint32_t row;
    if (__builtin_add_overflow(begin_ns, duration_ns, &end_ns))
        end_ns = begin_ns, duration_ns = 0;
    made_or_die(vv_model_add_slice(making->model, &row, NULL));
    slices->begin_ns[row] = begin_ns;
    slices->duration_ns[row] = duration_ns;
    slices->track[row] = track;
    slices->name[row] = make_name(making);
    slices->layer[row] = DRAW_FROM(&making->draw, made_layers);
    slices->order[row] = row;
    slices->flags[row] =
        draw_byte(&making->draw) & (VV_SLICE_ANNOTATION | VV_SLICE_OVERHEAD | VV_SLICE_COUNTED);
    make_room(making, track, begin_ns, end_ns);
    return row;
}

static inline uint32_t make_slice(struct making *making)
{
    return make_slice_on(making, make_row(making, making->model->tracks.table.count));
}

static inline void make_step(struct making *making)
{
    struct vv_model *model = making->model;
    uint32_t row, slice = make_slice(making);
    model->slices.layer[slice] = VARVE_LAYER_STEP;
    model->slices.flags[slice] |= VV_SLICE_STEP;
    made_or_die(vv_model_add_step(model, &row, NULL));
    model->steps.index[row] =
        draw_byte(&making->draw) < 200 ? (int64_t)row : draw_number(&making->draw);
    model->steps.begin_ns[row] = model->slices.begin_ns[slice];
    model->steps.duration_ns[row] = model->slices.duration_ns[slice];
    model->steps.track[row] = model->slices.track[slice];
}

static inline void make_operator(struct making *making)
{
    struct vv_model *model = making->model;
    uint32_t row, tensor, slice = make_slice(making);
    made_or_die(vv_model_add_op(model, &row, NULL));
    model->ops.scalars[row] = make_name(making);
    model->ops.flop[row] = (uint64_t)draw_number(&making->draw);
    model->ops.bytes[row] = (uint64_t)draw_number(&making->draw);
    model->ops.sequence[row] = draw_number(&making->draw);
    model->ops.forward_tid[row] = (uint64_t)draw_number(&making->draw);
    model->ops.external[row] = draw_below(&making->draw, 8);
    model->ops.module[row] = draw_byte(&making->draw) % 2 != 0 ? make_name(making) : 0;
    model->ops.first_tensor[row] = (uint32_t)model->tensors.table.count;
    model->ops.tensor_count[row] = draw_below(&making->draw, 4);
    model->ops.output_count[row] = draw_below(&making->draw, 3);
    model->slices.op[slice] = row;
    for (uint32_t t = 0; t < model->ops.tensor_count[row] + model->ops.output_count[row]; t++) {
        int64_t dims[4];
        uint32_t rank = draw_below(&making->draw, 5);
        for (uint32_t d = 0; d < rank; d++)
            dims[d] = draw_number(&making->draw);
        made_or_die(vv_model_add_tensor(model, draw_below(&making->draw, VARVE_BITS + 1), rank,
                                        dims, &tensor, NULL));
        model->tensors.side[tensor] = t >= model->ops.tensor_count[row];
        model->tensors.format[tensor] = draw_byte(&making->draw) % 2 != 0 ? make_name(making) : 0;
        model->tensors.identity[tensor] = draw_below(&making->draw, 3);
    }
}

static inline uint32_t make_collective(struct making *making)
{
    struct vv_collectives *collectives = &making->model->collectives;
    uint32_t row;
    if (draw_byte(&making->draw) % 4 != 0)
        return VV_NONE;
    made_or_die(vv_model_add_collective(making->model, &row, NULL));
    collectives->name[row] = make_name(making);
    collectives->group[row] = make_name(making);
    collectives->group_size[row] = draw_size(&making->draw);
    collectives->in_elements[row] = draw_number(&making->draw);
    collectives->out_elements[row] = draw_number(&making->draw);
    collectives->sequence[row] = draw_number(&making->draw);
    collectives->rank[row] = draw_number(&making->draw);
    collectives->peer[row] = draw_number(&making->draw);
    collectives->bytes[row] = draw_word(&making->draw);
    collectives->runs[row] = draw_byte(&making->draw) % 2;
    return row;
}

static inline uint32_t make_launch_shape(struct making *making)
{
    struct vv_launch_shapes *shapes = &making->model->launch_shapes;
    uint32_t row;
    made_or_die(vv_model_add_launch_shape(making->model, &row, NULL));
    int64_t *cells[] = { shapes->grid_x, shapes->grid_y, shapes->grid_z, shapes->block_x,
                         shapes->block_y, shapes->block_z };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        cells[i][row] = draw_size(&making->draw);
    shapes->registers[row] = draw_size(&making->draw) - 1;
    shapes->shared_bytes[row] = draw_size(&making->draw) - 1;
    shapes->occupancy[row] = draw_byte(&making->draw) / 255.0 * 2 - 1;
    return row;
}

static inline uint32_t make_wait(struct making *making)
{
    uint32_t row;
    made_or_die(vv_model_add_wait(making->model, &row, NULL));
    making->model->waits.stream[row] = draw_number(&making->draw);
    making->model->waits.correlation[row] = draw_below(&making->draw, 32);
    return row;
}

static inline void make_told_device(struct making *making)
{
    struct vv_devices *devices = &making->model->devices;
    uint32_t row;
    made_or_die(vv_model_add_device(making->model, &row, NULL));
    devices->device[row] = make_device(making);
    devices->scope[row] = draw_below(&making->draw, 3);
    devices->owner[row] = draw_below(&making->draw, 4);
    devices->name[row] = make_name(making);
    devices->uuid[row] = make_name(making);
    devices->flop_per_s[row] = (double)draw_size(&making->draw);
    devices->memory_bytes_per_s[row] = (double)draw_size(&making->draw);
    devices->units[row] = draw_below(&making->draw, 200);
    devices->clock_hz[row] = (double)draw_size(&making->draw);
    devices->capability[row] = draw_below(&making->draw, 12);
}

static inline void make_activity(struct making *making)
{
    struct vv_model *model = making->model;
    struct vv_activities *activities = &model->activities;
    uint32_t row, slice = make_slice(making), track = model->slices.track[slice];
    bool on_device = model->tracks.kind[track] == VV_TRACK_DEVICE;
    made_or_die(vv_model_add_activity(model, &row, NULL));
    activities->kind[row] =
        (uint8_t)(on_device ? VV_ACTIVITY_KERNEL + draw_below(&making->draw, 6) : VV_ACTIVITY_CALL);
    activities->correlation[row] = draw_below(&making->draw, 32);
    activities->external[row] = draw_below(&making->draw, 8);
    activities->context[row] = draw_number(&making->draw);
    activities->stream[row] = on_device ? model->tracks.tid[track] : draw_number(&making->draw);
    activities->bytes[row] = (uint64_t)draw_number(&making->draw);
    activities->device[row] = on_device ? model->tracks.device[track] : VV_NONE;
    activities->collective[row] = make_collective(making);
    if (activities->kind[row] == VV_ACTIVITY_SYNC)
        activities->wait[row] = make_wait(making);
    else if (draw_byte(&making->draw) % 2 != 0)
        activities->shape[row] = make_launch_shape(making);
    model->slices.activity[slice] = row;
}

static inline void make_memory(struct making *making)
{
    struct vv_memory *memory = &making->model->memory;
    uint32_t row;
    made_or_die(vv_model_add_memory(making->model, &row, NULL));
    memory->time_ns[row] = make_time(making);
    memory->address[row] = draw_below(&making->draw, 6);
    memory->bytes[row] = draw_number(&making->draw);
    memory->allocated_bytes[row] = draw_size(&making->draw) - 1;
    memory->reserved_bytes[row] = draw_size(&making->draw) - 1;
    memory->fragmentation[row] = draw_byte(&making->draw) / 255.0 * 2 - 1;
    memory->device[row] = make_device(making);
    memory->track[row] = make_row(making, making->model->tracks.table.count);
    make_room(making, memory->track[row], memory->time_ns[row], memory->time_ns[row]);
}

static inline double make_real(struct making *making)
{
    uint64_t bits = draw_word(&making->draw);
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static inline void make_counter(struct making *making)
{
    static const char *const throttles[] = { "throttled by power_limit", "SM clock (MHz)",
                                             "throttled by power_brake",
                                             "greatest SM clock (MHz)" };
    struct vv_counters *counters = &making->model->counters;
    uint32_t row;
    made_or_die(vv_model_add_counter(making->model, &row, NULL));
    counters->time_ns[row] = make_time(making);
    counters->value[row] = make_real(making);
    counters->name[row] = make_name(making);
    unsigned how = draw_byte(&making->draw);
    counters->series[row] = how % 2 != 0 ? make_name(making) : 0;
    if (how % 4 >= 2) /* table "throttling" */
        made_or_die(vv_model_text(making->model, throttles[how / 4 % 4], &counters->name[row],
                                  NULL));
    counters->track[row] = make_row(making, making->model->tracks.table.count);
    make_room(making, counters->track[row], counters->time_ns[row], counters->time_ns[row]);
}

static inline void make_flow(struct making *making)
{
    struct vv_flows *flows = &making->model->flows;
    uint32_t row;
    made_or_die(vv_model_add_flow(making->model, &row, NULL));
    flows->from_track[row] = make_row(making, making->model->tracks.table.count);
    flows->to_track[row] = make_row(making, making->model->tracks.table.count);
    flows->from_ns[row] = make_time(making);
    flows->to_ns[row] = make_time(making);
    flows->id[row] = draw_byte(&making->draw);
    flows->name[row] = make_name(making);
    flows->to_next[row] = draw_byte(&making->draw) % 2;
    flows->kind[row] = (uint8_t)draw_below(&making->draw, VV_FLOW_BACKWARD + 1);
    make_room(making, flows->from_track[row], flows->from_ns[row], flows->from_ns[row]);
    make_room(making, flows->to_track[row], flows->to_ns[row], flows->to_ns[row]);
}

static inline uint64_t make_value(struct making *making, uint8_t kind)
{
    return kind == VV_ARG_TEXT || kind == VV_ARG_JSON ? make_name(making)
           : kind == VV_ARG_BOOL                      ? draw_below(&making->draw, 2)
                                                      : draw_word(&making->draw);
}

static inline void make_mark(struct making *making)
{
    struct vv_marks *marks = &making->model->marks;
    struct vv_args *args = &making->model->args;
    uint32_t row, arg;
    made_or_die(vv_model_add_mark(making->model, &row, NULL));
    marks->time_ns[row] = make_time(making);
    marks->name[row] = make_name(making);
    marks->track[row] = make_row(making, making->model->tracks.table.count);
    marks->layer[row] = DRAW_FROM(&making->draw, made_layers);
    marks->first_arg[row] = (uint32_t)args->table.count;
    marks->arg_count[row] = (uint16_t)draw_below(&making->draw, 4);
    for (uint32_t i = 0; i < marks->arg_count[row]; i++) {
        made_or_die(vv_model_add_arg(making->model, &arg, NULL));
        args->key[arg] = make_name(making);
        args->kind[arg] = (uint8_t)draw_below(&making->draw, VV_ARG_ROWS);
        args->value[arg] = make_value(making, args->kind[arg]);
    }
    make_room(making, marks->track[row], marks->time_ns[row], marks->time_ns[row]);
}

static inline void make_fact(struct making *making)
{
    struct vv_facts *facts = &making->model->facts;
    uint32_t row;
    made_or_die(vv_model_add_fact(making->model, &row, NULL));
    facts->key[row] = make_name(making);
    facts->kind[row] = (uint8_t)draw_below(&making->draw, VV_ARG_ROWS);
    facts->value[row] = make_value(making, facts->kind[row]);
    facts->process[row] = draw_byte(&making->draw) % 2 != 0
                              ? make_row(making, making->model->processes.table.count)
                              : VV_NONE;
}

static inline int64_t make_planned(struct making *making)
{
    return draw_size(&making->draw) & ((INT64_C(1) << 53) - 1);
}

static inline void make_placement(struct making *making)
{
    struct vv_placements *placements = &making->model->placements;
    uint32_t row;
    made_or_die(vv_model_add_placement(making->model, &row, NULL));
    placements->bytes[row] = make_planned(making);
    placements->offset_bytes[row] = make_planned(making) - 1;
    placements->first_use[row] = make_planned(making);
    placements->last_use[row] = draw_byte(&making->draw) % 8 != 0
                                    ? placements->first_use[row] + draw_byte(&making->draw)
                                    : INT64_MAX;
    placements->graph[row] = draw_below(&making->draw, 3);
    placements->name[row] = make_name(making);
    placements->process[row] = make_row(making, making->model->processes.table.count);
    placements->device[row] = make_device(making);
}

/* Of each process they come in order of time. */
static inline void make_resume(struct making *making)
{
    const struct vv_resumes *resumes = &making->model->resumes;
    int64_t time_ns = make_time(making);
    if (resumes->table.count == 0 || time_ns >= resumes->time_ns[resumes->table.count - 1])
        made_or_die(vv_model_add_resume(making->model, 0, time_ns, NULL));
}

static inline void make_clock(struct making *making)
{
    struct vv_clocks *clocks = &making->model->clocks;
    uint32_t row;
    made_or_die(vv_model_add_clock(making->model, &row, NULL));
    clocks->uncertainty_ns[row] = draw_size(&making->draw);
    clocks->resolution_ns[row] = draw_size(&making->draw);
    clocks->pairs[row] = (uint64_t)draw_size(&making->draw);
    clocks->left_out[row] = (uint64_t)draw_size(&making->draw);
    clocks->instants[row] = (uint64_t)draw_size(&making->draw);
    clocks->name[row] = make_name(making);
    clocks->process[row] = make_row(making, making->model->processes.table.count);
}

static inline void make_trace_point(struct making *making)
{
    struct vv_trace_points *points = &making->model->trace_points;
    uint32_t row;
    made_or_die(vv_model_add_trace_point(making->model, &row, NULL));
    points->time_ns[row] = make_time(making);
    points->model[row] = draw_below(&making->draw, 2);
    points->iteration[row] = (int64_t)draw_below(&making->draw, 5) - 1;
    points->stream[row] = draw_number(&making->draw);
    points->index[row] = draw_below(&making->draw, 3);
    points->track[row] = make_row(making, making->model->tracks.table.count);
    points->kind[row] = (uint8_t)(1 + draw_below(&making->draw, 7));
    points->is_end[row] = draw_byte(&making->draw) % 2;
}

static inline void make_planned_point(struct making *making)
{
    struct vv_planned_points *points = &making->model->planned_points;
    uint32_t row;
    made_or_die(vv_model_add_planned_point(making->model, &row, NULL));
    points->model[row] = draw_below(&making->draw, 2);
    points->graph[row] = draw_number(&making->draw);
    points->node[row] = draw_number(&making->draw);
    points->index[row] = draw_below(&making->draw, 3);
    points->name[row] = make_name(making);
    points->operation[row] = make_name(making);
    points->reason[row] = make_name(making);
    points->process[row] = make_row(making, making->model->processes.table.count);
    points->kind[row] = (uint8_t)(1 + draw_below(&making->draw, 7));
    points->state[row] = (uint8_t)draw_below(&making->draw, 3);
}

static inline void make_thing(struct making *making)
{
    static void (*const things[])(struct making *) = {
        make_process, make_track, make_step, make_operator, make_operator, make_operator,
        make_activity, make_activity,
        make_activity, make_memory, make_counter, make_told_device, make_flow, make_mark, make_fact,
        make_placement, make_resume, make_clock, make_trace_point, make_trace_point,
        make_trace_point, make_trace_point, make_planned_point,
    };
    DRAW_FROM(&making->draw, things)(making);
}

/* Of all that is left to draw; finished. NULL: its times do not add up. */
static inline struct vv_model *made_model(struct draw draw)
{
    struct making making = { .draw = draw, .now_ns = 1000 };
    made_or_die(vv_model_create(&making.model, NULL));
    making.model->run = (struct vv_run){ .begin_ns = making.now_ns,
                                         .end_ns = making.now_ns,
                                         .exit_code = -1,
                                         .signal = -1,
                                         .clock_uncertainty_ns = -1,
                                         .record_cost_ns = -1 };
    make_process(&making);
    make_track(&making);
    while (making.draw.at < making.draw.end)
        make_thing(&making);
    if (vv_model_finish(making.model, NULL) == VARVE_OK)
        return making.model;
    vv_model_destroy(making.model);
    return NULL;
}

#endif
