/* SPDX-License-Identifier: Apache-2.0 */
/* events.c — writes names, slices, marks, counters and allocations as trace events, one event a
 * line. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_kind.h"
#include "base/text/json_write.h"
#include "export/chrome/chrome.h"
#include "export/chrome/words.h"
#include "varve/varve.h"

/* ---- the begin of every event ---- */

static const char *text_of(const struct vv_chrome_writer *writer, uint32_t string)
{
    return vv_intern_text(&writer->model->strings, string);
}

/* Writes microseconds with three decimals, computed from integers: exact. */
static void put_time(FILE *stream, const char *key, int64_t ns)
{
    fprintf(stream, "\"%s\": %" PRId64 ".%03d, ", key, ns / 1000, (int)(ns % 1000));
}

static void put_place(FILE *stream, int64_t pid, int64_t tid)
{
    fprintf(stream, "\"pid\": %" PRId64 ", \"tid\": %" PRId64 ", ", pid, tid);
}

static int64_t pid_of(const struct vv_chrome_writer *writer, uint32_t track)
{
    uint32_t process = writer->model->tracks.process[track];
    return process != VV_NONE ? writer->layout->pids[process] : 1;
}

static int64_t tid_of(const struct vv_chrome_writer *writer, uint32_t track)
{
    return writer->layout->lanes[writer->layout->first_lane[track]].tid;
}

/* Writes {"ph": …, "cat": …, "name": … and ", " at the end. cat may be NULL. */
static void open_event(struct vv_chrome_writer *writer, const char *phase, const char *category,
                       const char *name)
{
    fputs(writer->has_event ? ",\n" : "\n", writer->stream);
    writer->has_event = true;
    fprintf(writer->stream, "{\"ph\": \"%s\", ", phase);
    if (category != NULL)
        fprintf(writer->stream, "\"cat\": \"%s\", ", category);
    fputs("\"name\": ", writer->stream);
    vv_json_write_text(writer->stream, name);
    fputs(", ", writer->stream);
}

/* ---- names of processes and rows ---- */

static void put_name(struct vv_chrome_writer *writer, const char *kind, int64_t pid, int64_t tid,
                     const char *value)
{
    open_event(writer, "M", NULL, kind);
    put_time(writer->stream, "ts", 0);
    put_place(writer->stream, pid, tid);
    fputs(value, writer->stream);
}

static void put_text_argument(FILE *stream, const char *key, const char *text)
{
    fprintf(stream, "\"args\": {\"%s\": ", key);
    vv_json_write_text(stream, text);
    fputs("}}", stream);
}

/* "CPU", or "GPU 1" if the process stands for a device. */
static void name_place(const struct vv_model *model, uint32_t process, char *text, size_t bytes)
{
    snprintf(text, bytes, "CPU");
    for (uint32_t track = 0; track < model->tracks.table.count; track++)
        if (model->tracks.process[track] == process &&
            model->tracks.kind[track] == VV_TRACK_DEVICE && model->tracks.device[track] != VV_NONE)
            snprintf(text, bytes, "GPU %u", model->tracks.device[track] & 0xffff);
}

static void put_process_names(struct vv_chrome_writer *writer, uint32_t process, int64_t tid)
{
    int64_t pid = writer->layout->pids[process];
    char order[64], label[40];
    name_place(writer->model, process, label, sizeof label);
    put_name(writer, "process_name", pid, tid, "");
    put_text_argument(writer->stream, "name",
                      text_of(writer, writer->model->processes.name[process]));
    put_name(writer, "process_labels", pid, tid, "");
    put_text_argument(writer->stream, "labels", label);
    snprintf(order, sizeof order, "\"args\": {\"sort_index\": %u}}", process);
    put_name(writer, "process_sort_index", pid, tid, order);
}

