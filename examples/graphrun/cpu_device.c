/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_device.c — the machine's cores as a device (device.h).
 *
 * A stream is a queue of tasks; its first one is ready when all that it waits for has run. Workers
 * take blocks of ready tasks, whichever stream these are in, and a task has run when all its blocks
 * have. One more thread runs the collectives, for they wait for other processes.
 *
 * In the trace the workers are a device's cores: their work is told once, as the device's. The
 * calls are named as those of other devices are. An arrow leads from a collective's launch to its
 * run. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <varve/device.h>

#include "../train/buffer.h"
#include "device.h"
#include "kernels.h"
#include "message.h"

#define WORKERS_MAX 64

struct queue {
    int tickets[TASKS_MAX];
    int first, end;
};

struct progress {
    kernel *run;
    uint32_t blocks_taken, blocks_done;
    bool is_done;
};

struct cpu_device {
    struct device base;
    pthread_t threads[WORKERS_MAX + 1]; /* the workers, and the one for collectives */
    int thread_count;
    uint32_t tracks[STREAM_COUNT]; /* Varve's numbers */
    pthread_mutex_t mutex; /* guards what follows, and the tasks' times */
    pthread_cond_t changed;
    struct queue queues[STREAM_COUNT];
    struct progress progress[TASKS_MAX];
    int threads_named;
    int left; /* tasks that have not run yet */
    bool is_stopping, has_failed;
};

static struct varve_site calls[] = {
    [TASK_KERNEL] = VARVE_SITE_INIT("cpuLaunchKernel", VARVE_LAYER_RUNTIME),
    [TASK_FETCH] = VARVE_SITE_INIT("cpuMemcpyAsync", VARVE_LAYER_RUNTIME),
    [TASK_RESULT] = VARVE_SITE_INIT("cpuMemcpyAsync", VARVE_LAYER_RUNTIME),
    [TASK_COLLECTIVE] = VARVE_SITE_INIT("cpuLaunchCollective", VARVE_LAYER_RUNTIME),
    [TASK_TRACE] = VARVE_SITE_INIT("cpuEventRecord", VARVE_LAYER_RUNTIME_L1),
};
VARVE_SITE(collective_arrow, "collective", VARVE_LAYER_RUNTIME_L1);

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct cpu_device *cpu_of(struct device *device)
{
    return (struct cpu_device *)device;
}

/* ---- taking blocks ---- */

static bool is_ready(const struct cpu_device *device, int ticket)
{
    const struct task *task = &device->base.tasks[ticket];
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        if (task->awaited[stream] != NONE && !device->progress[task->awaited[stream]].is_done)
            return false;
    return device->progress[ticket].blocks_taken < task->block_dim;
}

/* With the mutex. A mark takes no worker: it is done as soon as its stream has come to it. */
static void pass_marks(struct cpu_device *device)
{
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        struct queue *queue = &device->queues[stream];
        int ticket = queue->first < queue->end ? queue->tickets[queue->first] : NONE;
        if (ticket == NONE || device->base.tasks[ticket].kind != TASK_TRACE ||
            !is_ready(device, ticket))
            continue;
        device->base.tasks[ticket].begin_ns = device->base.tasks[ticket].end_ns = now_ns();
        device->progress[ticket].is_done = true;
        queue->first++;
        device->left--;
        stream = -1; /* another stream may wait for it */
    }
}

/* With the mutex. The ticket of a task that has a block to take, or NONE. */
static int find_block(const struct cpu_device *device, bool takes_collectives)
{
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        const struct queue *queue = &device->queues[stream];
        if ((stream == STREAM_COLLECTIVE) == takes_collectives && queue->first < queue->end &&
            is_ready(device, queue->tickets[queue->first]))
            return queue->tickets[queue->first];
    }
    return NONE;
}

