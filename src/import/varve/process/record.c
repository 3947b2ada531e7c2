/* SPDX-License-Identifier: Apache-2.0 */
/* record.c — handles each kind of record (doc/format.md §3, §6); `actions` has one row for each
 * kind.
 *
 * The functions get complete records: payload_words fits the record's class. */
#include "import/varve/process/record.h"

#include <endian.h>
#include <string.h>

#include "base/array.h"
#include "ctf/record_length.h"
#include "import/rows/vocabulary.h"
#include "import/varve/records/call.h"
#include "import/varve/records/data.h"
#include "import/varve/records/open.h"
#include "import/varve/records/operator.h"
#include "import/varve/records/past.h"
#include "import/varve/records/values.h"
#include "varve/varve.h"

#define STRINGS_MAX (UINT32_C(1) << 24)

typedef enum varve_code action(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error);

static uint64_t word(const struct vv_record *record, size_t index)
{
    return le64toh(record->payload[index]);
}

static uint32_t low_half(uint64_t value)
{
    return (uint32_t)value;
}

static uint32_t high_half(uint64_t value)
{
    return (uint32_t)(value >> 32);
}

/* ---- records of the process's own stream ---- */

/* `strings` is indexed by id. 0 stands for an id without a string, and for the empty text. */
static enum varve_code read_string(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    uint32_t id = low_half(word(record, 0));
    const char *text = (const char *)(record->payload + 1);
    size_t length = strnlen(text, high_half(word(record, 0)));
    uint32_t text_id;
    int64_t step;
    if (id >= STRINGS_MAX)
        return vv_fail_at(error, VARVE_LIMIT, record->offset, "'%s': string %u, of at most %u",
                          stream->path, id, STRINGS_MAX);
    VV_TRY(vv_model_add_text(process->model, text, length, &text_id, error));
    process->has_step_names =
        process->has_step_names ||
        vv_dialect_step(vv_intern_text(&process->model->strings, text_id), &step);
    return vv_key_map_put(&process->strings, id, text_id, error);
}

static enum varve_code read_clock(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error)
{
    struct vv_sample sample = { .realtime_ns = (int64_t)word(record, 2),
                                .monotonic_ns = word(record, 1),
                                .uncertainty_ns = word(record, 3) };
    VV_TRY(vv_stream_time(stream, word(record, 0), record->offset, &sample.time_ns, error));
    VV_PUSH(&stream->process->samples, sample, error);
    return VARVE_OK;
}

static enum varve_code read_thread(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_thread_name thread = { .tid = word(record, 0),
                                     .order = (uint32_t)process->thread_names.count };
    VV_TRY(vv_process_string(process, word(record, 1), &thread.name, error));
    VV_PUSH(&process->thread_names, thread, error);
    return VARVE_OK;
}

static enum varve_code read_process(struct vv_stream_reader *stream,
                                    const struct vv_record *record, struct varve_error *error)
{
    return vv_process_string(stream->process, word(record, 0), &stream->process->process_name,
                             error);
}

/* Only the process's own stream counts: it is read before the threads, and its pauses are in order
 * of time. */
static enum varve_code read_layers(struct vv_stream_reader *stream, const struct vv_record *record,
                                   struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    bool was_paused = process->is_paused;
    if (stream->packets->instance != 0)
        return VARVE_OK;
    process->is_paused = word(record, 0) == 0;
    if (was_paused && !process->is_paused)
        return vv_model_add_resume(process->model, process->process, stream->time_ns, error);
    if (!process->is_paused)
        return VARVE_OK;
    struct vv_pause pause = { stream->ticks, stream->time_ns };
    VV_PUSH(&process->pauses, pause, error);
    return VARVE_OK;
}

/* ---- ranges ---- */

static enum varve_code read_begin(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error)
{
    struct vv_range range = { .layer = (uint16_t)high_half(word(record, 0)) };
    VV_TRY(vv_process_string(stream->process, low_half(word(record, 0)), &range.name, error));
    return vv_range_begin(stream, &range, error);
}

static enum varve_code read_end_under(struct vv_stream_reader *stream,
                                      const struct vv_record *record, struct varve_error *error)
{
    (void)error;
    vv_range_end_under(stream, word(record, 0));
    return VARVE_OK;
}

