/* SPDX-License-Identifier: Apache-2.0 */
/* slice.c — the parts of a slice outside its own columns: an operator, device work, ends of flows,
 * a step. */
#include "import/xspace/event.h"
#include "varve/varve.h"

static enum varve_code add_late(struct vv_xspace_event *event, uint32_t row,
                                enum vv_xspace_role role, struct varve_error *error)
{
    struct vv_xspace_chunk *chunk = event->chunk;
    VV_TRY(vv_array_reserve(&chunk->late.items, &chunk->late.capacity, chunk->late.count + 1,
                            sizeof *chunk->late.items, error));
    chunk->late.items[chunk->late.count++] =
        (struct vv_xspace_late){ row, (uint32_t)event->values.items[role],
                                 role == VV_XSPACE_SOURCE };
    return VARVE_OK;
}

static enum varve_code add_op(struct vv_xspace_event *event, uint32_t slice,
                              struct varve_error *error)
{
    struct vv_model *model = event->rows;
    const struct vv_xspace_shape *shape = &event->kind->shape;
    bool has_own_shape = vv_xspace_has(&event->values, VV_XSPACE_SHAPE),
         is_shape = shape->text != 0;
    uint32_t op, collective = VV_NONE;
    if (event->kind->op != VV_NONE && (event->values.set & VV_XSPACE_OP_ROLES) == 0) {
        model->slices.op[slice] = event->kind->op;
        return VARVE_OK;
    }
    if (has_own_shape)
        VV_TRY(vv_xspace_is_shape(event->chunk, (uint32_t)event->values.items[VV_XSPACE_SHAPE],
                                  &is_shape, error));
    if (event->kind->collective != 0) {
        VV_TRY(vv_model_add_collective(model, &collective, error));
        model->collectives.name[collective] = event->kind->collective;
    } else if (!is_shape && !has(event, VV_XSPACE_FLOPS) && !has(event, VV_XSPACE_BYTES_ACCESSED)) {
        return VARVE_OK;
    }
    VV_TRY(vv_model_add_op(model, &op, error));
    model->slices.op[slice] = VV_XSPACE_OWN_ROWS + op;
    model->ops.flop[op] = (uint64_t)item(event, VV_XSPACE_FLOPS, 0);
    model->ops.bytes[op] = (uint64_t)item(event, VV_XSPACE_BYTES_ACCESSED, 0);
    model->ops.collective[op] = collective;
    if (has_own_shape && is_shape)
        return add_late(event, op, VV_XSPACE_SHAPE, error);
    if (is_shape) {
        model->ops.shapes[op] = shape->text;
        model->ops.first_tensor[op] = shape->first_tensor;
        model->ops.tensor_count[op] = shape->tensor_count;
    }
    return VARVE_OK;
}

static enum vv_activity_kind work_kind(const struct vv_xspace_event *event)
{
    const struct vv_xspace_segment *segment = event->segment;
    enum vv_activity_kind kind =
        segment->word != NULL ? segment->word->activity : segment->plane->word->activity;
    if (kind == VV_ACTIVITY_ANNOTATION)
        return kind;
    if (event->kind->event_class == VV_XSPACE_COPY || has(event, VV_XSPACE_COPY_DETAILS))
        return VV_ACTIVITY_COPY;
    if (event->kind->event_class == VV_XSPACE_SET || has(event, VV_XSPACE_SET_DETAILS))
        return VV_ACTIVITY_SET;
    return kind;
}

static enum varve_code add_activity(struct vv_xspace_event *event, uint32_t slice,
                                    enum vv_activity_kind kind, struct varve_error *error)
{
    struct vv_model *model = event->rows;
    uint32_t row;
    VV_TRY(vv_model_add_activity(model, &row, error));
    model->slices.activity[slice] = row;
    model->activities.slice[row] = slice;
    model->activities.kind[row] = (uint8_t)kind;
    model->activities.correlation[row] = (uint64_t)item(event, VV_XSPACE_CORRELATION, 0);
    model->activities.context[row] = item(event, VV_XSPACE_CONTEXT, -1);
    if (has(event, VV_XSPACE_COPY_DETAILS) || has(event, VV_XSPACE_SET_DETAILS)) {
        uint64_t bytes = vv_xspace_details_bytes(text(event, VV_XSPACE_COPY_DETAILS));
        model->activities.bytes[row] =
            bytes != 0 ? bytes : vv_xspace_details_bytes(text(event, VV_XSPACE_SET_DETAILS));
    }
    if (kind != VV_ACTIVITY_CALL) {
        model->activities.device[row] = event->segment->plane->device;
        model->activities.stream[row] = event->segment->line_id;
    }
    uint32_t op = model->slices.op[slice];
    if (op != VV_NONE && op >= VV_XSPACE_OWN_ROWS)
        model->activities.collective[row] = model->ops.collective[op - VV_XSPACE_OWN_ROWS];
    return VARVE_OK;
}

