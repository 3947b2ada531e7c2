/* SPDX-License-Identifier: Apache-2.0 */
/* event.c — what a bundle says happened: executions, submissions, and events of memory. */
#include "import/iree/iree.h"
#include "import/rows/extent.h"
#include "varve/varve.h"

/* Copies and dispatches are device work; what the runtime does on a queue is not. */
static bool is_work(uint32_t type)
{
    return type == VV_IREE_DISPATCH || (type >= VV_IREE_COPY && type <= VV_IREE_WRITE);
}

static enum varve_code keep(struct vv_iree *iree, struct vv_iree_span *span,
                            struct varve_error *error)
{
    if (span->type == 0 || span->type >= VV_IREE_TYPE_COUNT) {
        iree->model->health.ignored++;
        return VARVE_OK;
    }
    if (!vv_is_instant(span->start_ns) || !vv_is_instant(span->end_ns)) {
        iree->model->health.unplaced++;
        return VARVE_OK;
    }
    if (span->end_ns < span->start_ns) {
        span->end_ns = span->start_ns;
        iree->model->health.negative++;
    }
    if (iree->spans.count >= VV_NONE - 1)
        VV_FAIL(error, VARVE_LIMIT, "'%s' has more events than varve can number", iree->job->path);
    if (iree->spans.count == iree->spans.capacity) /* it will double */
        VV_TRY(vv_model_hold(iree->model,
                             vv_model_bytes(iree->model) +
                                 2 * iree->spans.count * sizeof *iree->spans.items,
                             error));
    VV_TRY(vv_array_reserve(&iree->spans.items, &iree->spans.capacity, iree->spans.count + 1,
                            sizeof *iree->spans.items, error));
    span->session = iree->session;
    span->row = (uint32_t)iree->spans.count;
    span->dispatch_index = VV_IREE_NONE;
    iree->spans.items[iree->spans.count++] = *span;
    return VARVE_OK;
}

static void take_groups(struct vv_bytes item, size_t offset, struct vv_iree_span *span)
{
    for (size_t i = 0; i < 3; i++) {
        span->groups[i] = vv_iree_u32(item, offset + 4 * i);
        span->group_size[i] = vv_iree_u32(item, offset + 12 + 4 * i);
    }
}

static uint8_t type_of(uint32_t type)
{
    return type < VV_IREE_TYPE_COUNT ? (uint8_t)type : 0;
}

enum varve_code vv_iree_take_host_execution(struct vv_iree *iree, struct vv_bytes item,
                                            uint64_t offset, struct varve_error *error)
{
    uint32_t type = vv_iree_u32(item, 4);
    struct vv_iree_span span = {
        .type = type_of(type),
        .role = is_work(type) ? VV_IREE_WORK : VV_IREE_OPERATION,
        .submission = vv_iree_u64(item, 24),
        .command_buffer = vv_iree_u64(item, 32),
        .executable = vv_iree_u64(item, 40),
        .allocation = vv_iree_u64(item, 48),
        .device = vv_iree_u32(item, 64),
        .queue = vv_iree_u32(item, 68),
        .command_index = vv_iree_u32(item, 72),
        .function = vv_iree_u32(item, 76),
        .start_ns = (int64_t)vv_iree_u64(item, 104),
        .end_ns = (int64_t)vv_iree_u64(item, 112),
        .bytes = vv_iree_u64(item, 120),
        .tiles = vv_iree_u64(item, 128),
        .tile_ns = (int64_t)vv_iree_u64(item, 136),
        .operations = vv_iree_u32(item, 144),
    };
    (void)offset;
    take_groups(item, 80, &span);
    return keep(iree, &span, error);
}

/* Places what a device's clock measured. Without a pair of clocks it has no instant. */
static enum varve_code keep_ticks(struct vv_iree *iree, struct vv_iree_span *span, uint64_t start,
                                  uint64_t end, struct varve_error *error)
{
    bool is_placed = vv_iree_tick_ns(iree, span->device, start, &span->start_ns) &&
                     vv_iree_tick_ns(iree, span->device, end, &span->end_ns);
    iree->model->health.unplaced += !is_placed;
    return is_placed ? keep(iree, span, error) : VARVE_OK;
}

enum varve_code vv_iree_take_dispatch(struct vv_iree *iree, struct vv_bytes item, uint64_t offset,
                                      struct varve_error *error)
{
    struct vv_iree_span span = {
        .type = VV_IREE_DISPATCH,
        .role = VV_IREE_WORK,
        .submission = vv_iree_u64(item, 16),
        .command_buffer = vv_iree_u64(item, 24),
        .executable = vv_iree_u64(item, 32),
        .command_index = vv_iree_u32(item, 40),
        .function = vv_iree_u32(item, 44),
        .device = iree->device,
        .queue = iree->queue,
    };
    (void)offset;
    take_groups(item, 48, &span);
    return keep_ticks(iree, &span, vv_iree_u64(item, 72), vv_iree_u64(item, 80), error);
}

