/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — sorts the allocations and releases of all threads by time. Gives each release the size
 * of what it releases: the last allocation at its address, on its device, in its process. */
#include <stdlib.h>

#include "import/rows/row_map.h"
#include "import/varve/process/process.h"
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

/* The rows are in order of time. */
static enum varve_code size_releases(struct vv_model *model, struct vv_row_map *allocations,
                                     struct varve_error *error)
{
    struct vv_memory *memory = &model->memory;
    for (uint32_t row = 0; row < memory->table.count; row++) {
        const struct vv_row_key place = { { process_of(model, row), memory->device[row],
                                            (int64_t)memory->address[row], 0 } };
        uint32_t *last;
        bool is_new;
        VV_TRY(vv_row_map_at(allocations, &place, &last, &is_new, error));
        if (is_new)
            *last = VV_NONE;
        if (memory->bytes[row] > 0) {
            *last = row;
            continue;
        }
        memory->bytes[row] = *last == VV_NONE ? 0 : -memory->bytes[*last];
        *last = VV_NONE;
    }
    return VARVE_OK;
}

enum varve_code vv_memory_join(struct vv_model *model, struct varve_error *error)
{
    struct vv_row_map allocations = { 0 };
    uint64_t *order;
    VV_TRY(vv_order_rows(model->memory.table.count, before_in_time, model, &order, error));
    if (order != NULL) {
        enum varve_code code = vv_model_permute(model, VV_TABLE_MEMORY, order, error);
        free(order);
        VV_TRY(code);
    }
    enum varve_code code = size_releases(model, &allocations, error);
    vv_row_map_deinit(&allocations);
    return code;
}
