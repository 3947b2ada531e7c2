/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/gpu/tracks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collect/gpu/devices.h"
#include "varve/device.h"

#define TRACKS_MAX 2048u /* a power of two                                                       */
#define STREAMS_MAX (TRACKS_MAX - 4u * VV_GPU_DEVICES) /* a track for each; then they share one   */
#define CONTEXTS 1024u /* known at once; a later one takes the place of an older one             */
#define NAMED_MAX 256u
#define NAME_BYTES 64

static struct {
    bool is_there;
    const char *what;
    uint32_t device, clock, track;
    int64_t context, stream;
} tracks[TRACKS_MAX];
static struct { bool is_known; uint32_t context, device; } contexts[CONTEXTS];
struct names {
    struct { uint32_t number; char name[NAME_BYTES]; } items[NAMED_MAX];
    size_t count;
};
static struct names stream_names, context_names;
static size_t track_count;

void vv_gpu_context_is_of(uint32_t context, uint32_t device)
{
    size_t at = context % CONTEXTS;
    contexts[at].is_known = true;
    contexts[at].context = context;
    contexts[at].device = device;
}

uint32_t vv_gpu_device_of(uint32_t context)
{
    size_t at = context % CONTEXTS;
    return contexts[at].is_known && contexts[at].context == context ? contexts[at].device
                                                                   : VV_GPU_NO_DEVICE;
}

static void call(struct names *names, uint32_t number, const char *name)
{
    size_t i = 0;
    while (i < names->count && names->items[i].number != number)
        i++;
    if (i == NAMED_MAX)
        return;
    names->items[i].number = number;
    snprintf(names->items[i].name, sizeof names->items[i].name, "%s", name);
    names->count += i == names->count;
}

void vv_gpu_stream_is_called(uint32_t stream, const char *name)
{
    call(&stream_names, stream, name);
}

void vv_gpu_context_is_called(uint32_t context, const char *name)
{
    call(&context_names, context, name);
}

/* NULL: the program has given it none. */
static const char *name_of(const struct names *names, int64_t number)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].number == number)
            return names->items[i].name;
    return NULL;
}

/* "stream 7: copies (training)": a context that the program has named stands behind its streams. */
static void name_track(const char *what, int64_t context, int64_t stream, char *out, size_t bytes)
{
    static const char *const others[] = { "device", "not recorded", "unified memory", "copies",
                                          "more streams" };
    const char *said = name_of(&stream_names, stream), *of = name_of(&context_names, context);
    if (stream >= 0)
        snprintf(out, bytes, "%s %lld%s%s%s%s%s", what, (long long)stream,
                 said != NULL ? ": " : "", said != NULL ? said : "", of != NULL ? " (" : "",
                 of != NULL ? of : "", of != NULL ? ")" : "");
    else
        snprintf(out, bytes, "%s", others[-stream - 1]);
}

static uint32_t add(const char *what, uint32_t device, int64_t context, int64_t stream,
                    uint32_t clock)
{
    char name[2 * NAME_BYTES + 32];
    uint32_t track;
    vv_gpu_device_seen(device);
    name_track(what, context, stream, name, sizeof name);
    const struct varve_track_info info = {
        sizeof info, clock, name, VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device), 0, context,
        stream < 0 ? -1 : stream
    };
    return varve_track_add(&info, &track, NULL) == VARVE_OK ? track : 0;
}

uint32_t vv_gpu_track_called(const char *what, uint32_t device, int64_t context, int64_t stream,
                             uint32_t clock)
{
    uint64_t hash = ((uint64_t)stream * 31 + (uint64_t)context) * 31 + device;
    size_t at = hash % TRACKS_MAX;
    while (tracks[at].is_there &&
           (tracks[at].device != device || tracks[at].context != context ||
            tracks[at].stream != stream || tracks[at].clock != clock ||
            strcmp(tracks[at].what, what) != 0))
        at = (at + 1) % TRACKS_MAX;
    if (tracks[at].is_there)
        return tracks[at].track;
    if (track_count >= STREAMS_MAX && stream >= 0)
        return vv_gpu_track_called(what, device, -1, VV_GPU_MORE_STREAMS, clock);
    if (track_count == TRACKS_MAX - 1)
        return 0;
    track_count++;
    tracks[at].is_there = true;
    tracks[at].what = what;
    tracks[at].device = device;
    tracks[at].context = context;
    tracks[at].stream = stream;
    tracks[at].clock = clock;
    tracks[at].track = add(what, device, context, stream, clock);
    return tracks[at].track;
}

uint32_t vv_gpu_track(uint32_t device, int64_t context, int64_t stream, uint32_t clock)
{
    return vv_gpu_track_called("stream", device, context, stream, clock);
}
