/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/flight_recorder.h"

#include <stdio.h>

#include "base/system/os.h"
#include "record/stream/recorder.h"

#define SLAB_ENTRIES 256u
#define PARTS_KEPT 16u /* about the number of parts that are kept, whatever is asked for */
#define SMALLEST_PART_BYTES VV_PACKET_BYTES
#define LARGEST_PART_BYTES (UINT64_C(4) << 20)
#define TIMED_PART_BYTES (UINT64_C(1) << 20)

struct entry {
    struct entry *next;
    uint64_t instance, bytes, left_ns;
    uint32_t part;
};

/* Guarded by the recorder's lock. */
static uint64_t keep_bytes, keep_ns;
static struct entry *oldest, *newest, *unused;
static uint32_t generation;

static bool is_on(void)
{
    return keep_bytes != 0 || keep_ns != 0;
}

void vv_ring_begin(uint64_t bytes, uint64_t ns)
{
    keep_bytes = bytes;
    keep_ns = ns;
    generation++;
    if (newest != NULL) {
        newest->next = unused;
        unused = oldest;
    }
    oldest = newest = NULL;
}

uint64_t vv_ring_part_bytes(void)
{
    if (!is_on())
        return UINT64_MAX;
    if (keep_bytes == 0)
        return TIMED_PART_BYTES;
    uint64_t bytes = keep_bytes / PARTS_KEPT;
    bytes -= bytes % VV_PACKET_BYTES;
    if (bytes < SMALLEST_PART_BYTES)
        return SMALLEST_PART_BYTES;
    return bytes < LARGEST_PART_BYTES ? bytes : LARGEST_PART_BYTES;
}

uint32_t vv_ring_generation(void)
{
    return generation;
}

static struct entry *take_entry(void)
{
    if (unused == NULL) {
        struct entry *slab = vv_os_reserve(SLAB_ENTRIES * sizeof *slab);
        for (unsigned i = 0; slab != NULL && i < SLAB_ENTRIES; i++) {
            slab[i].next = unused;
            unused = &slab[i];
        }
    }
    struct entry *entry = unused;
    if (entry != NULL)
        unused = entry->next;
    return entry;
}

void vv_ring_leave(uint32_t its_generation, uint64_t instance, uint32_t part, uint64_t bytes)
{
    if (!is_on() || its_generation != generation)
        return;
    struct entry *entry = take_entry();
    if (entry == NULL) /* then the part is never removed */
        return;
    *entry = (struct entry){ NULL, instance, bytes, vv_clock_monotonic_ns(), part };
    if (newest != NULL)
        newest->next = entry;
    else
        oldest = entry;
    newest = entry;
}

uint64_t vv_ring_remove_oldest(void)
{
    char name[VV_STREAM_NAME_BYTES];
    struct entry *entry = oldest;
    if (entry == NULL)
        return 0;
    oldest = entry->next;
    if (oldest == NULL)
        newest = NULL;
    uint64_t bytes = entry->bytes;
    snprintf(name, sizeof name, "thread.%llu.%u", (unsigned long long)entry->instance, entry->part);
    vv_own_remove(&vv_session.folder, name);
    entry->next = unused;
    unused = entry;
    return bytes;
}

uint64_t vv_ring_make_room(uint64_t taken_bytes)
{
    uint64_t freed = 0;
    if (keep_bytes != 0)
        while (oldest != NULL && taken_bytes - freed > keep_bytes)
            freed += vv_ring_remove_oldest();
    if (keep_ns != 0)
        for (uint64_t now_ns = vv_clock_monotonic_ns();
             oldest != NULL && now_ns - oldest->left_ns > keep_ns;)
            freed += vv_ring_remove_oldest();
    return freed;
}
