/* SPDX-License-Identifier: Apache-2.0 */
/* spans.c — makes slices of the spans of a bundle: numbers the dispatches, finds tracks on which
 * nothing overlaps, and says what is known of each. */
#include <stdio.h>
#include <stdlib.h>

#include "import/iree/iree.h"
#include "import/rows/extent.h"
#include "varve/varve.h"

#define LANES_MAX 64u /* beyond, spans of a queue lie over one another                            */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static const struct {
    const char *name;
    enum vv_activity_kind kind;
} types[VV_IREE_TYPE_COUNT] = {
    [0] = { "operation", VV_ACTIVITY_OTHER },
    [VV_IREE_BARRIER] = { "barrier", VV_ACTIVITY_OTHER },
    [VV_IREE_DISPATCH] = { "dispatch", VV_ACTIVITY_KERNEL },
    [VV_IREE_EXECUTE] = { "execute", VV_ACTIVITY_OTHER },
    [VV_IREE_COPY] = { "copy", VV_ACTIVITY_COPY },
    [VV_IREE_FILL] = { "fill", VV_ACTIVITY_SET },
    [VV_IREE_UPDATE] = { "update", VV_ACTIVITY_COPY },
    [VV_IREE_READ] = { "read", VV_ACTIVITY_COPY },
    [VV_IREE_WRITE] = { "write", VV_ACTIVITY_COPY },
    [VV_IREE_ALLOCA] = { "alloca", VV_ACTIVITY_OTHER },
    [VV_IREE_DEALLOCA] = { "dealloca", VV_ACTIVITY_OTHER },
    [VV_IREE_HOST_CALL] = { "host call", VV_ACTIVITY_OTHER },
};

static const struct {
    const char *category, *track;
    uint16_t layer;
    uint8_t track_kind;
} roles[VV_IREE_ROLE_COUNT] = {
    [VV_IREE_WORK] = { "dispatch", "queue", VARVE_LAYER_DEVICE, VV_TRACK_DEVICE },
    [VV_IREE_OPERATION] = { "queue operation", "operations of queue", VARVE_LAYER_RUNTIME,
                            VV_TRACK_ASYNC },
    [VV_IREE_SUBMISSION] = { "queue submission", "submissions to queue", VARVE_LAYER_RUNTIME,
                             VV_TRACK_ASYNC },
};

/* ---- tracks ---- */

enum varve_code vv_iree_track(struct vv_iree *iree, const struct vv_iree_span *of, uint32_t lane,
                              uint32_t *out_track, struct varve_error *error)
{
    const struct vv_row_key key = { { (int64_t)((uint64_t)of->device << 32 | of->queue), lane,
                                      of->role, VV_IREE_KEY_TRACK } };
    struct vv_tracks *tracks = &iree->model->tracks;
    uint32_t *place, track;
    char text[80];
    bool is_new;
    VV_TRY(vv_row_map_at(&iree->rows, &key, &place, &is_new, error));
    if (is_new) {
        VV_TRY(vv_model_add_track(iree->model, &track, error));
        *place = track;
        tracks->process[track] = iree->process;
        tracks->kind[track] = roles[of->role].track_kind;
        tracks->tid[track] = of->queue == VV_IREE_NONE ? -1 : (int64_t)of->queue;
        tracks->device[track] =
            of->role == VV_IREE_WORK ? vv_iree_device_id(iree, of->device) : VV_NONE;
        int length = snprintf(text, sizeof text, "device %d %s %d", (int)of->device,
                              roles[of->role].track, (int)of->queue);
        if (lane > 0)
            snprintf(text + length, sizeof text - (size_t)length, ", lane %u", lane + 1);
        VV_TRY(vv_model_text(iree->model, text, &tracks->name[track], error));
    }
    *out_track = *place;
    return VARVE_OK;
}

/* ---- the place of a dispatch among those of its command buffer ---- */

static int compare_dispatches(const void *left, const void *right)
{
    const struct vv_iree_span *a = left, *b = right;
    int order = COMPARE(a->session, b->session);
    order = order != 0 ? order : COMPARE(a->device, b->device);
    order = order != 0 ? order : COMPARE(a->queue, b->queue);
    order = order != 0 ? order : COMPARE(a->submission, b->submission);
    order = order != 0 ? order : COMPARE(a->command_buffer, b->command_buffer);
    order = order != 0 ? order : COMPARE(a->command_index, b->command_index);
    order = order != 0 ? order : COMPARE(a->start_ns, b->start_ns);
    return order != 0 ? order : COMPARE(a->row, b->row);
}