static enum varve_code read_step_begin(struct vv_stream_reader *stream,
                                       const struct vv_record *record, struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    struct vv_range range = { .layer = VARVE_LAYER_STEP, .is_step = true };
    uint32_t step;
    VV_TRY(vv_model_text(model, "step", &range.name, error));
    VV_TRY(vv_range_begin(stream, &range, error));
    VV_TRY(vv_model_add_step(model, &step, error));
    stream->open.items[stream->open.count - 1].step = step;
    model->steps.index[step] = (int64_t)word(record, 0);
    model->steps.begin_ns[step] = stream->time_ns;
    model->steps.track[step] = stream->track;
    return VARVE_OK;
}

static enum varve_code read_step_end(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error)
{
    (void)record;
    (void)error;
    size_t step = stream->open.count;
    while (step > 0 && stream->open.items[step - 1].step == VV_NONE)
        step--;
    if (step == 0) {
        vv_step_end_alone(stream);
        return VARVE_OK;
    }
    while (stream->open.count >= step)
        vv_range_end(stream);
    return VARVE_OK;
}

/* ---- memory, marks, counters, ends of flows and asynchronous ranges ---- */

static enum varve_code add_memory(struct vv_stream_reader *stream, uint64_t address, int64_t bytes,
                                  uint64_t device, struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    uint32_t row, track;
    VV_TRY(vv_stream_track(stream, &track, error));
    VV_TRY(vv_model_add_memory(model, &row, error));
    model->memory.time_ns[row] = stream->time_ns;
    model->memory.address[row] = address;
    model->memory.bytes[row] = bytes;
    model->memory.device[row] = (uint32_t)device;
    model->memory.track[row] = track;
    return VARVE_OK;
}

/* An allocation of no bytes is left out, because 0 in the model means a release of unknown size. */
static enum varve_code read_alloc(struct vv_stream_reader *stream, const struct vv_record *record,
                                  struct varve_error *error)
{
    uint64_t bytes = word(record, 1);
    if (bytes == 0)
        return VARVE_OK;
    return add_memory(stream, word(record, 0), bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes,
                      word(record, 2), error);
}

static enum varve_code read_free(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error)
{
    return add_memory(stream, word(record, 0), 0, word(record, 1), error);
}

static enum varve_code read_mark(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    uint32_t row, track;
    VV_TRY(vv_stream_track(stream, &track, error));
    VV_TRY(vv_model_add_mark(model, &row, error));
    model->marks.time_ns[row] = stream->time_ns;
    model->marks.name[row] = record->class->name;
    model->marks.layer[row] = record->class->layer;
    model->marks.track[row] = track;
    return VARVE_OK;
}

static enum varve_code read_counter(struct vv_stream_reader *stream,
                                    const struct vv_record *record, struct varve_error *error)
{
    struct vv_model *model = stream->process->model;
    uint32_t row, track;
    uint64_t bits = word(record, 0);
    VV_TRY(vv_stream_track(stream, &track, error));
    VV_TRY(vv_model_add_counter(model, &row, error));
    model->counters.time_ns[row] = stream->time_ns;
    model->counters.name[row] = record->class->name;
    model->counters.track[row] = track;
    memcpy(&model->counters.value[row], &bits, sizeof bits);
    return VARVE_OK;
}

static enum varve_code read_pair_end(struct vv_stream_reader *stream,
                                     const struct vv_record *record, struct varve_error *error)
{
    uint32_t track;
    VV_TRY(vv_stream_track(stream, &track, error));
    struct vv_pair_end end = {
        .id = word(record, 0),
        .ticks = stream->ticks,
        .time_ns = stream->time_ns,
        .name = record->class->name,
        .track = track,
        .source = record->class->source,
        .layer = record->class->layer,
        .kind = (uint8_t)(record->class->action - VV_ACTION_SITE),
    };
    VV_PUSH(&stream->process->pair_ends, end, error);
    return VARVE_OK;
}

static enum varve_code read_cost(struct vv_stream_reader *stream, const struct vv_record *record,
                                 struct varve_error *error)
{
    (void)error;
    stream->process->slow_ns = word(record, 0);
    return VARVE_OK;
}

/* If a collector has several records, the last one counts. */
static enum varve_code read_collector(struct vv_stream_reader *stream,
                                      const struct vv_record *record, struct varve_error *error)
{
    struct vv_process_reader *process = stream->process;
    struct vv_collector said = { .state = high_half(word(record, 0)) };
    size_t i = 0;
    VV_TRY(vv_process_string(process, low_half(word(record, 0)), &said.name, error));
    if (word(record, 1) != 0)
        VV_TRY(vv_process_string(process, word(record, 1), &said.text, error));
    while (i < process->collectors.count && process->collectors.items[i].name != said.name)
        i++;
    if (i == process->collectors.count)
        VV_PUSH(&process->collectors, said, error);
    process->collectors.items[i] = said;
    return VARVE_OK;
}

