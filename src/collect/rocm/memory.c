/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — what was taken is kept by its address, in a table with open places. What the table
 * has no room for is left out of the sums, when it is taken and when it is given back. */
#include "collect/rocm/memory.h"

#include "collect/gpu/devices.h"
#include "collect/gpu/tracks.h"

#define PLACES 65536u /* a power of two                                                          */

static struct { uint64_t address, bytes; uint32_t device; } taken[PLACES]; /* address 0: free    */
static uint32_t taken_count;
static int64_t sums[VV_GPU_DEVICES];

static uint32_t first_place(uint64_t address)
{
    return (uint32_t)((address >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

/* The place of the address, or the free one where it would stand. */
static uint32_t place_of(uint64_t address)
{
    uint32_t at = first_place(address);
    while (taken[at].address != 0 && taken[at].address != address)
        at = (at + 1) % PLACES;
    return at;
}

/* The places behind move up, so that no search ends too early. */
static void remove_place(uint32_t hole)
{
    taken_count--;
    for (uint32_t at = (hole + 1) % PLACES; taken[at].address != 0; at = (at + 1) % PLACES) {
        uint32_t home = first_place(taken[at].address);
        if ((at - home) % PLACES < (at - hole) % PLACES)
            continue;
        taken[hole] = taken[at];
        hole = at;
    }
    taken[hole].address = 0;
}

static void count(const struct vv_rocm_memory *memory, uint32_t device)
{
    const struct varve_device_counter_info info = {
        sizeof info, vv_gpu_track(device, -1, -1, memory->clock), "device memory (bytes)",
        memory->time, (double)sums[device]
    };
    varve_device_counter(&info);
}

static void take(const struct vv_rocm_memory *memory, uint32_t at)
{
    taken_count += taken[at].address == 0;
    if (taken[at].address != 0) {
        sums[taken[at].device] -= (int64_t)taken[at].bytes;
        if (taken[at].device != memory->device)
            count(memory, taken[at].device);
    }
    taken[at].address = memory->address;
    taken[at].bytes = memory->bytes;
    taken[at].device = memory->device;
    sums[memory->device] += (int64_t)memory->bytes;
    count(memory, memory->device);
}

enum vv_gpu_taken vv_rocm_memory_take(const struct vv_rocm_memory *memory)
{
    enum { TAKE = 1, TAKE_VIRTUAL = 2, GIVE = 3, GIVE_VIRTUAL = 4 };
    uint32_t at = place_of(memory->address);
    bool is_known = taken[at].address != 0;
    if (memory->address == 0 || memory->time == 0)
        return VV_GPU_SHORT;
    if (memory->operation == GIVE || memory->operation == GIVE_VIRTUAL) {
        if (is_known) {
            uint32_t device = taken[at].device;
            sums[device] -= (int64_t)taken[at].bytes;
            remove_place(at);
            count(memory, device);
        }
        return VV_GPU_TAKEN;
    }
    if (memory->operation != TAKE && memory->operation != TAKE_VIRTUAL)
        return VV_GPU_UNKNOWN;
    if (memory->device < VV_GPU_DEVICES) /* otherwise the host's                                 */
        if (is_known || taken_count < PLACES / 2)
            take(memory, at);
    return VV_GPU_TAKEN;
}
