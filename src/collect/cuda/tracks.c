/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cuda/tracks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collect/cuda/driver.h"
#include "varve/device.h"

#define TRACKS_MAX 2048u /* a power of two                                                       */
#define CONTEXTS_MAX 256u
#define NAMED_MAX 256u
#define NAME_BYTES 64

static struct {
    bool is_there;
    uint32_t device, clock, track;
    int64_t context, stream;
} tracks[TRACKS_MAX];
static struct { uint32_t context, device; } contexts[CONTEXTS_MAX];
static struct { uint32_t stream; char name[NAME_BYTES]; } named[NAMED_MAX];
static size_t track_count, context_count, named_count;

void vv_cuda_context_is_of(uint32_t context, uint32_t device)
{
    size_t i = 0;
    while (i < context_count && contexts[i].context != context)
        i++;
    if (i == CONTEXTS_MAX)
        return;
    contexts[i].context = context;
    contexts[i].device = device;
    context_count += i == context_count;
}

uint32_t vv_cuda_device_of(uint32_t context)
{
    for (size_t i = 0; i < context_count; i++)
        if (contexts[i].context == context)
            return contexts[i].device;
    return VV_CUDA_NO_DEVICE;
}

void vv_cuda_stream_is_called(uint32_t stream, const char *name)
{
    size_t i = 0;
    while (i < named_count && named[i].stream != stream)
        i++;
    if (i == NAMED_MAX)
        return;
    named[i].stream = stream;
    snprintf(named[i].name, sizeof named[i].name, "%s", name);
    named_count += i == named_count;
}

static void name_track(int64_t stream, char *out, size_t bytes)
{
    if (stream == -1)
        snprintf(out, bytes, "device");
    else if (stream < -1)
        snprintf(out, bytes, "not recorded");
    else
        snprintf(out, bytes, "stream %lld", (long long)stream);
    for (size_t i = 0; i < named_count; i++)
        if (named[i].stream == stream)
            snprintf(out, bytes, "stream %lld: %s", (long long)stream, named[i].name);
}

static uint32_t add(uint32_t device, int64_t context, int64_t stream, uint32_t clock)
{
    char name[NAME_BYTES + 32];
    uint32_t track;
    vv_cuda_device_seen(device);
    name_track(stream, name, sizeof name);
    const struct varve_track_info info = {
        sizeof info, clock, name, VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, device), 0, context,
        stream < 0 ? -1 : stream
    };
    return varve_track_add(&info, &track, NULL) == VARVE_OK ? track : 0;
}

uint32_t vv_cuda_track(uint32_t device, int64_t context, int64_t stream, uint32_t clock)
{
    uint64_t hash = ((uint64_t)stream * 31 + (uint64_t)context) * 31 + device;
    size_t at = hash % TRACKS_MAX;
    while (tracks[at].is_there &&
           (tracks[at].device != device || tracks[at].context != context ||
            tracks[at].stream != stream || tracks[at].clock != clock))
        at = (at + 1) % TRACKS_MAX;
    if (tracks[at].is_there)
        return tracks[at].track;
    if (track_count == TRACKS_MAX - 1)
        return 0;
    track_count++;
    tracks[at].is_there = true;
    tracks[at].device = device;
    tracks[at].context = context;
    tracks[at].stream = stream;
    tracks[at].clock = clock;
    tracks[at].track = add(device, context, stream, clock);
    return tracks[at].track;
}
