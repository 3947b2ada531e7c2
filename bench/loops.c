/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include <stdint.h>

#include "base/system/clock.h"
#include "sampling.h"
#include "varve/backend.h"
#include "varve/exec.h"
#include "varve/values.h"

#define BARRIER __asm__ volatile("" ::: "memory") /* each turn of a loop stays what it is */
#define WORK_NS 100.0

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static volatile uint64_t sink;
static long work_turns = 100;

void bench_run_empty(long count)
{
    for (long i = 0; i < count; i++)
        BARRIER;
}

static inline void read_clock(void)
{
    if (vv_clock_is_counter)
        sink = vv_counter_read().ticks;
    else
        sink = vv_clock_monotonic_ns();
}

void bench_run_floor(long count)
{
    if (!vv_clock_is_counter) {
        for (long i = 0; i < 2 * count; i++)
            sink = vv_clock_monotonic_ns();
        return;
    }
    for (long i = 0; i < count; i++) {
        sink = vv_counter_read().ticks;
        sink = vv_counter_read().ticks;
    }
}

void bench_run_range(long count)
{
    for (long i = 0; i < count; i++) {
        varve_begin(&work);
        BARRIER;
        varve_end();
        BARRIER;
    }
}

static uint32_t graph;

void bench_register_graph(void)
{
    struct varve_graph_node node = VARVE_GRAPH_NODE_INIT;
    struct varve_graph_info info = VARVE_GRAPH_INFO_INIT;
    node.name = "conv1";
    info.nodes = &node;
    info.node_count = 1;
    if (varve_graph_register(&info, &graph, NULL) != VARVE_OK)
        graph = 0; /* its executions are recorded all the same */
}

void bench_run_execute(long count)
{
    for (long i = 0; i < count; i++) {
        varve_execute_begin(graph, 0);
        BARRIER;
        varve_execute_end(graph, 0);
        BARRIER;
    }
}

void bench_run_next(long count)
{
    varve_begin(&work);
    for (long i = 0; i < count; i++) {
        varve_next(&work);
        BARRIER;
    }
    varve_end();
}

VARVE_KEY(batch, "batch");

void bench_run_argument(long count)
{
    varve_begin(&work);
    for (long i = 0; i < count; i++)
        varve_arg_i64(&batch, i);
    varve_end();
}

void bench_run_collective(long count)
{
    struct varve_collective_info info = VARVE_COLLECTIVE_INFO_INIT;
    info.operation = "all_reduce";
    info.group = "world";
    varve_begin(&work);
    for (long i = 0; i < count; i++) {
        info.number = i;
        varve_collective(&info);
    }
    varve_end();
}

void bench_run_outputs(long count)
{
    static const int64_t dims[4] = { 32, 64, 56, 56 };
    static const uint64_t ids[4] = { 1, 2, 3, 4 };
    struct varve_tensor tensors[4];
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    for (int i = 0; i < 4; i++)
        tensors[i] = (struct varve_tensor){ VARVE_F32, 4, dims };
    info.inputs = info.outputs = tensors;
    info.input_count = 4;
    info.output_count = 1;
    info.input_ids = info.output_ids = ids;
    varve_begin(&work);
    for (long i = 0; i < count; i++)
        varve_op(&info);
    varve_end();
}

void bench_run_operator(long count)
{
    static const int64_t dims[4] = { 32, 64, 56, 56 };
    struct varve_tensor inputs[4];
    for (int i = 0; i < 4; i++)
        inputs[i] = (struct varve_tensor){ VARVE_F32, 4, dims };
    for (long i = 0; i < count; i++) {
        varve_begin(&work);
        struct varve_op_info info = VARVE_OP_INFO_INIT;
        info.inputs = inputs;
        info.input_count = 4;
        varve_op(&info);
        varve_end();
    }
}

void bench_run_plain_operator(long count)
{
    struct varve_op_info info = VARVE_OP_INFO_INIT;
    for (long i = 0; i < count; i++) {
        varve_begin(&work);
        varve_op(&info);
        varve_end();
    }
}

/* ---- devices ---- */

static uint32_t track;
static struct varve_device_work device_work = VARVE_DEVICE_WORK_INIT;

bool bench_add_device(struct varve_error *error)
{
    struct varve_track_info info = { .struct_size = sizeof info, .clock = VARVE_CLOCK_TICKS,
                                     .name = "stream 7", .context = -1, .stream = 7 };
    info.device = VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, 0);
    device_work.name = "sgemm_128x64_nn";
    return varve_track_add(&info, &track, error) == VARVE_OK &&
           varve_backend_open("host", &device_work.backend, error) == VARVE_OK;
}

void bench_run_activity(long count)
{
    struct varve_activity_info info = { .struct_size = sizeof info, .track = track,
                                        .name = "sgemm_128x64_nn", .kind = VARVE_ACTIVITY_KERNEL };
    for (long i = 0; i < count; i++) {
        info.begin = i;
        info.end = i + 1;
        info.correlation = (uint64_t)i + 1;
        varve_activity(&info);
    }
}

void bench_run_launch(long count)
{
    varve_begin(&work);
    for (long i = 0; i < count; i++)
        varve_launch((uint64_t)i + 1);
    varve_end();
}

void bench_run_device_work(long count)
{
    varve_begin(&work);
    for (long i = 0; i < count; i++)
        varve_device_end(varve_device_begin(&device_work));
    varve_end();
}

static inline uint64_t do_work(uint64_t value, long turns)
{
    for (long i = 0; i < turns; i++) {
        value *= UINT64_C(0x9E3779B97F4A7C15); /* needs the product before */
        BARRIER;
    }
    return value;
}

/* Two works a turn, with what is measured around the first. */
#define WORK_LOOP(name, before, after)                 \
    void name(long count)                              \
    {                                                  \
        uint64_t value = (uint64_t)count | 1;          \
        const long turns = work_turns;                 \
        for (long i = 0; i < count; i++) {             \
            before;                                    \
            value = do_work(value, turns);             \
            after;                                     \
            value = do_work(value, turns);             \
        }                                              \
        sink = value;                                  \
    }

WORK_LOOP(bench_run_work, (void)0, (void)0)
WORK_LOOP(bench_run_work_floor, read_clock(), read_clock())
WORK_LOOP(bench_run_work_range, varve_begin(&work), varve_end())

void bench_calibrate_work(void)
{
    double best_ns = 1e9;
    for (int i = 0; i < 50; i++) {
        double ns = bench_time_ns(bench_run_work, 100) / 2;
        if (ns < best_ns)
            best_ns = ns;
    }
    work_turns = (long)((double)work_turns * WORK_NS / best_ns + 0.5);
}
