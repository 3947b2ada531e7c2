/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — sorts the allocations and releases of all threads by time. Gives each release the size
 * of what it releases: the last allocation at its address, on its device, in its process. */
#include <stdlib.h>

#include "import/varve/process.h"
#include "model/columns.h"
#include "model/order.h"

static uint32_t process_of(const struct vv_model *model, uint64_t row)
{
    return model->tracks.process[model->memory.track[row]];
}

static bool before_in_time(const void *context, uint64_t a, uint64_t b)
{
    const struct vv_model *model = context;
    if (process_of(model, a) != process_of(model, b))
        return process_of(model, a) < process_of(model, b);
    return model->memory.time_ns[a] < model->memory.time_ns[b];
}

/* The rows are in order of time; rows that are equal here keep that order. */
static bool before_at_place(const void *context, uint64_t a, uint64_t b)
{
    const struct vv_model *model = context;
    const struct vv_memory *memory = &model->memory;
    if (process_of(model, a) != process_of(model, b))
        return process_of(model, a) < process_of(model, b);
    if (memory->device[a] != memory->device[b])
        return memory->device[a] < memory->device[b];
    return memory->address[a] < memory->address[b];
}

static void size_releases(struct vv_model *model, const uint64_t *order)
{
    struct vv_memory *memory = &model->memory;
    uint64_t former = 0;
    int64_t held_bytes = 0;
    for (uint64_t i = 0; i < memory->table.count; i++) {
        uint64_t row = order == NULL ? i : order[i];
        if (i == 0 || before_at_place(model, former, row))
            held_bytes = 0;
        if (memory->bytes[row] > 0) {
            held_bytes = memory->bytes[row];
        } else {
            memory->bytes[row] = -held_bytes;
            held_bytes = 0;
        }
        former = row;
    }
}

enum varve_code vv_memory_join(struct vv_model *model, struct varve_error *error)
{
    uint64_t *order;
    VV_TRY(vv_order_rows(model->memory.table.count, before_in_time, model, &order, error));
    if (order != NULL) {
        enum varve_code code = vv_model_permute(model, VV_TABLE_MEMORY, order, error);
        free(order);
        VV_TRY(code);
    }
    VV_TRY(vv_order_rows(model->memory.table.count, before_at_place, model, &order, error));
    size_releases(model, order);
    free(order);
    return VARVE_OK;
}
