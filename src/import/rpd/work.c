/* SPDX-License-Identifier: Apache-2.0 */
/* work.c — device work, on a track for each process, GPU and queue. A row names neither its process
 * nor its size; the call that started it does. */
#include "import/rpd/rpd.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>
#include <string.h>

#include "varve/varve.h"

/* The types of work, by what is in their names. The producers are roctracer, rocprofiler-sdk and
 * CUPTI; the last says contexts for queues, and streams for the number in a sequence. */
static const struct { const char *part; enum vv_activity_kind kind; bool is_whole, has_stream; }
    types[] = {
        { "KernelExecution", VV_ACTIVITY_KERNEL, true, false },
        { "Task", VV_ACTIVITY_KERNEL, true, false },
        { "Kernel", VV_ACTIVITY_KERNEL, true, true },
        { "ConcurrentKernel", VV_ACTIVITY_KERNEL, true, true },
        { "Memcpy", VV_ACTIVITY_COPY, true, true },
        { "Memset", VV_ACTIVITY_SET, true, true },
        { "Copy", VV_ACTIVITY_COPY, false, false },
        { "MEMORY_COPY", VV_ACTIVITY_COPY, false, false },
        { "Fill", VV_ACTIVITY_SET, false, false },
        { "Barrier", VV_ACTIVITY_SYNC, false, false },
        { "Marker", VV_ACTIVITY_SYNC, false, false },
};
#define TYPE_COUNT (sizeof types / sizeof *types)

static const char *const categories[] = {
    [VV_ACTIVITY_KERNEL] = "kernel", [VV_ACTIVITY_COPY] = "gpu_memcpy",
    [VV_ACTIVITY_SET] = "gpu_memset", [VV_ACTIVITY_SYNC] = "cuda_sync",
    [VV_ACTIVITY_OTHER] = "rpd_op",
};

struct work {
    enum vv_activity_kind kind;
    bool has_stream;
    uint32_t type, description;
    bool is_all;              /* it is all that its call started                                */
    struct vv_rpd_call *call; /* NULL: no call is said to have started it                       */
};

/* Work of an unknown type is a kernel if it has a kernel's name. */
static void find_kind(const struct vv_model *model, struct work *work)
{
    const char *type = vv_intern_text(&model->strings, work->type);
    bool has_name = vv_intern_text(&model->strings, work->description)[0] != '\0';
    work->kind = has_name ? VV_ACTIVITY_KERNEL : VV_ACTIVITY_OTHER;
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (types[i].is_whole ? strcmp(type, types[i].part) == 0
                              : strstr(type, types[i].part) != NULL) {
            work->kind = types[i].kind;
            work->has_stream = types[i].has_stream;
            return;
        }
}

/* The description, or without one the type. If a copy's type is no direction, the call's is. */
static enum varve_code find_name(struct vv_rpd *rpd, const struct work *work, uint32_t *out_name,
                                 struct varve_error *error)
{
    static const char *const directions[] = { "HtoH", "HtoD", "DtoH", "DtoD" };
    const struct vv_intern *strings = &rpd->model->strings;
    bool is_described = vv_intern_text(strings, work->description)[0] != '\0';
    char name[32];
    *out_name = is_described ? work->description : work->type;
    if (is_described || work->call == NULL || work->call->copy_kind < 0 ||
        strcmp(vv_intern_text(strings, work->type), "Memcpy") != 0)
        return VARVE_OK;
    snprintf(name, sizeof name, "Memcpy %s", directions[work->call->copy_kind & 3]);
    return vv_model_text(rpd->model, name, out_name, error);
}

static enum varve_code find_process(struct vv_rpd *rpd, const struct work *work, int64_t id,
                                    uint32_t *out_process, struct varve_error *error)
{
    const struct vv_model *model = rpd->model;
    if (work->call == NULL || work->call->slice == VV_NONE)
        return vv_rpd_process_of_session(rpd, id == VV_SPAN_ABSENT ? -1 : id, out_process, error);
    *out_process = model->tracks.process[model->slices.track[work->call->slice]];
    return VARVE_OK;
}