static enum varve_code add_end(struct vv_xspace_event *event, const struct vv_xspace_end *end,
                               struct varve_error *error)
{
    struct vv_xspace_sink *sink = &event->chunk->sink;
    VV_TRY(vv_array_reserve(&sink->ends.items, &sink->ends.capacity, sink->ends.count + 1,
                            sizeof *sink->ends.items, error));
    sink->ends.items[sink->ends.count++] = *end;
    return VARVE_OK;
}

static enum varve_code add_flow_ends(struct vv_xspace_event *event, uint32_t slice,
                                     struct varve_error *error)
{
    struct vv_xspace_end end = { .slice = slice };
    if (has(event, VV_XSPACE_PRODUCER)) {
        end.id = (uint64_t)item(event, VV_XSPACE_PRODUCER, 0);
        end.type = (uint8_t)item(event, VV_XSPACE_PRODUCER_TYPE, 0);
        end.is_out = true;
        VV_TRY(add_end(event, &end, error));
    }
    if (has(event, VV_XSPACE_CONSUMER)) {
        end.id = (uint64_t)item(event, VV_XSPACE_CONSUMER, 0);
        end.type = (uint8_t)item(event, VV_XSPACE_CONSUMER_TYPE, 0);
        end.is_out = false;
        end.is_in = true;
        VV_TRY(add_end(event, &end, error));
    }
    if (has(event, VV_XSPACE_FLOW)) {
        uint64_t flow = (uint64_t)item(event, VV_XSPACE_FLOW, 0);
        end.is_in = (flow & 1) != 0;
        end.is_out = (flow & 2) != 0;
        end.id = flow >> 2 & ((UINT64_C(1) << 56) - 1);
        end.type = (uint8_t)(flow >> 58);
        end.is_flow = true;
        VV_TRY(add_end(event, &end, error));
    }
    return VARVE_OK;
}

/* The number in the step's name; otherwise that of its statistics; otherwise its number among the
 * line's events. */
static int64_t step_index(const struct vv_xspace_event *event)
{
    if (event->segment->word != NULL && event->kind->is_number)
        return event->kind->number;
    return item(event, VV_XSPACE_STEP, item(event, VV_XSPACE_GROUP, event->order));
}

static enum varve_code add_step(struct vv_xspace_event *event, uint32_t slice,
                                struct varve_error *error)
{
    struct vv_model *model = event->rows;
    uint32_t row;
    VV_TRY(vv_model_add_step(model, &row, error));
    model->steps.index[row] = step_index(event);
    model->steps.begin_ns[row] = event->begin_ns;
    model->steps.duration_ns[row] = event->duration_ns;
    model->steps.track[row] = event->segment->track;
    model->slices.flags[slice] |= VV_SLICE_STEP;
    model->slices.layer[slice] = VARVE_LAYER_STEP;
    return VARVE_OK;
}

enum varve_code vv_xspace_slice_columns(struct vv_xspace_event *event, uint32_t slice,
                                        struct varve_error *error)
{
    static const uint32_t flow_roles = UINT32_C(1) << VV_XSPACE_FLOW |
                                       UINT32_C(1) << VV_XSPACE_PRODUCER |
                                       UINT32_C(1) << VV_XSPACE_CONSUMER;
    const struct vv_xspace_segment *segment = event->segment;
    struct vv_slices *slices = &event->rows->slices;
    uint32_t set = event->values.set | event->kind->values.set;
    slices->category[slice] = (uint32_t)item(event, VV_XSPACE_CATEGORY, 0);
    slices->source[slice] = event->kind->source;
    if (vv_xspace_has(&event->values, VV_XSPACE_SOURCE))
        VV_TRY(add_late(event, slice, VV_XSPACE_SOURCE, error));
    VV_TRY(add_op(event, slice, error));
    if (event->is_device) {
        enum vv_activity_kind kind = work_kind(event);
        if (event->kind->collective != 0 && kind != VV_ACTIVITY_ANNOTATION)
            slices->layer[slice] = VARVE_LAYER_COMM;
        VV_TRY(add_activity(event, slice, kind, error));
    } else if (has(event, VV_XSPACE_CORRELATION)) {
        slices->layer[slice] = VARVE_LAYER_RUNTIME;
        VV_TRY(add_activity(event, slice, VV_ACTIVITY_CALL, error));
    } else if (has(event, VV_XSPACE_HLO_OP)) {
        slices->layer[slice] = VARVE_LAYER_OP;
    }
    bool is_root = item(event, VV_XSPACE_ROOT, 0) != 0 && has(event, VV_XSPACE_GROUP);
    if ((segment->word != NULL && segment->word->is_steps) ||
        (!event->is_device && (has(event, VV_XSPACE_STEP) || is_root)))
        VV_TRY(add_step(event, slice, error));
    return (set & flow_roles) != 0 ? add_flow_ends(event, slice, error) : VARVE_OK;
}
