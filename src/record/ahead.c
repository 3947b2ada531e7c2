/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ahead.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/os.h"
#include "record/recorder.h"

#define LEAD_BYTES (UINT64_C(512) << 10) /* more, and the kernel writes pages back before they are used */
#define STACK_BYTES (256u << 10)
#define IDLE_S 2

/* What the helper is doing, or did last. */
static struct {
    bool busy;
    char path[VV_STREAM_PATH_BYTES];
    uint8_t *map;
    uint64_t offset, bytes;
    uint64_t unmap_bytes; /* the owner has left this mapping meanwhile: unmap so much of it         */
} job;

static bool has_helper;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;

static bool is_short(const struct vv_stream *stream)
{
    return stream->map != NULL && vv_stream_is_busy(stream) && stream->retry_ticks == 0 &&
           stream->backed_bytes < stream->part_bytes &&
           stream->backed_bytes - stream->position < VV_PACKET_BYTES + LEAD_BYTES;
}

static bool take_job(void)
{
    for (struct vv_thread *thread = vv_session.threads; thread != NULL; thread = thread->next) {
        const struct vv_stream *stream = &thread->stream;
        if (!is_short(stream))
            continue;
        uint64_t left = stream->part_bytes - stream->backed_bytes;
        memcpy(job.path, stream->path, sizeof job.path);
        job.map = stream->map;
        job.offset = stream->backed_bytes;
        job.bytes = left < LEAD_BYTES ? left : LEAD_BYTES;
        job.unmap_bytes = 0;
        job.busy = true;
        return true;
    }
    return false;
}

/* The stream may have moved on to another part, or have ended. On failure its owner will try by itself,
 * and count. */
static void give_result(int failure)
{
    uint64_t end = job.offset + job.bytes;
    job.busy = false;
    if (job.unmap_bytes != 0) {
        vv_os_unmap(job.map, job.unmap_bytes);
        return;
    }
    for (struct vv_thread *thread = vv_session.threads; thread != NULL; thread = thread->next) {
        struct vv_stream *stream = &thread->stream;
        if (stream->map == job.map && failure == 0 && stream->backed_bytes < end)
            stream->backed_bytes = end;
        else if (stream->map == job.map && failure != 0)
            stream->window_bytes = VV_PACKET_BYTES; /* no longer busy */
    }
}

static void *help(void *nothing)
{
    (void)nothing;
    pthread_setname_np(pthread_self(), "varve");
    pthread_mutex_lock(&vv_record_lock);
    for (bool woken = true;;) {
        if (take_job()) {
            pthread_mutex_unlock(&vv_record_lock);
            int failure = vv_os_back(job.path, job.map, job.offset, job.bytes);
            pthread_mutex_lock(&vv_record_lock);
            give_result(failure);
            woken = true;
            continue;
        }
        if (!woken)
            break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += IDLE_S;
        woken = pthread_cond_timedwait(&wanted, &vv_record_lock, &until) == 0;
    }
    has_helper = false;
    pthread_mutex_unlock(&vv_record_lock);
    return NULL;
}

/* All signals stay with the program's own threads. */
static bool start_helper(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, former;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &all, &former);
    bool started = pthread_create(&thread, &attributes, help, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void vv_ahead_want(struct vv_stream *stream)
{
    if (!is_short(stream))
        return;
    if (has_helper)
        pthread_cond_signal(&wanted);
    else
        has_helper = start_helper();
}

bool vv_ahead_is_at(const uint8_t *map)
{
    return job.busy && job.map == map;
}

void vv_ahead_unmap(uint8_t *map, uint64_t bytes)
{
    if (vv_ahead_is_at(map))
        job.unmap_bytes = bytes;
    else
        vv_os_unmap(map, bytes);
}

void vv_ahead_forked(void)
{
    pthread_cond_init(&wanted, NULL);
    has_helper = false;
    if (job.busy && job.unmap_bytes != 0)
        vv_os_unmap(job.map, job.unmap_bytes);
    job.busy = false;
}
