/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c — the clocks of a trace. A snapshot gives the times of several clocks at one instant.
 * Between two snapshots all clocks are assumed to run equally fast, so the last snapshot before an
 * event counts. */
#include <stdlib.h>

#include "base/array.h"
#include "base/binary_search.h"
#include "import/perfetto/perfetto.h"

#define OWN_FIRST 64u  /* the first id of a sequence's own clocks                               */
#define OWN_LAST 127u
#define HOPS_MAX 3u
#define SNAPSHOTS_MAX 16u /* snapshots to search, before and after, for one that has both clocks */
#define BETWEEN_MAX 64u   /* clocks that are tried as a way between two others                   */
#define TIME_MAX_NS (INT64_C(1) << 61)

uint64_t vv_perfetto_clock_key(uint64_t clock_id, uint32_t sequence_id)
{
    bool is_own = clock_id >= OWN_FIRST && clock_id <= OWN_LAST;
    return is_own ? (uint64_t)sequence_id << 32 | clock_id << 1 : clock_id << 1 | 1;
}

static struct vv_perfetto_clock *find(struct vv_perfetto_clocks *clocks, uint64_t key)
{
    uint32_t item = vv_key_map_get(&clocks->ids, key);
    return item == VV_KEY_NONE ? NULL : &clocks->items[item];
}

/* ---- snapshots ---- */

struct shown {
    uint64_t clock_id, timestamp, multiplier_ns;
    bool is_incremental;
};

static enum varve_code read_clock(struct vv_protobuf *message, struct shown *out,
                                  struct varve_error *error)
{
    *out = (struct shown){ .multiplier_ns = 1 };
    while (vv_protobuf_next(message)) {
        if (message->number > VV_CLOCK_UNIT_MULTIPLIER_NS)
            continue;
        VV_TRY(vv_protobuf_expect(message, VV_WIRE_VARINT, "a clock's field", error));
        switch (message->number) {
        case VV_CLOCK_CLOCK_ID:
            out->clock_id = message->value;
            break;
        case VV_CLOCK_TIMESTAMP:
            out->timestamp = message->value;
            break;
        case VV_CLOCK_IS_INCREMENTAL:
            out->is_incremental = message->value != 0;
            break;
        default:
            out->multiplier_ns = message->value != 0 ? message->value : 1;
            break;
        }
    }
    return vv_protobuf_end(message, error);
}

static enum varve_code add_reading(struct vv_perfetto_clocks *clocks, uint64_t key,
                                   const struct shown *shown, struct varve_error *error)
{
    struct vv_perfetto_clock *clock = find(clocks, key);
    uint64_t time;
    if (__builtin_mul_overflow(shown->timestamp, shown->multiplier_ns, &time) ||
        time >= (uint64_t)TIME_MAX_NS)
        return VARVE_OK;
    if (clock == NULL) {
        VV_TRY(vv_array_reserve(&clocks->items, &clocks->capacity, clocks->count + 1,
                                sizeof *clocks->items, error));
        VV_TRY(vv_key_map_put(&clocks->ids, key, (uint32_t)clocks->count, error));
        clock = &clocks->items[clocks->count++];
        *clock = (struct vv_perfetto_clock){ .key = key };
    }
    clock->multiplier_ns = shown->multiplier_ns;
    clock->is_incremental = shown->is_incremental;
    clock->last_ns = (int64_t)time;
    VV_TRY(vv_array_reserve(&clock->readings, &clock->capacity, clock->count + 1,
                            sizeof *clock->readings, error));
    clock->readings[clock->count++] =
        (struct vv_perfetto_reading){ clocks->snapshot_count, (int64_t)time };
    return VARVE_OK;
}

enum varve_code vv_perfetto_snapshot_read(struct vv_perfetto *reader, struct vv_protobuf *snapshot,
                                          uint32_t sequence_id, struct varve_error *error)
{
    struct vv_perfetto_clocks *clocks = &reader->clocks;
    while (vv_protobuf_next(snapshot)) {
        if (snapshot->number == VV_CLOCKSNAPSHOT_CLOCKS) {
            struct vv_protobuf message;
            struct shown shown;
            VV_TRY(vv_protobuf_expect(snapshot, VV_WIRE_BYTES, "a clock", error));
            vv_protobuf_enter(snapshot, &message);
            VV_TRY(read_clock(&message, &shown, error));
            VV_TRY(add_reading(clocks, vv_perfetto_clock_key(shown.clock_id, sequence_id), &shown,
                               error));
        } else if (snapshot->number == VV_CLOCKSNAPSHOT_PRIMARY_TRACE_CLOCK &&
                   snapshot->wire == VV_WIRE_VARINT && snapshot->value != 0) {
            clocks->trace_clock = vv_perfetto_clock_key(snapshot->value, sequence_id);
        }
    }
    clocks->snapshot_count++;
    return vv_protobuf_end(snapshot, error);
}

