/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/recording_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive/select/process_fact.h"
#include "model/find.h"
#include "varve/varve.h"

#define BEGINS "attached: 3."

#define LONG_NS 10000000

/* An operator of PyTorch, from the callback's setting up to its return, in a training step: there
 * the caches hold other things than in a loop. The median of three steps on three processors. */
#define OPERATOR_NS 350.0
#define OPERATOR_SHAPES_NS 500.0 /* PyTorch then boxes the arguments, too */

/* From that minor version on. An interpreter with a profile function runs each instruction of 3.10
 * and 3.11 through a slower loop. Loops without calls took 1.4 to 2.0 times as long. */
static const struct { long minor; struct vv_tracing_cost cost; } costs[] = {
    { 12, { 85, 1.0 } },
    { 10, { 100, 1.5 } },
    { 0, { 50, 1.0 } },
};

bool vv_tracing_cost_of(const struct vv_model *model, uint32_t process,
                        struct vv_tracing_cost *out_cost)
{
    const char *said = vv_process_fact_text(model, process, "collector python");
    size_t row = 0;
    if (said == NULL || strncmp(said, BEGINS, sizeof BEGINS - 1) != 0)
        return false;
    long minor = strtol(said + sizeof BEGINS - 1, NULL, 10);
    while (row + 1 < sizeof costs / sizeof costs[0] && costs[row].minor > minor)
        row++;
    *out_cost = costs[row].cost;
    return true;
}

/* C code is not slower. Built-in functions are such code. A call that takes long by itself nearly
 * always runs C code, too, or waits: a loop of Python so long would itself be the finding. */
void vv_traced_calls_add(struct vv_traced_calls *calls, const struct vv_model *model,
                         uint32_t slice)
{
    const struct vv_slices *slices = &model->slices;
    int64_t self_ns = slices->self_ns[slice];
    calls->count++;
    if (self_ns < LONG_NS && vv_text_of(model, slices->name[slice])[0] != '<')
        calls->interpreted_ns += self_ns;
}

int64_t vv_tracing_cost_ns(const struct vv_tracing_cost *cost, const struct vv_traced_calls *calls)
{
    double calls_ns = cost->call_ns * (double)calls->count;
    double left_ns = fmax((double)calls->interpreted_ns - calls_ns, 0);
    return (int64_t)fmin(calls_ns + left_ns * (1 - 1 / cost->slowdown), 9e18);
}

/* What is known of one process's ranges, and what each of them costs. */
struct hooks {
    struct vv_tracing_cost python;
    bool has_python;
    double operator_ns;
    int64_t operators;
    struct vv_traced_calls calls;
};

static bool find_hooks(const struct vv_model *model, uint32_t process, struct hooks *out)
{
    const char *torch = vv_process_fact_text(model, process, "collector torch");
    out->has_python = vv_tracing_cost_of(model, process, &out->python);
    if (torch != NULL && strncmp(torch, "attached", 8) == 0)
        out->operator_ns = strstr(torch, "shapes") != NULL ? OPERATOR_SHAPES_NS : OPERATOR_NS;
    return out->has_python || out->operator_ns > 0;
}

static void count_ranges(const struct vv_model *model, struct hooks *hooks)
{
    const struct vv_slices *slices = &model->slices;
    for (uint32_t slice = 0; slice < slices->table.count; slice++) {
        uint32_t process = model->tracks.process[slices->track[slice]];
        if (process == VV_NONE)
            continue;
        if (slices->layer[slice] == VARVE_LAYER_OP)
            hooks[process].operators++;
        else if (slices->layer[slice] == VARVE_LAYER_PYTHON && hooks[process].has_python)
            vv_traced_calls_add(&hooks[process].calls, model, slice);
    }
}

/* Two records of each range are in the recorder's own measure already. */
static double beyond_records_ns(const struct hooks *hooks, double record_ns)
{
    double operator_ns = fmax(hooks->operator_ns - 2 * record_ns, 0), sum_ns = 0;
    if (hooks->operator_ns > 0)
        sum_ns += operator_ns * (double)hooks->operators;
    if (hooks->has_python) {
        double tracing_ns = (double)vv_tracing_cost_ns(&hooks->python, &hooks->calls);
        sum_ns += fmax(tracing_ns - 2 * record_ns * (double)hooks->calls.count, 0);
    }
    return sum_ns;
}

enum varve_code vv_recording_cost(const struct vv_model *model, struct vv_scratch *scratch,
                                  int64_t *out_ns, struct varve_error *error)
{
    struct hooks *hooks;
    bool has_any = false;
    double cost_ns = (double)model->run.record_cost_ns;
    *out_ns = model->run.record_cost_ns;
    if (model->run.record_cost_ns < 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &hooks, model->processes.table.count, error));
    for (uint32_t process = 0; process < model->processes.table.count; process++)
        has_any |= find_hooks(model, process, &hooks[process]);
    if (has_any)
        count_ranges(model, hooks);
    for (uint32_t process = 0; has_any && process < model->processes.table.count; process++)
        cost_ns += beyond_records_ns(&hooks[process],
                                     (double)model->processes.record_cost_ps[process] / 1000);
    vv_scratch_release(scratch, hooks);
    *out_ns = (int64_t)fmin(cost_ns, 9e18);
    return VARVE_OK;
}
