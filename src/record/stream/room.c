/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stream/room.h"

#include "base/system/clock.h"
#include "record/stream/recorder.h"

#define LOOK_EVERY_NS UINT64_C(100000000)
#define REFUSED_FOR_NS UINT64_C(1000000) /* meanwhile smaller windows are refused, too */
#define UNKNOWN_BYTES (INT64_MAX / 2)    /* used if the folder cannot be reached */

/* Guarded by the recorder's lock. */
static uint64_t reserve_bytes, looked_ns;
static int64_t left_bytes;    /* may be taken before the file system is asked again              */
static int64_t granted_bytes; /* left_bytes when the file system was last asked                  */
static bool was_refused;
static int (*on_refusal)(void);

void vv_room_begin(const struct vv_own_folder *folder, const struct vv_reserve *reserve,
                   int (*refused)(void))
{
    uint64_t free_bytes = 0, total_bytes = 0;
    vv_room_forked();
    on_refusal = refused;
    reserve_bytes = vv_own_space(folder, &free_bytes, &total_bytes) == 0
                        ? vv_reserve_bytes(reserve, total_bytes, free_bytes)
                        : reserve->bytes;
}

void vv_room_forked(void)
{
    looked_ns = 0;
    left_bytes = granted_bytes = 0;
    was_refused = false;
}

static void ask_file_system(const struct vv_own_folder *folder, uint64_t now_ns)
{
    uint64_t free_bytes, total_bytes;
    looked_ns = now_ns;
    left_bytes = UNKNOWN_BYTES;
    if (vv_own_space(folder, &free_bytes, &total_bytes) == 0)
        left_bytes = free_bytes > reserve_bytes ? (int64_t)((free_bytes - reserve_bytes) / 8) : 0;
    granted_bytes = left_bytes;
}

bool vv_room_is_for(const struct vv_own_folder *folder, uint64_t bytes)
{
    if (reserve_bytes == 0)
        return true;
    uint64_t age_ns = vv_clock_monotonic_ns() - looked_ns;
    bool is_short = left_bytes < (int64_t)bytes, is_asked_again = granted_bytes < (int64_t)bytes;
    if (is_short ? !is_asked_again || age_ns > REFUSED_FOR_NS : age_ns > LOOK_EVERY_NS)
        ask_file_system(folder, looked_ns + age_ns);
    if (left_bytes >= (int64_t)bytes) {
        left_bytes -= (int64_t)bytes;
        return true;
    }
    if (bytes > VV_PACKET_BYTES || was_refused)
        return false;
    was_refused = true;
    on_refusal();
    return false;
}

void vv_room_return(uint64_t bytes)
{
    left_bytes += (int64_t)bytes;
}

uint64_t vv_room_kept_bytes(void)
{
    return was_refused ? reserve_bytes : 0;
}
