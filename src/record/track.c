/* SPDX-License-Identifier: Apache-2.0 */
/* track.c — the tables are reserved address space, touched as it is used. Rows are only added, and
 * change only in `serial` and in the last pair. */
#include "record/track.h"

#include <string.h>

#include "base/system/os.h"
#include "record/process_clock.h"
#include "record/process_folder.h"
#include "record/stream/process_stream.h"
#include "record/stream/recorder.h"
#include "record/string.h"
#include "record/text_hash.h"

struct pair {
    int64_t value;
    uint64_t ticks, uncertainty_ns;
};

struct clock_row {
    uint32_t serial; /* of the session that has its record; 0 = none                             */
    bool has_pair;
    uint64_t frequency_hz, resolution_ns;
    struct pair last;
    char name[VARVE_DEVICE_NAME_BYTES];
};

struct track_row {
    uint32_t serial; /* likewise; atomic                                                         */
    uint32_t clock, device;
    int64_t context, stream;
    char name[VARVE_DEVICE_NAME_BYTES];
};

/* Rows 0 .. count - 1; the counts are atomic. Number of a track: row + 1. */
static struct clock_row *clocks;
static struct track_row *tracks;
static uint32_t clock_count, track_count;

static void copy_name(char *to, const char *from)
{
    uint32_t length = vv_text_cut(from, VARVE_DEVICE_NAME_BYTES - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

uint32_t vv_device_clock_keep(const struct varve_clock_info *info)
{
    if (clocks == NULL)
        clocks = vv_os_reserve(VARVE_DEVICE_CLOCKS_MAX * sizeof *clocks);
    if (clocks == NULL || clock_count == VARVE_DEVICE_CLOCKS_MAX)
        return 0;
    struct clock_row *row = &clocks[clock_count];
    row->frequency_hz = info->frequency_hz != 0 ? info->frequency_hz : UINT64_C(1000000000);
    row->resolution_ns = info->resolution_ns;
    copy_name(row->name, info->name);
    __atomic_store_n(&clock_count, clock_count + 1, __ATOMIC_RELEASE);
    return VV_DEVICE_CLOCK_FIRST + clock_count - 1;
}

uint32_t vv_track_keep(const struct varve_track_info *info)
{
    if (tracks == NULL)
        tracks = vv_os_reserve(VARVE_DEVICE_TRACKS_MAX * sizeof *tracks);
    if (tracks == NULL || track_count == VARVE_DEVICE_TRACKS_MAX)
        return 0;
    struct track_row *row = &tracks[track_count];
    row->clock = info->clock;
    row->device = info->device;
    row->context = info->context;
    row->stream = info->stream;
    copy_name(row->name, info->name);
    __atomic_store_n(&track_count, track_count + 1, __ATOMIC_RELEASE);
    return track_count;
}

bool vv_device_clock_is_there(uint32_t clock)
{
    return clock - VV_DEVICE_CLOCK_FIRST < __atomic_load_n(&clock_count, __ATOMIC_ACQUIRE);
}

bool vv_track_is_there(uint32_t track)
{
    return track - 1 < __atomic_load_n(&track_count, __ATOMIC_ACQUIRE);
}

bool vv_track_is_in(uint32_t track, uint32_t serial)
{
    return __atomic_load_n(&tracks[track - 1].serial, __ATOMIC_ACQUIRE) == serial;
}

/* ---- records ---- */

static bool put_pair(uint32_t clock, const struct pair *pair)
{
    const uint64_t record[] = { VV_EVENT_CLOCK_PAIR, clock, (uint64_t)pair->value, pair->ticks,
                                pair->uncertainty_ns };
    return vv_process_stream_put(record, 5);
}

/* Writes the clock's record into this session, with the last pair that is known. */
static bool write_clock(uint32_t clock)
{
    struct clock_row *row = &clocks[clock - VV_DEVICE_CLOCK_FIRST];
    if (row->serial == vv_session.serial)
        return true;
    uint64_t name = vv_string_id(row->name);
    const uint64_t record[] = { VV_EVENT_DEVICE_CLOCK, name << 32 | clock, row->frequency_hz,
                                row->resolution_ns };
    if (name == 0 || !vv_process_stream_put(record, 4) ||
        (row->has_pair && !put_pair(clock, &row->last)))
        return false;
    row->serial = vv_session.serial;
    return true;
}

bool vv_device_clock_met(uint32_t clock, int64_t value, uint64_t ticks, uint64_t uncertainty_ns)
{
    struct clock_row *row = &clocks[clock - VV_DEVICE_CLOCK_FIRST];
    row->last = (struct pair){ value, ticks, uncertainty_ns };
    row->has_pair = true;
    if (varve_layers() == 0 || !vv_process_folder_ensure())
        return true;
    return row->serial == vv_session.serial ? put_pair(clock, &row->last) : write_clock(clock);
}

bool vv_track_write(uint32_t track)
{
    struct track_row *row = &tracks[track - 1];
    if (row->serial == vv_session.serial)
        return true;
    if (row->clock >= VV_DEVICE_CLOCK_FIRST && !write_clock(row->clock))
        return false;
    uint64_t name = vv_string_id(row->name);
    const uint64_t record[] = { VV_EVENT_TRACK, name << 32 | track,
                                (uint64_t)row->device << 32 | row->clock, (uint64_t)row->context,
                                (uint64_t)row->stream };
    if (name == 0 || !vv_process_stream_put(record, 5))
        return false;
    if (row->clock == VARVE_CLOCK_MONOTONIC_RAW)
        vv_process_clock_want_raw();
    __atomic_store_n(&row->serial, vv_session.serial, __ATOMIC_RELEASE);
    return true;
}