static bool is_same_execution(const struct vv_iree_span *a, const struct vv_iree_span *b)
{
    return a->session == b->session && a->device == b->device && a->queue == b->queue &&
           a->submission == b->submission && a->command_buffer == b->command_buffer;
}

/* The commands say it if the bundle describes them. Otherwise it is the order within the
 * submission; a command that ran twice counts once. */
static void number_dispatches(struct vv_iree *iree)
{
    struct vv_iree_span *spans = iree->spans.items, *last = NULL;
    uint32_t next = 0;
    qsort(spans, iree->spans.count, sizeof *spans, compare_dispatches);
    for (size_t i = 0; i < iree->spans.count; i++) {
        struct vv_iree_span *span = &spans[i];
        if (span->type != VV_IREE_DISPATCH || span->role != VV_IREE_WORK ||
            span->command_buffer == 0)
            continue;
        bool is_first = last == NULL || !is_same_execution(last, span);
        bool is_again = !is_first && span->command_index != VV_IREE_NONE &&
                        span->command_index == last->command_index;
        next = is_first ? 0 : next + !is_again;
        const struct vv_iree_command *command = vv_iree_command_of(
            iree, span->session, span->command_buffer, span->command_index);
        span->dispatch_index = command != NULL ? command->dispatch_index : next;
        last = span;
    }
}

/* ---- slices ---- */

static enum varve_code say(struct vv_iree *iree, uint32_t slice, const char *key, uint64_t value,
                           struct varve_error *error)
{
    uint32_t word;
    VV_TRY(vv_model_text(iree->model, key, &word, error));
    return vv_attribute_to_slice(iree->model, slice, word,
                                 vv_attribute_int((int64_t)(value & INT64_MAX)), error);
}

static enum varve_code say_three(struct vv_iree *iree, uint32_t slice, const char *key,
                                 const uint32_t values[3], struct varve_error *error)
{
    struct vv_attribute attribute = { VV_ARG_JSON, 0 };
    uint32_t word, string;
    char text[40];
    if (values[0] == 0 || values[1] == 0 || values[2] == 0)
        return VARVE_OK;
    snprintf(text, sizeof text, "[%u,%u,%u]", values[0], values[1], values[2]);
    VV_TRY(vv_model_text(iree->model, key, &word, error));
    VV_TRY(vv_model_text(iree->model, text, &string, error));
    attribute.value = string;
    return vv_attribute_to_slice(iree->model, slice, word, attribute, error);
}

static enum varve_code add_arguments(struct vv_iree *iree, const struct vv_iree_span *span,
                                     uint32_t slice, struct varve_error *error)
{
    bool has_function = span->function != VV_IREE_NONE;
    const struct {
        const char *key;
        uint64_t value;
        bool is_said;
    } numbers[] = {
        { "command_index", span->command_index, span->command_index != VV_IREE_NONE },
        { "dispatch_index", span->dispatch_index, span->dispatch_index != VV_IREE_NONE },
        { "command_buffer", span->command_buffer, span->command_buffer != 0 },
        { "executable", span->executable, span->executable != 0 },
        { "function", span->function, has_function },
        { "allocation", span->allocation, span->allocation != 0 },
        { "bytes", span->bytes, span->bytes != 0 && span->role != VV_IREE_WORK },
        { "operations", span->operations, span->type == VV_IREE_EXECUTE },
        { "tiles", span->tiles, span->tiles != 0 },
        { "tile_ns", (uint64_t)span->tile_ns, span->tiles != 0 && span->tile_ns >= 0 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].is_said)
            VV_TRY(say(iree, slice, numbers[i].key, numbers[i].value, error));
    VV_TRY(say_three(iree, slice, "grid", span->groups, error));
    return say_three(iree, slice, "block", span->group_size, error);
}

/* A number for each submission, since queues may count alike. */
static enum varve_code find_launch(struct vv_iree *iree, const struct vv_iree_span *span,
                                   uint64_t *out_correlation, struct varve_error *error)
{
    const struct vv_row_key key = { { (int64_t)span->session,
                                      (int64_t)((uint64_t)span->device << 32 | span->queue),
                                      (int64_t)span->submission, VV_IREE_KEY_LAUNCH } };
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_row_map_at(&iree->rows, &key, &place, &is_new, error));
    if (is_new)
        *place = (uint32_t)++iree->launches;
    *out_correlation = *place;
    return VARVE_OK;
}

