/* SPDX-License-Identifier: Apache-2.0 */
#include "import/varve/records/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocator_counters.h"
#include "base/array.h"
#include "import/rows/key_map.h"
#include "import/varve/records/reader.h"
#include "model/order.h"

#define UNKNOWN INT64_C(-1)
#define BYTES_MOST 4.6e18 /* fits into int64_t                                                    */

struct change {
    uint32_t device;
    int64_t time_ns, reserved_bytes, given_out_bytes;
};

struct holding {
    struct vv_model *model;
    uint32_t first_memory;
    VV_ARRAY_OF(struct change) changes;
    uint64_t *order; /* of changes: by device, then by time; NULL: as they are                    */
    size_t next;     /* change in this order that no event has come up to                         */
    struct vv_key_map live; /* address -> row of its allocation                                   */
};

static int64_t bytes_of(double value)
{
    return value >= 0 && value < BYTES_MOST ? (int64_t)value : UNKNOWN;
}

/* The two counters of a change have one time, and follow one another. */
static enum varve_code find_changes(struct holding *holding, uint32_t first_counter,
                                    struct varve_error *error)
{
    const struct vv_model *model = holding->model;
    const struct vv_counters *counters = &model->counters;
    uint32_t reserved = vv_intern_find(&model->strings, VV_COUNTER_RESERVED,
                                       strlen(VV_COUNTER_RESERVED));
    uint32_t given_out = vv_intern_find(&model->strings, VV_COUNTER_GIVEN_OUT,
                                        strlen(VV_COUNTER_GIVEN_OUT));
    for (uint32_t row = first_counter; row < counters->table.count && reserved != VV_NONE; row++) {
        if (counters->name[row] != reserved || counters->track[row] == VV_NONE)
            continue;
        bool has_both = row > first_counter && counters->name[row - 1] == given_out &&
                        counters->track[row - 1] == counters->track[row] &&
                        counters->time_ns[row - 1] == counters->time_ns[row];
        VV_TRY(vv_array_reserve(&holding->changes.items, &holding->changes.capacity,
                                holding->changes.count + 1, sizeof *holding->changes.items,
                                error));
        holding->changes.items[holding->changes.count++] = (struct change){
            model->tracks.device[counters->track[row]], counters->time_ns[row],
            bytes_of(counters->value[row]),
            has_both ? bytes_of(counters->value[row - 1]) : UNKNOWN,
        };
    }
    return VARVE_OK;
}

static bool change_before(const void *context, uint64_t left, uint64_t right)
{
    const struct holding *holding = context;
    const struct change *a = &holding->changes.items[left], *b = &holding->changes.items[right];
    return a->device != b->device ? a->device < b->device : a->time_ns < b->time_ns;
}

static bool event_before(const void *context, uint64_t left, uint64_t right)
{
    const struct holding *holding = context;
    const struct vv_memory *memory = &holding->model->memory;
    uint64_t a = holding->first_memory + left, b = holding->first_memory + right;
    if (memory->device[a] != memory->device[b])
        return memory->device[a] < memory->device[b];
    return memory->time_ns[a] < memory->time_ns[b];
}

/* By how much the event changes what is given out. False: not known. */
static bool find_bytes(struct holding *holding, uint32_t row, int64_t *out_bytes,
                       enum varve_code *out_code, struct varve_error *error)
{
    const struct vv_memory *memory = &holding->model->memory;
    *out_bytes = memory->bytes[row];
    if (memory->bytes[row] > 0)
        *out_code = vv_key_map_put(&holding->live, memory->address[row], row, error);
    if (memory->bytes[row] != 0)
        return true;
    uint32_t made = vv_key_map_find(&holding->live, memory->address[row]);
    if (made == VV_NONE)
        return false;
    *out_bytes = -memory->bytes[made];
    return true;
}

/* The next change of a device before a time; NULL: there is none. Devices come in ascending
 * order. */
static const struct change *take_change(struct holding *holding, uint32_t device, int64_t until_ns)
{
    for (; holding->next < holding->changes.count; holding->next++) {
        size_t at = holding->order != NULL ? holding->order[holding->next] : holding->next;
        const struct change *change = &holding->changes.items[at];
        if (change->device < device)
            continue;
        if (change->device > device || change->time_ns >= until_ns)
            return NULL;
        holding->next++;
        return change;
    }
    return NULL;
}

/* Events [first, last) of `order` are those of one device. */
static enum varve_code complete(struct holding *holding, const uint64_t *order, uint64_t first,
                                uint64_t last, struct varve_error *error)
{
    struct vv_memory *memory = &holding->model->memory;
    int64_t reserved = UNKNOWN, given_out = UNKNOWN, bytes;
    const struct change *change;
    enum varve_code code = VARVE_OK;
    vv_key_map_clear(&holding->live);
    for (uint64_t i = first; i < last && code == VARVE_OK; i++) {
        uint64_t row = holding->first_memory + (order != NULL ? order[i] : i);
        uint64_t next = holding->first_memory + (order != NULL && i + 1 < last ? order[i + 1]
                                                                               : i + 1);
        int64_t until_ns = i + 1 < last ? memory->time_ns[next] : INT64_MAX;
        bool is_known = find_bytes(holding, (uint32_t)row, &bytes, &code, error);
        if (!is_known || given_out < 0 || __builtin_add_overflow(given_out, bytes, &given_out) ||
            given_out < 0)
            given_out = UNKNOWN;
        while ((change = take_change(holding, memory->device[row], until_ns)) != NULL) {
            reserved = change->reserved_bytes;
            given_out = change->given_out_bytes;
        }
        memory->reserved_bytes[row] = reserved;
        memory->allocated_bytes[row] = given_out;
    }
    return code;
}

enum varve_code vv_held_join(struct vv_process_reader *process, uint32_t first_memory,
                             uint32_t first_counter, struct varve_error *error)
{
    struct holding holding = { .model = process->model, .first_memory = first_memory };
    const struct vv_memory *memory = &process->model->memory;
    uint64_t *order = NULL, count = memory->table.count - first_memory;
    enum varve_code code = find_changes(&holding, first_counter, error);
    if (code == VARVE_OK && holding.changes.count > 0)
        code = vv_order_rows(holding.changes.count, change_before, &holding, &holding.order, error);
    if (code == VARVE_OK && holding.changes.count > 0)
        code = vv_order_rows(count, event_before, &holding, &order, error);
    for (uint64_t first = 0, last; first < count && code == VARVE_OK &&
                                   holding.changes.count > 0; first = last) {
        uint32_t device = memory->device[first_memory + (order != NULL ? order[first] : first)];
        for (last = first; last < count && memory->device[first_memory + (order != NULL
                                                                              ? order[last]
                                                                              : last)] == device;
             last++)
            ;
        code = complete(&holding, order, first, last, error);
    }
    free(order);
    free(holding.order);
    free(holding.changes.items);
    vv_key_map_deinit(&holding.live);
    return code;
}