/* Waits for a block, and begins it. False: there will be no more. */
static bool take_block(struct cpu_device *device, bool takes_collectives, int *out_ticket,
                       uint32_t *out_block)
{
    pthread_mutex_lock(&device->mutex);
    int ticket = find_block(device, takes_collectives);
    while (ticket == NONE && !device->is_stopping) {
        pthread_cond_wait(&device->changed, &device->mutex);
        ticket = find_block(device, takes_collectives);
    }
    if (ticket != NONE) {
        *out_ticket = ticket;
        *out_block = device->progress[ticket].blocks_taken++;
        if (*out_block == 0)
            device->base.tasks[ticket].begin_ns = now_ns();
    }
    pthread_mutex_unlock(&device->mutex);
    return ticket != NONE;
}

static void finish_block(struct cpu_device *device, int ticket, bool has_failed)
{
    struct task *task = &device->base.tasks[ticket];
    pthread_mutex_lock(&device->mutex);
    device->has_failed |= has_failed;
    if (++device->progress[ticket].blocks_done == task->block_dim) {
        task->end_ns = now_ns();
        device->progress[ticket].is_done = true;
        device->queues[task->stream].first++;
        device->left--;
        pass_marks(device);
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->mutex);
}

/* ---- running them ---- */

static bool run_collective(const struct cpu_device *device, const struct task *task)
{
    VARVE_SCOPE_LAYER("run_collective", VARVE_LAYER_RUNTIME_L1);
    char *memory = task->memory;
    varve_flow_in(&collective_arrow, task->correlation);
    return communicator_sum(device->base.communicator, (float *)(memory + task->offset_bytes),
                            (float *)(memory + task->result_offset_bytes),
                            task->bytes / sizeof(float));
}

static bool run_block(const struct cpu_device *device, int ticket, uint32_t block)
{
    const struct task *task = &device->base.tasks[ticket];
    char *memory = task->memory;
    uint32_t first, end;
    switch (task->kind) {
    case TASK_KERNEL:
        tiling_block(task->arguments->items, task->block_dim, block, &first, &end);
        for (uint32_t item = first; item < end; item++)
            device->progress[ticket].run(task->arguments, task->memory, item);
        return true;
    case TASK_FETCH:
        memcpy(memory + task->offset_bytes, task->host, task->bytes);
        return true;
    case TASK_RESULT:
        memcpy(task->host, memory + task->offset_bytes, task->bytes);
        return true;
    case TASK_TRACE:
        return true;
    case TASK_COLLECTIVE:
        break;
    }
    return run_collective(device, task);
}

static void work(struct cpu_device *device, bool takes_collectives)
{
    int ticket;
    uint32_t block;
    while (take_block(device, takes_collectives, &ticket, &block)) {
        bool done = run_block(device, ticket, block);
        finish_block(device, ticket, !done);
    }
}

static void *run_worker(void *argument)
{
    struct cpu_device *device = argument;
    char name[16];
    pthread_mutex_lock(&device->mutex);
    snprintf(name, sizeof name, "worker %d", device->threads_named++);
    pthread_mutex_unlock(&device->mutex);
    varve_thread_name(name);
    work(device, false);
    return NULL;
}

static void *run_collectives(void *argument)
{
    varve_thread_name("collectives");
    work(argument, true);
    return NULL;
}

/* ---- what device.h asks for ---- */

static void *cpu_allocate(struct device *device, size_t bytes)
{
    (void)device;
    float *memory = buffer_create(bytes / sizeof *memory);
    if (memory == NULL)
        refuse("no memory for %zu bytes; try a smaller --batch", bytes);
    else
        memset(memory, 0, bytes);
    return memory;
}

static void cpu_release(struct device *device, void *memory)
{
    (void)device;
    buffer_destroy(memory);
}

static bool cpu_write(struct device *device, void *memory, const struct task *copy)
{
    (void)device;
    memcpy((char *)memory + copy->offset_bytes, copy->host, copy->bytes);
    return true;
}