enum varve_code vv_iree_take_queue_device_event(struct vv_iree *iree, struct vv_bytes item,
                                                uint64_t offset, struct varve_error *error)
{
    uint32_t type = vv_iree_u32(item, 4);
    struct vv_iree_span span = {
        .type = type_of(type),
        .role = is_work(type) ? VV_IREE_WORK : VV_IREE_OPERATION,
        .submission = vv_iree_u64(item, 24),
        .command_buffer = vv_iree_u64(item, 32),
        .allocation = vv_iree_u64(item, 40),
        .bytes = vv_iree_u64(item, 56),
        .device = vv_iree_u32(item, 64),
        .queue = vv_iree_u32(item, 68),
        .operations = vv_iree_u32(item, 72),
        .command_index = VV_IREE_NONE,
        .function = VV_IREE_NONE,
    };
    (void)offset;
    return keep_ticks(iree, &span, vv_iree_u64(item, 80), vv_iree_u64(item, 88), error);
}

/* From the submission until it may run; the latter may be missing. */
enum varve_code vv_iree_take_queue_event(struct vv_iree *iree, struct vv_bytes item,
                                         uint64_t offset, struct varve_error *error)
{
    int64_t begin_ns = (int64_t)vv_iree_u64(item, 24), ready_ns = (int64_t)vv_iree_u64(item, 96);
    struct vv_iree_span span = {
        .type = type_of(vv_iree_u32(item, 4)),
        .role = VV_IREE_SUBMISSION,
        .start_ns = begin_ns,
        .end_ns = ready_ns > begin_ns ? ready_ns : begin_ns,
        .submission = vv_iree_u64(item, 32),
        .command_buffer = vv_iree_u64(item, 40),
        .allocation = vv_iree_u64(item, 48),
        .device = vv_iree_u32(item, 64),
        .queue = vv_iree_u32(item, 68),
        .operations = vv_iree_u32(item, 84),
        .bytes = vv_iree_u64(item, 88),
        .command_index = VV_IREE_NONE,
        .function = VV_IREE_NONE,
    };
    (void)offset;
    return keep(iree, &span, error);
}

/* ---- memory ---- */

/* What a program holds: allocations of queues, and of buffers. Events of pools and slabs are about
 * the same bytes one level below. */
enum { QUEUE_ALLOCA = 7, QUEUE_DEALLOCA, BUFFER_ALLOCATE, BUFFER_FREE };
#define HAS_POOL 16u

enum varve_code vv_iree_take_memory(struct vv_iree *iree, struct vv_bytes item, uint64_t offset,
                                    struct varve_error *error)
{
    struct vv_memory *memory = &iree->model->memory;
    uint32_t type = vv_iree_u32(item, 4), flags = vv_iree_u32(item, 8), row, track;
    uint64_t bytes = vv_iree_u64(item, 104);
    int64_t time_ns = (int64_t)vv_iree_u64(item, 24);
    bool has_pool = (flags & HAS_POOL) != 0 && item.length >= 144;
    const struct vv_iree_span of = { .session = iree->session, .role = VV_IREE_WORK,
                                     .device = vv_iree_u32(item, 64),
                                     .queue = vv_iree_u32(item, 68) };
    (void)offset;
    if (type < QUEUE_ALLOCA || type > BUFFER_FREE)
        return VARVE_OK;
    if (!vv_is_instant(time_ns) || bytes > INT64_MAX) {
        iree->model->health.unplaced++;
        return VARVE_OK;
    }
    bool is_release = type == QUEUE_DEALLOCA || type == BUFFER_FREE;
    VV_TRY(vv_iree_track(iree, &of, 0, &track, error));
    VV_TRY(vv_model_add_memory(iree->model, &row, error));
    memory->time_ns[row] = time_ns;
    memory->address[row] = vv_iree_u64(item, 32);
    memory->bytes[row] = is_release ? -(int64_t)bytes : (int64_t)bytes;
    memory->allocated_bytes[row] = has_pool ? (int64_t)(vv_iree_u64(item, 120) & INT64_MAX) : -1;
    memory->reserved_bytes[row] = has_pool ? (int64_t)(vv_iree_u64(item, 136) & INT64_MAX) : -1;
    memory->fragmentation[row] = -1;
    memory->device[row] = vv_iree_device_id(iree, of.device);
    memory->track[row] = track;
    vv_extent_take(iree->model, iree->process, time_ns, time_ns);
    return VARVE_OK;
}