/* ---- from one clock to another ---- */

/* The clock's reading in a snapshot, or NULL. */
static const struct vv_perfetto_reading *reading_in(const struct vv_perfetto_clock *clock,
                                                    uint32_t snapshot)
{
    size_t at = VV_FIRST_NOT(i, 0, clock->count, clock->readings[i].snapshot < snapshot);
    return at < clock->count && clock->readings[at].snapshot == snapshot ? &clock->readings[at]
                                                                         : NULL;
}

/* The number of readings that are not after `time_ns`. */
static size_t readings_until(const struct vv_perfetto_clock *clock, int64_t time_ns)
{
    return VV_FIRST_NOT(i, 0, clock->count, clock->readings[i].time_ns <= time_ns);
}

/* Converts by the last snapshot before `time_ns` that has both clocks; otherwise by the first after
 * it. */
static bool convert(const struct vv_perfetto_clock *from, const struct vv_perfetto_clock *to,
                    int64_t time_ns, int64_t *out_ns)
{
    size_t until = readings_until(from, time_ns);
    const struct vv_perfetto_reading *own = NULL, *other = NULL;
    size_t last = until < SNAPSHOTS_MAX ? 0 : until - SNAPSHOTS_MAX;
    for (size_t i = until; i-- > last && other == NULL;) {
        own = &from->readings[i];
        other = reading_in(to, own->snapshot);
    }
    for (size_t i = until; i < from->count && i < until + SNAPSHOTS_MAX && other == NULL; i++) {
        own = &from->readings[i];
        other = reading_in(to, own->snapshot);
    }
    if (other == NULL)
        return false;
    *out_ns = other->time_ns + (time_ns - own->time_ns);
    return *out_ns > -TIME_MAX_NS && *out_ns < TIME_MAX_NS;
}

/* Converts through other clocks if no snapshot has both. */
static bool reach(const struct vv_perfetto_clocks *clocks, const struct vv_perfetto_clock *from,
                  const struct vv_perfetto_clock *to, unsigned hops, int64_t *time_ns)
{
    int64_t reached_ns;
    if (convert(from, to, *time_ns, &reached_ns)) {
        *time_ns = reached_ns;
        return true;
    }
    for (size_t i = 0; i < clocks->count && i < BETWEEN_MAX && hops > 1; i++) {
        const struct vv_perfetto_clock *between = &clocks->items[i];
        if (between == from || between == to || !convert(from, between, *time_ns, &reached_ns))
            continue;
        if (reach(clocks, between, to, hops - 1, &reached_ns)) {
            *time_ns = reached_ns;
            return true;
        }
    }
    return false;
}

bool vv_perfetto_time(struct vv_perfetto_clocks *clocks, uint64_t key, uint64_t timestamp,
                      int64_t *out_ns)
{
    struct vv_perfetto_clock *from = find(clocks, key), *to = find(clocks, clocks->trace_clock);
    uint64_t time = timestamp;
    if (from != NULL && __builtin_mul_overflow(timestamp, from->multiplier_ns, &time))
        return false;
    if (time >= (uint64_t)TIME_MAX_NS)
        return false;
    *out_ns = (int64_t)time;
    if (from != NULL && from->is_incremental) {
        *out_ns += from->last_ns;
        if (*out_ns >= TIME_MAX_NS)
            return false;
        from->last_ns = *out_ns;
    }
    if (key == clocks->trace_clock)
        return true;
    return from != NULL && to != NULL && reach(clocks, from, to, HOPS_MAX, out_ns);
}

int64_t vv_perfetto_epoch_offset(struct vv_perfetto_clocks *clocks)
{
    const struct vv_perfetto_clock *trace = find(clocks, clocks->trace_clock);
    const struct vv_perfetto_clock *real =
        find(clocks, vv_perfetto_clock_key(VV_PERFETTO_REALTIME, 0));
    if (trace == NULL || real == NULL || trace == real)
        return 0;
    int64_t time_ns = trace->readings[0].time_ns;
    return reach(clocks, trace, real, HOPS_MAX, &time_ns) ? time_ns - trace->readings[0].time_ns
                                                          : 0;
}

void vv_perfetto_clocks_deinit(struct vv_perfetto_clocks *clocks)
{
    for (size_t i = 0; i < clocks->count; i++)
        free(clocks->items[i].readings);
    free(clocks->items);
    vv_key_map_deinit(&clocks->ids);
    *clocks = (struct vv_perfetto_clocks){ 0 };
}