static void put_row_names(struct vv_chrome_writer *writer, const struct vv_chrome_lane *lane,
                          uint32_t order_number)
{
    const struct vv_tracks *tracks = &writer->model->tracks;
    int64_t pid = pid_of(writer, lane->track), tid = tracks->tid[lane->track];
    const char *name = text_of(writer, tracks->name[lane->track]);
    char text[1200], order[64], further[40] = "";
    if (lane->number > 0)
        snprintf(further, sizeof further, " (lane %u)", lane->number + 1);
    if (tracks->kind[lane->track] == VV_TRACK_ASYNC)
        snprintf(text, sizeof text, "%s (async)%s", name, further);
    else if (name[0] == '\0')
        snprintf(text, sizeof text, "thread %" PRId64 "%s", tid, further);
    else
        snprintf(text, sizeof text, "%s%s", name, further);
    put_name(writer, "thread_name", pid, lane->tid, "");
    put_text_argument(writer->stream, "name", text);
    snprintf(order, sizeof order, "\"args\": {\"sort_index\": %u}}", order_number);
    put_name(writer, "thread_sort_index", pid, lane->tid, order);
}

void vv_chrome_put_names(struct vv_chrome_writer *writer)
{
    const struct vv_model *model = writer->model;
    for (uint32_t process = 0; process < model->processes.table.count; process++) {
        /* The process gets a row of its own for its name; otherwise a viewer invents one. */
        int64_t tid = writer->layout->pids[process];
        for (uint32_t track = 0; track < model->tracks.table.count; track++) {
            if (model->tracks.process[track] == process) {
                tid = tid_of(writer, track);
                break;
            }
        }
        put_process_names(writer, process, tid);
    }
    for (uint32_t i = 0; i < writer->layout->lane_count; i++)
        put_row_names(writer, &writer->layout->lanes[i], i);
}

/* ---- slices ---- */

/* Writes sizes and types of one side's tensors, as Kineto does of the inputs, and what else is
 * known of them. */
static void put_tensors(struct vv_chrome_writer *writer, const char *side, uint32_t first,
                        uint32_t count)
{
    const struct vv_tensors *tensors = &writer->model->tensors;
    FILE *stream = writer->stream;
    bool has_format = false, has_identity = false;
    fprintf(stream, ", \"%s Dims\": [", side);
    for (uint32_t i = first; i < first + count; i++) {
        has_format |= tensors->format[i] != 0;
        has_identity |= tensors->identity[i] != 0;
        fputs(i > first ? ", [" : "[", stream);
        for (uint32_t d = 0; d < tensors->rank[i]; d++)
            fprintf(stream, "%s%" PRId64, d > 0 ? ", " : "",
                    writer->model->dims.size[tensors->first_dim[i] + d]);
        fputc(']', stream);
    }
    fprintf(stream, "], \"%s type\": [", side);
    for (uint32_t i = first; i < first + count; i++)
        fprintf(stream, "%s\"%s\"", i > first ? ", " : "", vv_torch_dtype(tensors->dtype[i]));
    fputc(']', stream);
    if (has_format)
        fprintf(stream, ", \"%s Formats\": [", side);
    for (uint32_t i = first; has_format && i < first + count; i++) {
        fputs(i > first ? ", " : "", stream);
        vv_json_write_text(stream, text_of(writer, tensors->format[i]));
    }
    fputs(has_format ? "]" : "", stream);
    if (has_identity)
        fprintf(stream, ", \"%s Ids\": [", side);
    for (uint32_t i = first; has_identity && i < first + count; i++)
        fprintf(stream, "%s%" PRIu64, i > first ? ", " : "", tensors->identity[i]);
    fputs(has_identity ? "]" : "", stream);
}

