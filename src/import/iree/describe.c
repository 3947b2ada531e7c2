/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c — what a bundle says of devices, functions, commands and clocks. */
#include <stdlib.h>
#include <string.h>

#include "import/iree/iree.h"
#include "varve/varve.h"

#define HAS_TICK 1u
#define HAS_BRACKET 8u

/* The begin of a producer's name, and what it runs on. */
static const struct { const char *prefix; uint32_t kind; } producers[] = {
    { "local", VARVE_DEVICE_KIND_CPU },
    { "cuda", VARVE_DEVICE_KIND_CUDA },
    { "hip", VARVE_DEVICE_KIND_CUDA },
    { "amdgpu", VARVE_DEVICE_KIND_CUDA },
};

static uint32_t kind_of(const char *producer)
{
    for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
        if (strncmp(producer, producers[i].prefix, strlen(producers[i].prefix)) == 0)
            return producers[i].kind;
    return VARVE_DEVICE_KIND_OTHER;
}

uint32_t vv_iree_device_id(const struct vv_iree *iree, uint32_t device)
{
    uint32_t kind = kind_of(vv_intern_text(&iree->model->strings, iree->producer));
    return VARVE_DEVICE(kind, device == VV_IREE_NONE ? 0 : device & 0xffff);
}

enum varve_code vv_iree_take_device(struct vv_iree *iree, struct vv_bytes item, uint64_t offset,
                                    struct varve_error *error)
{
    struct vv_devices *devices = &iree->model->devices;
    uint32_t id = vv_iree_device_id(iree, vv_iree_u32(item, 8)), *place, row;
    const struct vv_row_key key = { { id, 0, 0, VV_IREE_KEY_DEVICE } };
    bool is_new;
    (void)offset;
    VV_TRY(vv_row_map_at(&iree->rows, &key, &place, &is_new, error));
    if (!is_new)
        return VARVE_OK;
    VV_TRY(vv_model_add_device(iree->model, &row, error));
    *place = row;
    devices->device[row] = id;
    devices->scope[row] = iree->job->scope;
    devices->name[row] = iree->producer;
    return VARVE_OK;
}

/* The name is at the end of the struct. */
enum varve_code vv_iree_take_function(struct vv_iree *iree, struct vv_bytes item, uint64_t offset,
                                      struct varve_error *error)
{
    const struct vv_row_key key = { { (int64_t)iree->session, (int64_t)vv_iree_u64(item, 8),
                                      vv_iree_u32(item, 16), VV_IREE_KEY_FUNCTION } };
    uint32_t bytes = vv_iree_u32(item, 44), name, *place;
    bool is_new;
    if (bytes > item.length - 48)
        return vv_fail_at(error, VARVE_CORRUPT, offset,
                          "a function's name of %u bytes in a struct of %zu", bytes, item.length);
    VV_TRY(vv_model_add_text(iree->model, (const char *)item.data + item.length - bytes, bytes,
                             &name, error));
    VV_TRY(vv_row_map_at(&iree->rows, &key, &place, &is_new, error));
    *place = name;
    return VARVE_OK;
}

/* ---- commands ---- */

