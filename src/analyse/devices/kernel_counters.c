/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_counters.c — table "kernel_counters": the values that a device counted while each kernel
 * ran, with the operators that launched the kernel.
 *
 * To count, some profilers (CUPTI's ranges) run kernels one by one and do not name the launch. Then
 * the n-th kernel of a scope, in order of time, belongs to the n-th launching call, if there are as
 * many kernels as calls. Each counter has a column. The row "total" sums the counters.
 * doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/radix.h"
#include "derive/devices/device_work.h"
#include "meaning/call_kind.h"
#include "model/arg_walk.h"
#include "question/question.h"
#include "sheet/cells.h"

#define COUNTERS_MAX 64 /* columns; a profiler counts few counters at once */

enum { AT, DURATION, TOP_OP, BOTTOM_OP, NAME, ROW, COLUMNS };

static const struct vv_sheet_column counter_columns[COLUMNS] = {
    { "at_ns", "at", VV_CELL_INT, VV_UNIT_NS, false, false },
    { "duration_ns", "duration", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "top_op", "outermost operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "bottom_op", "innermost", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name", "kernel", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

/* A kernel with counters, or a call that launches a kernel. */
struct event { uint32_t slice, scope; uint32_t launch; };
struct events { struct vv_scratch *scratch; struct event *items; size_t count, capacity; };

struct counting {
    const struct vv_scope *scope;
    struct events kernels, calls;
    uint32_t keys[COUNTERS_MAX]; /* strings: the counters, in order of appearance               */
    size_t key_count;
    uint64_t left_out;           /* values of counters for which there was no column            */
    uint64_t unjoined;           /* kernels without a launch                                    */
};

/* ---- counted kernels ---- */

static enum varve_code add_event(struct events *events, uint32_t slice, uint32_t scope,
                                 struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(events->scratch, &events->items, &events->capacity, events->count + 1,
                              error));
    events->items[events->count++] = (struct event){ slice, scope, VV_NONE };
    return VARVE_OK;
}

static enum varve_code find_events(struct counting *counting, struct varve_error *error)
{
    const struct vv_model *model = counting->scope->model;
    const struct vv_slices *slices = &model->slices;
    for (uint32_t a = 0; a < model->activities.table.count; a++) {
        uint32_t slice = model->activities.slice[a];
        uint32_t process = slice != VV_NONE ? model->tracks.process[slices->track[slice]] : VV_NONE;
        if (process == VV_NONE || !counting->scope->processes[process])
            continue;
        uint32_t scope = model->processes.scope[process];
        if ((slices->flags[slice] & VV_SLICE_COUNTED) != 0)
            VV_TRY(add_event(&counting->kernels, slice, scope, error));
        else if (model->activities.kind[a] == VV_ACTIVITY_CALL &&
                 vv_call_kind(vv_text_of(model, slices->name[slice])) == VV_CALL_LAUNCHES_KERNEL)
            VV_TRY(add_event(&counting->calls, slice, scope, error));
    }
    return VARVE_OK;
}

/* Sorts by scope, then by time. */
static enum varve_code order_events(const struct vv_slices *slices, struct events *events,
                                    struct varve_error *error)
{
    struct vv_keyed_row *keys;
    struct event *items;
    VV_TRY(VV_SCRATCH_ARRAY(events->scratch, &keys, events->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(events->scratch, &items, events->count, error));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < events->count; i++)
            keys[i] = (struct vv_keyed_row){
                pass == 0 ? (uint64_t)slices->begin_ns[events->items[i].slice] ^ UINT64_C(1) << 63
                          : events->items[i].scope,
                (uint32_t)i,
            };
        VV_TRY(vv_radix_sort(keys, events->count, error));
        for (size_t i = 0; i < events->count; i++)
            items[i] = events->items[keys[i].row];
        if (events->count > 0)
            memcpy(events->items, items, events->count * sizeof *items);
    }
    vv_scratch_release(events->scratch, keys);
    vv_scratch_release(events->scratch, items);
    return VARVE_OK;
}

static size_t end_of_scope(const struct events *events, size_t first, uint32_t scope)
{
    while (first < events->count && events->items[first].scope <= scope)
        first++;
    return first;
}

static void join_launches(struct counting *counting)
{
    const struct vv_model *model = counting->scope->model;
    struct events *kernels = &counting->kernels, *calls = &counting->calls;
    size_t first_call = 0, last_call;
    for (size_t first = 0, last; first < kernels->count; first = last, first_call = last_call) {
        uint32_t scope = kernels->items[first].scope;
        last = end_of_scope(kernels, first, scope);
        while (first_call < calls->count && calls->items[first_call].scope < scope)
            first_call++;
        last_call = end_of_scope(calls, first_call, scope);
        for (size_t i = first; i < last; i++) {
            uint32_t launch =
                model->activities.launch[model->slices.activity[kernels->items[i].slice]];
            if (launch == VV_NONE && last_call - first_call == last - first)
                launch = calls->items[first_call + (i - first)].slice;
            kernels->items[i].launch = launch;
        }
    }
}

/* Keeps, of the joined kernels, those of the device that were launched in the chosen steps and
 * threads. */
static void keep_chosen(struct counting *counting, const char *device)
{
    const struct vv_scope *scope = counting->scope;
    const struct vv_slices *slices = &scope->model->slices;
    size_t count = 0;
    for (size_t i = 0; i < counting->kernels.count; i++) {
        struct event event = counting->kernels.items[i];
        uint32_t place = event.launch != VV_NONE ? event.launch : event.slice;
        uint32_t of_device = scope->model->activities.device[slices->activity[event.slice]];
        if (!vv_scope_holds(scope, event.slice) || !vv_step_counts(scope, slices->step[place]) ||
            (scope->by_thread && !scope->tracks[slices->track[place]]) ||
            (device != NULL && strcmp(device, "all") != 0 &&
             !vv_device_is_called(of_device, device)))
            continue;
        counting->unjoined += event.launch == VV_NONE;
        counting->kernels.items[count++] = event;
    }
    counting->kernels.count = count;
}

/* The column of the counter, which is new or known; COUNTERS_MAX = no column is left. */
static size_t counter_of(struct counting *counting, uint32_t key)
{
    size_t k = 0;
    while (k < counting->key_count && counting->keys[k] != key)
        k++;
    if (k == counting->key_count && k < COUNTERS_MAX)
        counting->keys[counting->key_count++] = key;
    return k;
}

/* If the argument is a number, sets *out_value to it and returns true. */
static bool is_number(const struct vv_args *args, uint32_t arg, double *out_value)
{
    if (args->kind[arg] == VV_ARG_INT)
        *out_value = (double)(int64_t)args->value[arg];
    else if (args->kind[arg] == VV_ARG_REAL)
        memcpy(out_value, &args->value[arg], sizeof *out_value);
    return args->kind[arg] == VV_ARG_INT || args->kind[arg] == VV_ARG_REAL;
}

static void find_counters(struct counting *counting)
{
    const struct vv_model *model = counting->scope->model;
    for (size_t i = 0; i < counting->kernels.count; i++) {
        uint32_t slice = counting->kernels.items[i].slice;
        struct vv_arg_walk walk =
            vv_arg_walk(model, model->slices.first_arg[slice], model->slices.arg_count[slice]);
        for (uint32_t arg; vv_arg_next(&walk, &arg);) {
            double value;
            if (is_number(&model->args, arg, &value))
                counting->left_out += counter_of(counting, model->args.key[arg]) == COUNTERS_MAX;
        }
    }
}

/* ---- rows ---- */

static enum varve_code make_columns(const struct counting *counting, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    size_t count = COLUMNS + counting->key_count;
    struct vv_sheet_column *columns = vv_arena_alloc(&sheet->arena, count * sizeof *columns);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu counters", counting->key_count);
    memcpy(columns, counter_columns, sizeof counter_columns);
    for (size_t k = 0; k < counting->key_count; k++) {
        const char *name = vv_text_of(counting->scope->model, counting->keys[k]);
        columns[COLUMNS + k] =
            (struct vv_sheet_column){ name, name, VV_CELL_REAL, VV_UNIT_NONE, true, false };
    }
    sheet->columns = columns;
    sheet->column_count = count;
    return VARVE_OK;
}

/* The outermost and innermost operator around the launch. */
static void fill_operators(const struct vv_model *model, uint32_t launch, struct vv_cell *cells)
{
    for (uint32_t row = launch; row != VV_NONE; row = model->slices.parent[row]) {
        if (model->slices.layer[row] != VARVE_LAYER_OP)
            continue;
        cells[TOP_OP] = vv_text_cell(vv_text_of(model, model->slices.name[row]));
        if (!cells[BOTTOM_OP].present)
            cells[BOTTOM_OP] = cells[TOP_OP];
    }
}

static enum varve_code put_kernel(struct counting *counting, const struct event *kernel,
                                  struct vv_cell *totals, struct vv_sheet *sheet,
                                  struct varve_error *error)
{
    const struct vv_model *model = counting->scope->model;
    const struct vv_slices *slices = &model->slices;
    struct vv_cell cells[COLUMNS + COUNTERS_MAX] = { 0 };
    cells[AT] = vv_int_cell(slices->begin_ns[kernel->slice] - model->run.begin_ns);
    cells[DURATION] = vv_int_cell(slices->duration_ns[kernel->slice]);
    cells[NAME] = vv_text_cell(vv_text_of(model, slices->name[kernel->slice]));
    cells[ROW] = vv_text_cell("kernel");
    fill_operators(model, kernel->launch, cells);
    struct vv_arg_walk walk =
        vv_arg_walk(model, slices->first_arg[kernel->slice], slices->arg_count[kernel->slice]);
    for (uint32_t arg; vv_arg_next(&walk, &arg);) {
        double value;
        if (!is_number(&model->args, arg, &value))
            continue;
        size_t counter = counter_of(counting, model->args.key[arg]);
        if (counter == COUNTERS_MAX)
            continue;
        cells[COLUMNS + counter] = vv_real_cell(value);
        totals[COLUMNS + counter] = vv_real_cell(totals[COLUMNS + counter].real + value);
    }
    return vv_row_put(sheet, VV_ROW_PLAIN, cells, error);
}

static enum varve_code fill(struct counting *counting, struct vv_sheet *sheet,
                            struct varve_error *error)
{
    struct vv_cell totals[COLUMNS + COUNTERS_MAX] = { 0 };
    size_t count = counting->kernels.count;
    char unjoined[80] = "", left_out[80] = "";
    if (count == 0)
        return vv_sheet_policy(sheet, error, "no kernel was counted in this trace");
    VV_TRY(make_columns(counting, sheet, error));
    for (size_t i = 0; i < count; i++)
        VV_TRY(put_kernel(counting, &counting->kernels.items[i], totals, sheet, error));
    totals[NAME] = totals[ROW] = vv_text_cell("total");
    VV_TRY(vv_row_put(sheet, VV_ROW_TOTAL, totals, error));
    if (counting->unjoined > 0)
        snprintf(unjoined, sizeof unjoined, "; the launches of %" PRIu64 " are not known",
                 counting->unjoined);
    if (counting->left_out > 0)
        snprintf(left_out, sizeof left_out, "; %" PRIu64 " values of further counters left out",
                 counting->left_out);
    return vv_sheet_policy(sheet, error, "%zu counters of %zu kernels%s%s", counting->key_count,
                           count, unjoined, left_out);
}

enum varve_code vv_analyse_kernel_counters(const struct vv_model *model,
                                           const struct vv_question *question,
                                           struct vv_scratch *scratch, struct vv_sheet *out,
                                           struct varve_error *error)
{
    struct vv_scope scope;
    struct counting counting = { .scope = &scope, .kernels = { .scratch = scratch },
                                 .calls = { .scratch = scratch } };
    vv_sheet_init(out, "kernel_counters", "COUNTERS OF KERNELS", counter_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    VV_TRY(find_events(&counting, error));
    VV_TRY(order_events(&model->slices, &counting.kernels, error));
    VV_TRY(order_events(&model->slices, &counting.calls, error));
    join_launches(&counting);
    keep_chosen(&counting, question->selection.device);
    find_counters(&counting);
    return fill(&counting, out, error);
}