static void put_operator(struct vv_chrome_writer *writer, uint32_t op)
{
    const struct vv_ops *ops = &writer->model->ops;
    FILE *stream = writer->stream;
    if (ops->sequence[op] >= 0)
        fprintf(stream, ", \"Sequence number\": %" PRId64 ", \"Fwd thread id\": %" PRIu64,
                ops->sequence[op], ops->forward_tid[op]);
    if (ops->flop[op] > 0)
        fprintf(stream, ", \"flop\": %" PRIu64, ops->flop[op]);
    if (ops->bytes[op] > 0)
        fprintf(stream, ", \"bytes\": %" PRIu64, ops->bytes[op]);
    if (ops->tensor_count[op] > 0)
        put_tensors(writer, "Input", ops->first_tensor[op], ops->tensor_count[op]);
    if (ops->output_count[op] > 0)
        put_tensors(writer, "Output", ops->first_tensor[op] + ops->tensor_count[op],
                    ops->output_count[op]);
    if (ops->scalars[op] != 0) {
        fputs(", \"Concrete Inputs\": ", stream);
        vv_chrome_put_json(writer, ops->scalars[op]);
    }
    if (ops->stack[op] != 0) {
        fputs(", \"Call stack\": ", stream);
        vv_json_write_text(stream, text_of(writer, ops->stack[op]));
    }
    if (ops->module[op] != 0) {
        fputs(", \"Module Hierarchy\": ", stream);
        vv_json_write_text(stream, text_of(writer, ops->module[op]));
    }
}

/* Writes the correlation of a call or its work, and where the work ran. */
static void put_activity(struct vv_chrome_writer *writer, uint32_t activity)
{
    const struct vv_activities *activities = &writer->model->activities;
    FILE *stream = writer->stream;
    if (activities->correlation[activity] != 0)
        fprintf(stream, ", \"correlation\": %" PRIu64, activities->correlation[activity]);
    if (activities->device[activity] != VV_NONE)
        fprintf(stream, ", \"device\": %u", activities->device[activity] & 0xffff);
    if (activities->context[activity] >= 0)
        fprintf(stream, ", \"context\": %" PRId64, activities->context[activity]);
    if (activities->stream[activity] >= 0)
        fprintf(stream, ", \"stream\": %" PRId64, activities->stream[activity]);
    if (activities->bytes[activity] > 0)
        fprintf(stream, ", \"bytes\": %" PRIu64, activities->bytes[activity]);
}

/* The category for a slice that PyTorch has no category for: the kind of device work, or the
 * layer. */
static const char *category_of(const struct vv_chrome_writer *writer, uint32_t row)
{
    static const char *const works[VV_ACTIVITY_OTHER + 1] = {
        [VV_ACTIVITY_KERNEL] = "kernel", [VV_ACTIVITY_COPY] = "gpu_memcpy",
        [VV_ACTIVITY_SET] = "gpu_memset", [VV_ACTIVITY_ANNOTATION] = "gpu_user_annotation",
    };
    uint32_t activity = writer->model->slices.activity[row];
    const char *category =
        activity != VV_NONE ? works[writer->model->activities.kind[activity]] : NULL;
    return category != NULL ? category : vv_kineto_category(writer->model->slices.layer[row]);
}

/* How a step that nobody recorded was found. */
static void put_origin(struct vv_chrome_writer *writer, uint32_t step)
{
    static const char *const origins[] = {
        [VV_STEP_RANGE] = "range", [VV_STEP_ANCHOR] = "anchor", [VV_STEP_REPEAT] = "repeat",
    };
    const struct vv_steps *steps = &writer->model->steps;
    if (steps->origin[step] == VV_STEP_RECORDED)
        return;
    fprintf(writer->stream, ", \"step found\": \"%s\"", origins[steps->origin[step]]);
    if (steps->name[step] != 0) {
        fputs(", \"step found by\": ", writer->stream);
        vv_json_write_text(writer->stream, text_of(writer, steps->name[step]));
    }
}

/* Readers accept ProfilerStep# only with digits after it. */
static void name_step(const struct vv_model *model, uint32_t step, char name[40])
{
    snprintf(name, 40, "%s%" PRId64, model->steps.index[step] >= 0 ? "ProfilerStep#" : "step ",
             model->steps.index[step]);
}