enum varve_code vv_iree_take_command(struct vv_iree *iree, struct vv_bytes item, uint64_t offset,
                                     struct varve_error *error)
{
    (void)offset;
    VV_TRY(vv_array_reserve(&iree->commands.items, &iree->commands.capacity,
                            iree->commands.count + 1, sizeof *iree->commands.items, error));
    iree->commands.items[iree->commands.count++] = (struct vv_iree_command){
        .session = iree->session,
        .buffer = vv_iree_u64(item, 16),
        .bytes = vv_iree_u64(item, 88),
        .index = vv_iree_u32(item, 12),
        .type = vv_iree_u32(item, 4),
        .dispatch_index = VV_IREE_NONE,
    };
    return VARVE_OK;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_commands(const void *left, const void *right)
{
    const struct vv_iree_command *a = left, *b = right;
    int order = COMPARE(a->session, b->session);
    order = order != 0 ? order : COMPARE(a->buffer, b->buffer);
    return order != 0 ? order : COMPARE(a->index, b->index);
}

void vv_iree_number_commands(struct vv_iree *iree)
{
    struct vv_iree_command *commands = iree->commands.items;
    uint32_t dispatches = 0;
    if (iree->commands.count == 0)
        return;
    qsort(commands, iree->commands.count, sizeof *commands, compare_commands);
    for (size_t i = 0; i < iree->commands.count; i++) {
        bool is_first = i == 0 || commands[i].session != commands[i - 1].session ||
                        commands[i].buffer != commands[i - 1].buffer;
        dispatches = is_first ? 0 : dispatches;
        if (commands[i].type == VV_IREE_DISPATCH)
            commands[i].dispatch_index = dispatches++;
    }
}

const struct vv_iree_command *vv_iree_command_of(const struct vv_iree *iree, uint64_t session,
                                                 uint64_t buffer, uint32_t index)
{
    const struct vv_iree_command wanted = { .session = session, .buffer = buffer, .index = index };
    return iree->commands.count == 0 ? NULL
                                     : bsearch(&wanted, iree->commands.items, iree->commands.count,
                                               sizeof wanted, compare_commands);
}

/* ---- clocks ---- */

static enum varve_code find_clock(struct vv_iree *iree, uint32_t device,
                                  struct vv_device_clock **out_clock, struct varve_error *error)
{
    const struct vv_row_key key = { { (int64_t)iree->session, device, 0, VV_IREE_KEY_CLOCK } };
    uint32_t *place;
    bool is_new;
    VV_TRY(vv_array_reserve(&iree->clocks.items, &iree->clocks.capacity, iree->clocks.count + 1,
                            sizeof *iree->clocks.items, error));
    VV_TRY(vv_row_map_at(&iree->rows, &key, &place, &is_new, error));
    if (is_new) {
        *place = (uint32_t)iree->clocks.count;
        iree->clocks.items[iree->clocks.count++] = (struct vv_device_clock){ 0 };
    }
    *out_clock = &iree->clocks.items[*place];
    return VARVE_OK;
}

/* The device's clock said its tick between two readings of the host's clock. */
enum varve_code vv_iree_take_clock(struct vv_iree *iree, struct vv_bytes item, uint64_t offset,
                                   struct varve_error *error)
{
    uint32_t flags = vv_iree_u32(item, 4);
    int64_t begin_ns = (int64_t)vv_iree_u64(item, 56), end_ns = (int64_t)vv_iree_u64(item, 64);
    uint64_t tick = vv_iree_u64(item, 24);
    struct vv_device_clock *clock;
    (void)offset;
    if ((flags & HAS_TICK) == 0 || (flags & HAS_BRACKET) == 0 || tick > INT64_MAX ||
        !vv_is_instant(begin_ns) || !vv_is_instant(end_ns) || end_ns < begin_ns)
        return VARVE_OK;
    VV_TRY(find_clock(iree, vv_iree_u32(item, 8), &clock, error));
    int64_t half_ns = (end_ns - begin_ns) / 2;
    return vv_device_clock_pair(clock, (int64_t)tick, begin_ns + half_ns, (uint64_t)half_ns, error);
}

bool vv_iree_tick_ns(const struct vv_iree *iree, uint32_t device, uint64_t tick, int64_t *out_ns)
{
    const struct vv_row_key key = { { (int64_t)iree->session, device, 0, VV_IREE_KEY_CLOCK } };
    uint32_t clock;
    return tick <= INT64_MAX && vv_row_map_find(&iree->rows, &key, &clock) &&
           iree->clocks.items[clock].pairs.count > 1 &&
           vv_device_clock_ns(&iree->clocks.items[clock], (int64_t)tick, out_ns);
}