static enum varve_code add_activity(struct vv_iree *iree, const struct vv_iree_span *span,
                                    uint32_t slice, struct varve_error *error)
{
    struct vv_activities *activities = &iree->model->activities;
    const struct vv_iree_command *command;
    uint32_t row;
    VV_TRY(vv_model_add_activity(iree->model, &row, error));
    iree->model->slices.activity[slice] = row;
    activities->kind[row] = (uint8_t)(span->role == VV_IREE_SUBMISSION ? VV_ACTIVITY_CALL
                                                                       : types[span->type].kind);
    if (span->submission != 0)
        VV_TRY(find_launch(iree, span, &activities->correlation[row], error));
    if (span->role != VV_IREE_WORK)
        return VARVE_OK;
    command = vv_iree_command_of(iree, span->session, span->command_buffer, span->command_index);
    activities->device[row] = vv_iree_device_id(iree, span->device);
    activities->stream[row] = span->queue == VV_IREE_NONE ? -1 : (int64_t)span->queue;
    activities->bytes[row] = span->bytes != 0 || command == NULL ? span->bytes : command->bytes;
    return VARVE_OK;
}

/* A dispatch has its function's name. */
static enum varve_code find_name(struct vv_iree *iree, const struct vv_iree_span *span,
                                 uint32_t *out_name, struct varve_error *error)
{
    const struct vv_row_key key = { { (int64_t)span->session, (int64_t)span->executable,
                                      span->function, VV_IREE_KEY_FUNCTION } };
    char text[64];
    if (span->type == VV_IREE_DISPATCH && vv_row_map_find(&iree->rows, &key, out_name))
        return VARVE_OK;
    snprintf(text, sizeof text, "%s%s", span->role == VV_IREE_SUBMISSION ? "submit " : "",
             types[span->type].name);
    return vv_model_text(iree->model, text, out_name, error);
}

static enum varve_code add_slice(struct vv_iree *iree, const struct vv_iree_span *span,
                                 uint32_t lane, struct varve_error *error)
{
    struct vv_slices *slices = &iree->model->slices;
    const char *category =
        span->role == VV_IREE_WORK ? types[span->type].name : roles[span->role].category;
    uint32_t track, slice;
    VV_TRY(vv_iree_track(iree, span, lane, &track, error));
    VV_TRY(vv_model_add_slice(iree->model, &slice, error));
    VV_TRY(find_name(iree, span, &slices->name[slice], error));
    VV_TRY(vv_model_text(iree->model, category, &slices->category[slice], error));
    slices->begin_ns[slice] = span->start_ns;
    slices->duration_ns[slice] = span->end_ns - span->start_ns;
    slices->track[slice] = track;
    slices->layer[slice] = roles[span->role].layer;
    slices->order[slice] = slice;
    vv_extent_take(iree->model, iree->process, span->start_ns, span->end_ns);
    if (span->role != VV_IREE_OPERATION)
        VV_TRY(add_activity(iree, span, slice, error));
    return add_arguments(iree, span, slice, error);
}

/* ---- in order of time ---- */

static int compare_places(const void *left, const void *right)
{
    const struct vv_iree_span *a = left, *b = right;
    int order = COMPARE(a->role, b->role);
    order = order != 0 ? order : COMPARE(a->device, b->device);
    order = order != 0 ? order : COMPARE(a->queue, b->queue);
    order = order != 0 ? order : COMPARE(a->start_ns, b->start_ns);
    order = order != 0 ? order : COMPARE(b->end_ns, a->end_ns);
    return order != 0 ? order : COMPARE(a->row, b->row);
}

/* The first lane that is free at `start_ns`. */
static uint32_t find_lane(int64_t ends_ns[LANES_MAX], uint32_t *lanes,
                          const struct vv_iree_span *span)
{
    uint32_t lane = 0;
    while (lane < *lanes && ends_ns[lane] > span->start_ns && lane < LANES_MAX - 1)
        lane++;
    if (lane == *lanes)
        ends_ns[(*lanes)++] = span->end_ns;
    else if (span->end_ns > ends_ns[lane])
        ends_ns[lane] = span->end_ns;
    return lane;
}

enum varve_code vv_iree_place_spans(struct vv_iree *iree, struct varve_error *error)
{
    const struct vv_iree_span *spans = iree->spans.items;
    int64_t ends_ns[LANES_MAX];
    uint32_t lanes = 0;
    if (iree->spans.count == 0)
        return VARVE_OK;
    number_dispatches(iree);
    qsort(iree->spans.items, iree->spans.count, sizeof *spans, compare_places);
    for (size_t i = 0; i < iree->spans.count; i++) {
        if (i == 0 || spans[i].role != spans[i - 1].role ||
            spans[i].device != spans[i - 1].device || spans[i].queue != spans[i - 1].queue)
            lanes = 0;
        VV_TRY(add_slice(iree, &spans[i], find_lane(ends_ns, &lanes, &spans[i]), error));
    }
    return VARVE_OK;
}