void vv_chrome_put_found_steps(struct vv_chrome_writer *writer)
{
    const struct vv_model *model = writer->model;
    const struct vv_steps *steps = &model->steps;
    FILE *stream = writer->stream;
    for (uint32_t step = 0; step < steps->table.count; step++) {
        uint64_t number = model->slices.table.count + step;
        uint32_t lane = writer->layout->lane_of_step[step];
        char name[40];
        if (lane == VV_NONE)
            continue;
        name_step(model, step, name);
        open_event(writer, "X", vv_kineto_category(VARVE_LAYER_STEP), name);
        put_place(stream, pid_of(writer, steps->track[step]), writer->layout->lanes[lane].tid);
        put_time(stream, "ts", vv_chrome_since_base_ns(writer->layout, steps->begin_ns[step]));
        put_time(stream, "dur", steps->duration_ns[step]);
        fprintf(stream,
                "\"args\": {\"External id\": %" PRIu64 ", \"Record function id\": 0, \"Ev Idx\": "
                "%" PRIu64 ", \"layer\": \"STEP\"",
                number + 1, number);
        put_origin(writer, step);
        fputs("}}", stream);
    }
}

static void put_slice(struct vv_chrome_writer *writer, uint32_t row, const char *name)
{
    const struct vv_slices *slices = &writer->model->slices;
    const struct vv_sources *sources = &writer->model->sources;
    FILE *stream = writer->stream;
    const char *category = vv_kineto_known(text_of(writer, slices->category[row]));
    uint32_t activity = slices->activity[row], owner = row;
    if (activity != VV_NONE && writer->model->activities.caller[activity] != VV_NONE)
        owner = writer->model->activities.caller[activity];
    open_event(writer, "X", category != NULL ? category : category_of(writer, row), name);
    put_place(stream, pid_of(writer, slices->track[row]),
              writer->layout->lanes[writer->layout->lane_of[row]].tid);
    put_time(stream, "ts", vv_chrome_since_base_ns(writer->layout, slices->begin_ns[row]));
    put_time(stream, "dur", slices->duration_ns[row]);
    fprintf(stream, "\"args\": {\"External id\": %u, \"Record function id\": 0, \"Ev Idx\": %u",
            owner + 1, row);
    if (activity != VV_NONE)
        put_activity(writer, activity);
    if (slices->op[row] != VV_NONE)
        put_operator(writer, slices->op[row]);
    if (slices->flags[row] & VV_SLICE_UNFINISHED)
        fputs(", \"finished\": \"false\"", stream);
    if (slices->source[row] != 0) {
        fputs(", \"source\": ", stream);
        vv_json_write_text(stream, text_of(writer, sources->file[slices->source[row]]));
        fprintf(stream, ", \"line\": %u", sources->line[slices->source[row]]);
    }
    fprintf(stream, ", \"layer\": \"%s\"", vv_chrome_layer(slices->layer[row]));
    if (writer->layout->step_of[row] != VV_NONE)
        put_origin(writer, writer->layout->step_of[row]);
    vv_chrome_put_arguments(writer, slices->op[row], slices->first_arg[row],
                            slices->arg_count[row]);
    fputs("}}", stream);
    writer->counts.slices++;
}

void vv_chrome_put_slices(struct vv_chrome_writer *writer)
{
    const struct vv_model *model = writer->model;
    for (uint32_t row = 0; row < model->slices.table.count; row++) {
        uint32_t step = writer->layout->step_of[row];
        char name[40];
        if (step != VV_NONE)
            name_step(model, step, name);
        put_slice(writer, row,
                  step != VV_NONE ? name : text_of(writer, model->slices.name[row]));
    }
}

/* ---- marks and counters ---- */

void vv_chrome_put_marks(struct vv_chrome_writer *writer)
{
    const struct vv_marks *marks = &writer->model->marks;
    for (uint64_t i = 0; i < marks->table.count; i++) {
        open_event(writer, "i", vv_kineto_category(marks->layer[i]),
                   text_of(writer, marks->name[i]));
        fputs("\"s\": \"t\", ", writer->stream);
        put_place(writer->stream, pid_of(writer, marks->track[i]), tid_of(writer, marks->track[i]));
        put_time(writer->stream, "ts", vv_chrome_since_base_ns(writer->layout, marks->time_ns[i]));
        fprintf(writer->stream, "\"args\": {\"layer\": \"%s\"", vv_chrome_layer(marks->layer[i]));
        vv_chrome_put_arguments(writer, VV_NONE, marks->first_arg[i], marks->arg_count[i]);
        fputs("}}", writer->stream);
        writer->counts.marks++;
    }
}