static bool cpu_read(struct device *device, void *memory, const struct task *copy)
{
    (void)device;
    memcpy(copy->host, (char *)memory + copy->offset_bytes, copy->bytes);
    return true;
}

static bool cpu_submit(struct device *base, int ticket)
{
    struct cpu_device *device = cpu_of(base);
    const struct task *task = &base->tasks[ticket];
    struct queue *queue = &device->queues[task->stream];
    varve_begin(&calls[task->kind]);
    varve_launch(task->correlation);
    if (task->kind == TASK_COLLECTIVE)
        varve_flow_out(&collective_arrow, task->correlation);
    pthread_mutex_lock(&device->mutex);
    device->progress[ticket] = (struct progress){
        .run = task->kind == TASK_KERNEL ? kernel_find(task->name) : NULL,
    };
    queue->tickets[queue->end++] = ticket;
    device->left++;
    pass_marks(device);
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->mutex);
    varve_end();
    return true;
}

static bool cpu_synchronize(struct device *base)
{
    VARVE_SCOPE_LAYER("cpuDeviceSynchronize", VARVE_LAYER_RUNTIME);
    struct cpu_device *device = cpu_of(base);
    pthread_mutex_lock(&device->mutex);
    while (device->left > 0)
        pthread_cond_wait(&device->changed, &device->mutex);
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        device->queues[stream].first = device->queues[stream].end = 0;
    bool done = !device->has_failed;
    pthread_mutex_unlock(&device->mutex);
    return done;
}

static uint32_t cpu_track(struct device *device, enum stream stream)
{
    return cpu_of(device)->tracks[stream];
}

static void cpu_close(struct device *base)
{
    struct cpu_device *device = cpu_of(base);
    pthread_mutex_lock(&device->mutex);
    device->is_stopping = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->mutex);
    for (int i = 0; i < device->thread_count; i++)
        pthread_join(device->threads[i], NULL);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->mutex);
    free(device);
}

static const struct device_kind cpu = {
    .name = "cpu",
    .varve_kind = VARVE_DEVICE_KIND_CPU,
    .close = cpu_close,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .write = cpu_write,
    .read = cpu_read,
    .submit = cpu_submit,
    .synchronize = cpu_synchronize,
    .track = cpu_track,
    .tells_its_work = false,
};

/* The clock is one that Varve knows. A stream without a track is one whose work is counted as
 * lost. */
static void add_tracks(struct cpu_device *device)
{
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        struct varve_track_info track = {
            .struct_size = sizeof track,
            .clock = VARVE_CLOCK_MONOTONIC,
            .name = device_stream_name((enum stream)stream),
            .device = VARVE_DEVICE_CPU,
            .context = 0,
            .stream = stream,
        };
        if (varve_track_add(&track, &device->tracks[stream], NULL) != VARVE_OK)
            device->tracks[stream] = 0;
    }
}

static bool start_thread(struct cpu_device *device, void *(*run)(void *))
{
    errno = pthread_create(&device->threads[device->thread_count], NULL, run, device);
    if (errno != 0)
        return refuse("cannot start a worker: %s", strerror(errno));
    device->thread_count++;
    return true;
}

struct device *cpu_device_open(struct communicator *communicator, int workers)
{
    struct cpu_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        refuse("out of memory");
        return NULL;
    }
    if (workers > WORKERS_MAX)
        workers = WORKERS_MAX;
    device->base.kind = &cpu;
    device->base.communicator = communicator;
    device->base.tiling = (struct tiling_rules){ .blocks_max = (uint32_t)workers };
    pthread_mutex_init(&device->mutex, NULL);
    pthread_cond_init(&device->changed, NULL);
    add_tracks(device);
    bool started = communicator->ranks == 1 || start_thread(device, run_collectives);
    for (int i = 0; i < workers && started; i++)
        started = start_thread(device, run_worker);
    if (!started) {
        cpu_close(&device->base);
        return NULL;
    }
    return &device->base;
}