/* ---- dispatch ---- */

static action *const actions[] = {
    [VV_EVENT_STRING] = read_string,
    [VV_EVENT_CLOCK] = read_clock,
    [VV_EVENT_THREAD] = read_thread,
    [VV_EVENT_PROCESS] = read_process,
    [VV_EVENT_LAYERS] = read_layers,
    [VV_EVENT_BEGIN] = read_begin,
    [VV_EVENT_OP] = vv_op_read,
    [VV_EVENT_STEP_BEGIN] = read_step_begin,
    [VV_EVENT_STEP_END] = read_step_end,
    [VV_EVENT_ALLOC] = read_alloc,
    [VV_EVENT_FREE] = read_free,
    [VV_EVENT_COST] = read_cost,
    [VV_EVENT_CALL] = vv_call_read,
    [VV_EVENT_COLLECTOR] = read_collector,
    [VV_EVENT_END_UNDER] = read_end_under,
    [VV_EVENT_DEVICE_CLOCK] = vv_device_clock_read,
    [VV_EVENT_CLOCK_PAIR] = vv_clock_pair_read,
    [VV_EVENT_TRACK] = vv_track_read,
    [VV_EVENT_ACTIVITY] = vv_activity_read,
    [VV_EVENT_LAUNCH] = vv_launch_read,
    [VV_EVENT_TRACE_MARK] = vv_trace_mark_read,
    [VV_EVENT_TRACE_POINT] = vv_trace_point_read,
    [VV_EVENT_ARGS] = vv_args_read,
    [VV_EVENT_COLLECTIVE] = vv_collective_read,
    [VV_EVENT_OPERATOR] = vv_operator_read,
    [VV_EVENT_TEXTS] = vv_texts_read,
    [VV_EVENT_IDENTITIES] = vv_identities_read,
    [VV_EVENT_OUTPUTS] = vv_outputs_read,
    [VV_EVENT_KERNEL] = vv_kernel_read,
    [VV_EVENT_COUNTER_NAME] = vv_counter_name_read,
    [VV_EVENT_COUNTS] = vv_counts_read,
    [VV_EVENT_DEVICE_COUNTER] = vv_device_counter_read,
    [VV_EVENT_PAST_RANGE] = vv_past_range_read,
    [VV_EVENT_PAST_NOTE] = vv_past_note_read,
    [VV_EVENT_GRAPH] = vv_graph_read,
    [VV_EVENT_NODE] = vv_node_read,
    [VV_EVENT_NODE_TENSORS] = vv_node_tensors_read,
    [VV_EVENT_NODE_TEXT] = vv_node_text_read,
    [VV_EVENT_EDGE] = vv_edge_read,
    [VV_EVENT_PLACEMENT] = vv_placement_read,
    [VV_EVENT_MODEL] = vv_model_read,
    [VV_EVENT_MODEL_EVENT] = vv_model_event_read,
    [VV_EVENT_EXECUTE] = vv_execute_read,
    [VV_EVENT_TASK] = vv_task_read,
    [VV_ACTION_SITE + VV_KIND_MARK] = read_mark,
    [VV_ACTION_SITE + VV_KIND_COUNTER] = read_counter,
    [VV_ACTION_SITE + VV_KIND_ASYNC_BEGIN] = read_pair_end,
    [VV_ACTION_SITE + VV_KIND_ASYNC_END] = read_pair_end,
    [VV_ACTION_SITE + VV_KIND_FLOW_OUT] = read_pair_end,
    [VV_ACTION_SITE + VV_KIND_FLOW_IN] = read_pair_end,
    [VV_ACTION_PASS] = NULL,
};

enum varve_code vv_record_read(struct vv_stream_reader *stream, const struct vv_record *record,
                               struct varve_error *error)
{
    action *read = actions[record->class->action];
    return read == NULL ? VARVE_OK : read(stream, record, error);
}

size_t vv_record_words(const struct vv_process_reader *process, const struct vv_event_class *class,
                       const uint64_t *words, size_t count)
{
    size_t bytes;
    if (class->action < VV_EVENT_BUILTIN_COUNT)
        return vv_record_length(words, count);
    struct vv_bytes rest = { (const unsigned char *)(words + 1), (count - 1) * 8 };
    const struct vv_field_type *fields = process->metadata->classes[class->row].fields;
    return vv_field_type_measure(fields, rest, &bytes) ? 1 + (bytes + 7) / 8 : 0;
}