void vv_chrome_put_counters(struct vv_chrome_writer *writer)
{
    const struct vv_counters *counters = &writer->model->counters;
    for (uint64_t i = 0; i < counters->table.count; i++) {
        if (!isfinite(counters->value[i])) {
            writer->counts.counter_values_left_out++;
            continue;
        }
        open_event(writer, "C", NULL, text_of(writer, counters->name[i]));
        put_place(writer->stream, pid_of(writer, counters->track[i]),
                  tid_of(writer, counters->track[i]));
        put_time(writer->stream, "ts",
                 vv_chrome_since_base_ns(writer->layout, counters->time_ns[i]));
        fputs("\"args\": {", writer->stream);
        vv_json_write_text(writer->stream, counters->series[i] != 0
                                               ? text_of(writer, counters->series[i])
                                               : "value");
        fputs(": ", writer->stream);
        vv_json_write_real(writer->stream, counters->value[i]);
        fputs("}}", writer->stream);
        writer->counts.counter_values++;
    }
}

/* ---- allocations ---- */

struct allocation {
    uint32_t row, process, device;
    int64_t time_ns, allocated_bytes;
    bool is_beyond; /* allocated_bytes does not fit into int64, now or before                   */
};

static int by_pool(const void *a, const void *b)
{
    const struct allocation *left = a, *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static void put_allocation(struct vv_chrome_writer *writer, const struct allocation *allocation)
{
    const struct vv_memory *memory = &writer->model->memory;
    uint32_t row = allocation->row, kind = allocation->device >> 16;
    int device_id = kind == VARVE_DEVICE_KIND_CPU ? -1 : (int)(allocation->device & 0xffffu);
    open_event(writer, "i", "cpu_instant_event", "[memory]");
    fputs("\"s\": \"t\", ", writer->stream);
    put_place(writer->stream, pid_of(writer, memory->track[row]),
              tid_of(writer, memory->track[row]));
    put_time(writer->stream, "ts", vv_chrome_since_base_ns(writer->layout, allocation->time_ns));
    fputs("\"args\": {", writer->stream);
    if (!allocation->is_beyond)
        fprintf(writer->stream, "\"Total Allocated\": %" PRId64 ", ", allocation->allocated_bytes);
    fprintf(writer->stream,
            "\"Bytes\": %" PRId64 ", \"Addr\": %" PRIu64
            ", \"Device Id\": %d, \"Device Type\": %d}}",
            memory->bytes[row], memory->address[row], device_id, vv_device_kind_to_torch(kind));
    writer->counts.memory_events++;
}

static void add_before(struct allocation *allocation, const struct allocation *before)
{
    bool same_pool = allocation->process == before->process && allocation->device == before->device;
    if (same_pool)
        allocation->is_beyond =
            before->is_beyond ||
            __builtin_add_overflow(allocation->allocated_bytes, before->allocated_bytes,
                                   &allocation->allocated_bytes);
}

enum varve_code vv_chrome_put_memory(struct vv_chrome_writer *writer, struct varve_error *error)
{
    const struct vv_model *model = writer->model;
    size_t count = (size_t)model->memory.table.count;
    struct allocation *allocations = calloc(count + 1, sizeof *allocations);
    if (allocations == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to order %zu allocations", count);
    for (uint32_t i = 0; i < count; i++) {
        allocations[i] =
            (struct allocation){ .row = i,
                                 .process = model->tracks.process[model->memory.track[i]],
                                 .device = model->memory.device[i],
                                 .time_ns = model->memory.time_ns[i],
                                 .allocated_bytes = model->memory.bytes[i] };
    }
    qsort(allocations, count, sizeof *allocations, by_pool);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            add_before(&allocations[i], &allocations[i - 1]);
        put_allocation(writer, &allocations[i]);
    }
    free(allocations);
    return VARVE_OK;
}
