/* SPDX-License-Identifier: Apache-2.0 */
#include "device/stream.h"

#include <stdio.h>
#include <string.h>

#include "base/system/os.h"
#include "device/registry.h"
#include "record/stream/recorder.h"
#include "record/track.h"

#define PLACES (2u * VARVE_DEVICE_TRACKS_MAX)

/* Guarded by the recorder's lock, except that rows are found without it: `places` is a hash table
 * of row numbers + 1, each stored after its row is whole. */
static struct vv_stream_row *rows;
static uint32_t row_count;
static uint16_t places[PLACES];
static uint32_t clocks[VARVE_BACKENDS_MAX][VARVE_BACKEND_DEVICES_MAX]; /* 0 = none; atomic      */

static uint32_t first_place(uint32_t slot, uint32_t device, const void *stream)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)stream ^ (uint64_t)device << 48 ^ (uint64_t)slot << 56) *
                     UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 40) % PLACES;
}

/* Returns NULL if there is no such row; *out_place is where its number would stand. */
static struct vv_stream_row *find(uint32_t slot, uint32_t device, const void *stream,
                                  uint32_t *out_place)
{
    uint32_t place = first_place(slot, device, stream), number;
    while ((number = __atomic_load_n(&places[place], __ATOMIC_ACQUIRE)) != 0) {
        struct vv_stream_row *row = &rows[number - 1];
        if (__atomic_load_n(&row->slot, __ATOMIC_RELAXED) == slot && row->device == device &&
            row->stream == stream)
            return row;
        place = (place + 1) % PLACES;
    }
    *out_place = place;
    return NULL;
}

static uint32_t stream_count_of(uint32_t slot, uint32_t device)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row_count; i++)
        count += rows[i].slot == slot && rows[i].device == device;
    return count;
}

static uint32_t keep_clock(uint32_t slot, uint32_t device)
{
    const struct varve_backend *backend = vv_backend_slots[slot].backend;
    if (backend->clock != 0)
        return backend->clock;
    uint32_t *clock = &clocks[slot][device];
    if (*clock != 0)
        return *clock;
    char name[VARVE_DEVICE_NAME_BYTES];
    snprintf(name, sizeof name, "%s %u", vv_backend_slots[slot].name, device);
    const struct varve_clock_info info = { sizeof info, 0, name, 0, backend->resolution_ns };
    __atomic_store_n(clock, vv_device_clock_keep(&info), __ATOMIC_RELEASE);
    return *clock;
}

/* Lock held. The caller is inside the slot's backend. */
static struct vv_stream_row *add(uint32_t slot, uint32_t device, void *stream, const char *name)
{
    uint32_t place;
    struct vv_stream_row *row = find(slot, device, stream, &place);
    if (row != NULL)
        return row;
    if (rows == NULL)
        rows = vv_os_reserve(VARVE_DEVICE_TRACKS_MAX * sizeof *rows);
    if (rows == NULL || row_count == VARVE_DEVICE_TRACKS_MAX)
        return NULL;
    uint32_t ordinal = stream_count_of(slot, device);
    char made[VARVE_DEVICE_NAME_BYTES];
    snprintf(made, sizeof made, "%s stream %u", vv_backend_slots[slot].name, ordinal);
    const struct varve_track_info info = {
        sizeof info, keep_clock(slot, device), name != NULL && *name != '\0' ? name : made,
        VARVE_DEVICE(vv_backend_slots[slot].backend->device_kind, device), 0, -1, ordinal
    };
    uint32_t track = info.clock != 0 ? vv_track_keep(&info) : 0;
    if (track == 0)
        return NULL;
    row = &rows[row_count];
    *row = (struct vv_stream_row){ .slot = slot, .device = device, .stream = stream,
                                   .track = track };
    __atomic_store_n(&row_count, row_count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&places[place], (uint16_t)row_count, __ATOMIC_RELEASE);
    return row;
}

struct vv_stream_row *vv_stream_find(uint32_t slot, uint32_t device, void *stream,
                                     const char *name)
{
    uint32_t place;
    struct vv_stream_row *row = find(slot, device, stream, &place);
    if (row != NULL || device >= VARVE_BACKEND_DEVICES_MAX || !vv_recorder_lock())
        return row;
    row = add(slot, device, stream, name);
    vv_recorder_unlock();
    return row;
}

void vv_streams_each(uint32_t slot, void (*visit)(struct vv_stream_row *row, void *argument),
                     void *argument)
{
    uint32_t count = __atomic_load_n(&row_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t of = __atomic_load_n(&rows[i].slot, __ATOMIC_RELAXED);
        if (of != UINT32_MAX && (slot == UINT32_MAX || slot == of))
            visit(&rows[i], argument);
    }
}

void vv_streams_forget(uint32_t slot)
{
    for (uint32_t i = 0; i < row_count; i++)
        if (rows[i].slot == slot)
            __atomic_store_n(&rows[i].slot, UINT32_MAX, __ATOMIC_RELAXED);
    memset(clocks[slot], 0, sizeof clocks[slot]);
}

uint32_t vv_device_clock_of(uint32_t slot, uint32_t device)
{
    if (device >= VARVE_BACKEND_DEVICES_MAX)
        return 0;
    uint32_t clock = __atomic_load_n(&clocks[slot][device], __ATOMIC_ACQUIRE);
    if (clock != 0 || !vv_recorder_lock())
        return clock;
    clock = keep_clock(slot, device);
    vv_recorder_unlock();
    return clock;
}