static enum varve_code add_activity(struct vv_rpd *rpd, const struct work *work, uint32_t slice,
                                    const struct vv_rpd_queue *queue, struct varve_error *error)
{
    struct vv_activities *activities = &rpd->model->activities;
    uint32_t activity;
    VV_TRY(vv_model_add_activity(rpd->model, &activity, error));
    rpd->model->slices.activity[slice] = activity;
    activities->kind[activity] = (uint8_t)work->kind;
    activities->device[activity] = VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, queue->gpu);
    activities->stream[activity] = queue->stream >= 0 ? queue->stream : queue->queue;
    if (queue->stream >= 0)
        activities->context[activity] = queue->queue;
    if (work->call == NULL)
        return VARVE_OK;
    activities->correlation[activity] = (uint64_t)work->call->id;
    if (work->kind == VV_ACTIVITY_COPY && work->is_all)
        activities->bytes[activity] = work->call->bytes;
    return VARVE_OK;
}

/* What is said of a call holds for its work if that is one piece. */
static enum varve_code add_arguments(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                     const struct work *work, uint32_t slice,
                                     struct varve_error *error)
{
    int sequence = row->columns[VV_RPD_SEQUENCE_ID];
    bool has_details = work->kind == VV_ACTIVITY_KERNEL || work->kind == VV_ACTIVITY_COPY;
    if (has_details && work->is_all)
        VV_TRY(vv_rpd_share_details(rpd, work->call, slice, error));
    if (rpd->model->slices.name[slice] != work->type)
        VV_TRY(vv_rpd_say(rpd, slice, "opType", work->type, error));
    if (!work->has_stream && vv_rpd_int(row, VV_RPD_SEQUENCE_ID) != 0)
        VV_TRY(vv_rpd_argument(rpd, row, sequence, slice, error));
    return vv_rpd_arguments(rpd, row, slice, error);
}

static enum varve_code take_work(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                 struct varve_error *error)
{
    int64_t id = vv_rpd_int(row, VV_RPD_ID), stream = vv_rpd_int(row, VV_RPD_SEQUENCE_ID);
    struct vv_rpd_queue queue = { vv_rpd_int(row, VV_RPD_GPU), vv_rpd_int(row, VV_RPD_QUEUE), -1 };
    struct vv_span span = { .start_ns = vv_rpd_int(row, VV_RPD_START),
                            .end_ns = vv_rpd_int(row, VV_RPD_END), .layer = VARVE_LAYER_DEVICE };
    struct work work = { .type = vv_rpd_string(rpd, row, VV_RPD_OP_TYPE),
                         .description = vv_rpd_string(rpd, row, VV_RPD_DESCRIPTION) };
    uint32_t process, slice;
    uint32_t index = id == VV_SPAN_ABSENT ? VV_KEY_NONE
                                          : vv_key_map_get(&rpd->work, (uint64_t)id);
    if (index != VV_KEY_NONE) {
        work.call = &rpd->known_calls.items[index];
        work.is_all = work.call->work_count == 1 && !work.call->has_work;
        work.call->has_work = true;
    }
    find_kind(rpd->model, &work);
    queue.gpu = queue.gpu == VV_SPAN_ABSENT ? 0 : queue.gpu;
    queue.queue = queue.queue == VV_SPAN_ABSENT ? 0 : queue.queue;
    if (work.has_stream && stream >= 0)
        queue.stream = stream;
    VV_TRY(find_process(rpd, &work, id, &process, error));
    VV_TRY(vv_rpd_queue(rpd, process, &queue, &span.track, error));
    VV_TRY(find_name(rpd, &work, &span.name, error));
    VV_TRY(vv_model_text(rpd->model, categories[work.kind], &span.category, error));
    VV_TRY(vv_spans_add(&rpd->spans, &span, &slice, error));
    VV_TRY(add_activity(rpd, &work, slice, &queue, error));
    return add_arguments(rpd, row, &work, slice, error);
}

enum varve_code vv_rpd_read_work(struct vv_rpd *rpd, struct varve_error *error)
{
    return vv_rpd_each(rpd, "rocpd_op", take_work, error);
}

#endif
