/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c — device work with times, on a track for each stream. Only records of DPUs have times of
 * their tasks; which kernel it is says the record of the launch. */
#include "profapi/tasks.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "profapi/names.h"
#include "profapi/clock.h"
#include "varve/device.h"

#define STREAMS_MAX 1024u
#define KERNELS_MAX 4096u /* a task whose launch was more tasks ago is called by its type        */

static struct stream { uint32_t key, track; } streams[STREAMS_MAX];
static uint32_t stream_count;
static struct kernel { uint64_t task, kernel; } kernels[KERNELS_MAX];
static pthread_mutex_t tasks_lock = PTHREAD_MUTEX_INITIALIZER;

const char *vv_task_name(char *text, uint64_t type)
{
    static const char *const names[] = {
        "AI_CORE", "AI_CPU", "AIV", "WRITE_BACK", "MIX_AIC", "MIX_AIV", "FFTS_PLUS", "DSA", "DVPP",
        "HCCL", "FUSION", "INVALID",
    };
    if (type < sizeof names / sizeof *names)
        return names[type];
    snprintf(text, VV_TASK_NAME_BYTES, "%llu", (unsigned long long)type);
    return text;
}

static uint64_t correlation_of(struct vv_task task)
{
    return ((uint64_t)task.device + 1) << 48 | (uint64_t)task.stream << 32 | task.number;
}

uint64_t vv_task_launched(struct vv_task task, uint64_t kernel)
{
    uint64_t correlation = correlation_of(task);
    pthread_mutex_lock(&tasks_lock);
    kernels[task.number % KERNELS_MAX] = (struct kernel){ correlation, kernel };
    pthread_mutex_unlock(&tasks_lock);
    return correlation;
}

static uint64_t kernel_of(uint64_t correlation)
{
    pthread_mutex_lock(&tasks_lock);
    const struct kernel found = kernels[(uint32_t)correlation % KERNELS_MAX];
    pthread_mutex_unlock(&tasks_lock);
    return found.task == correlation ? found.kernel : 0;
}

static uint32_t add_track(struct vv_task task)
{
    char name[32];
    struct varve_error error;
    const struct varve_track_info info = {
        .struct_size = sizeof info,
        .clock = vv_record_clock(),
        .name = name,
        .device = VARVE_DEVICE(VARVE_DEVICE_KIND_OTHER, task.device & 0xfffu),
        .context = -1,
        .stream = task.stream,
    };
    uint32_t track;
    snprintf(name, sizeof name, "stream %u", task.stream);
    return varve_track_add(&info, &track, &error) == VARVE_OK ? track : 0;
}

/* 0 = there is no room; then Varve counts the work as lost. */
static uint32_t track_of(struct vv_task task)
{
    const uint32_t key = (uint32_t)task.device << 16 | task.stream;
    uint32_t at = 0, track = 0;
    pthread_mutex_lock(&tasks_lock);
    while (at < stream_count && streams[at].key != key)
        at++;
    if (at == stream_count && at < STREAMS_MAX && (track = add_track(task)) != 0)
        streams[stream_count++] = (struct stream){ key, track };
    if (at < stream_count)
        track = streams[at].track;
    pthread_mutex_unlock(&tasks_lock);
    return track;
}

void vv_task_ran(struct vv_task task, uint32_t type, int64_t begin, int64_t end)
{
    char text[VV_TASK_NAME_BYTES];
    uint64_t correlation = correlation_of(task), kernel = kernel_of(correlation);
    const char *name = kernel != 0 ? vv_hash_text(kernel) : NULL;
    if ((varve_layers() & VARVE_LAYER_DEVICE) == 0)
        return;
    const struct varve_activity_info info = {
        .struct_size = sizeof info,
        .track = track_of(task),
        .name = name != NULL ? name : vv_task_name(text, type),
        .kind = VARVE_ACTIVITY_KERNEL,
        .begin = begin,
        .end = end,
        .correlation = correlation,
    };
    varve_activity(&info);
}

/* A child has one thread, and its parent's may have held the lock. */
static void after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&tasks_lock, &fresh, sizeof tasks_lock);
}

__attribute__((constructor)) static void on_load(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork);
}
