/* SPDX-License-Identifier: Apache-2.0 */
/* legacy.c — LegacyEvent: a phase of the Chrome Trace Event format inside a track event, with ids
 * of asynchronous tracks and flows. A thread other than the sequence's is named by process and
 * thread id. */
#include <stdlib.h>

#include "import/perfetto/perfetto.h"

#define DURATION_MAX_NS (INT64_C(1) << 60)

struct legacy {
    uint64_t phase, id, bind_id, flow_direction;
    int64_t duration_us, pid, tid;
    uint32_t name, scope;
    bool has_id, is_local, has_bind_id, has_pid, has_tid;
};

static enum varve_code read_fields(struct vv_perfetto *reader,
                                   const struct vv_perfetto_sequence *sequence,
                                   struct vv_protobuf *message, struct legacy *legacy,
                                   struct varve_error *error)
{
    while (vv_protobuf_next(message)) {
        uint32_t name;
        switch (message->number) {
        case VV_LEGACYEVENT_NAME_IID:
            name = vv_key_map_get(&sequence->interned[VV_PERFETTO_EVENT_NAMES], message->value);
            legacy->name = name == VV_KEY_NONE ? 0 : name;
            break;
        case VV_LEGACYEVENT_PHASE:
            legacy->phase = message->value;
            break;
        case VV_LEGACYEVENT_DURATION_US:
            legacy->duration_us = (int64_t)message->value;
            break;
        case VV_LEGACYEVENT_UNSCOPED_ID:
        case VV_LEGACYEVENT_LOCAL_ID:
        case VV_LEGACYEVENT_GLOBAL_ID:
            legacy->has_id = true;
            legacy->is_local = message->number == VV_LEGACYEVENT_LOCAL_ID;
            legacy->id = message->value;
            break;
        case VV_LEGACYEVENT_ID_SCOPE:
            VV_TRY(vv_perfetto_text(reader, message, &legacy->scope, error));
            break;
        case VV_LEGACYEVENT_BIND_ID:
            legacy->has_bind_id = true;
            legacy->bind_id = message->value;
            break;
        case VV_LEGACYEVENT_FLOW_DIRECTION:
            legacy->flow_direction = message->value;
            break;
        case VV_LEGACYEVENT_PID_OVERRIDE:
            legacy->has_pid = true;
            legacy->pid = (int64_t)message->value;
            break;
        case VV_LEGACYEVENT_TID_OVERRIDE:
            legacy->has_tid = true;
            legacy->tid = (int64_t)message->value;
            break;
        default:
            break;
        }
    }
    return vv_protobuf_end(message, error);
}

/* There is one track for each id and scope; if the id is local, one for each process too. */
static enum varve_code find_async_track(struct vv_perfetto *reader, const struct legacy *legacy,
                                        int64_t pid, struct vv_perfetto_event *event,
                                        struct varve_error *error)
{
    uint64_t hash =
        legacy->id * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)legacy->scope << 32 ^ event->category;
    uint32_t parent;
    if (legacy->is_local)
        hash ^= (uint64_t)pid * UINT64_C(0xc2b2ae3d27d4eb4f);
    hash ^= hash >> 31;
    VV_TRY(vv_perfetto_thread_track(reader, pid, -1, &parent, error));
    reader->tracks[parent].has_thread = false;
    reader->tracks[parent].has_process = true;
    VV_TRY(vv_perfetto_track(reader, hash | UINT64_C(1) << 63, &event->track, error));
    struct vv_perfetto_track *track = &reader->tracks[event->track];
    track->has_parent = true;
    track->parent = reader->tracks[parent].uuid;
    if (track->name == 0)
        track->name = event->name;
    return VARVE_OK;
}

/* Sets the event's kind from the phase. False: this phase is not read. */
static bool set_kind(const struct legacy *legacy, struct vv_perfetto_event *event)
{
    switch (legacy->phase) {
    case 'B':
    case 'b':
    case 'S':
        event->kind = VV_PERFETTO_BEGIN;
        return true;
    case 'E':
    case 'e':
    case 'F':
        event->kind = VV_PERFETTO_END;
        return true;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
    case 'T':
        event->kind = VV_PERFETTO_INSTANT;
        return true;
    case 'X':
        event->kind = VV_PERFETTO_COMPLETE;
        return !__builtin_mul_overflow(legacy->duration_us, INT64_C(1000), &event->duration_ns) &&
               event->duration_ns < DURATION_MAX_NS;
    default:
        return false;
    }
}

static bool is_async(uint64_t phase)
{
    return phase == 'b' || phase == 'e' || phase == 'n' || phase == 'S' || phase == 'F' ||
           phase == 'T';
}

enum varve_code vv_perfetto_legacy(struct vv_perfetto *reader,
                                   struct vv_perfetto_sequence *sequence,
                                   struct vv_protobuf message, struct vv_perfetto_event *event,
                                   bool *out_is_read, struct varve_error *error)
{
    struct legacy legacy = { 0 };
    VV_TRY(read_fields(reader, sequence, &message, &legacy, error));
    if (event->name == 0)
        event->name = legacy.name;
    int64_t pid = legacy.has_pid ? legacy.pid : sequence->has_thread ? sequence->pid : 0;
    if (legacy.has_tid || legacy.has_pid)
        VV_TRY(vv_perfetto_thread_track(reader, pid, legacy.has_tid ? legacy.tid : pid,
                                        &event->track, error));
    bool is_flow = legacy.phase == 's' || legacy.phase == 't' || legacy.phase == 'f';
    if (legacy.phase != 0)
        *out_is_read = !is_flow && set_kind(&legacy, event);
    if (legacy.has_id && is_async(legacy.phase))
        VV_TRY(find_async_track(reader, &legacy, pid, event, error));
    if (is_flow)
        return vv_perfetto_flow_end(reader, event, legacy.has_bind_id ? legacy.bind_id : legacy.id,
                                    VV_PERFETTO_LEGACY_FLOW, legacy.phase == 'f', error);
    if (legacy.has_bind_id && legacy.flow_direction != 0)
        return vv_perfetto_flow_end(reader, event, legacy.bind_id, VV_PERFETTO_BIND, false, error);
    return VARVE_OK;
}
