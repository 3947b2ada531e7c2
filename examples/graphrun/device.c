/* SPDX-License-Identifier: Apache-2.0 */
/* device.c — see device.h. */
#include "device.h"

#include <assert.h>

const char *device_stream_name(enum stream stream)
{
    static const char *const names[STREAM_COUNT] = {
        [STREAM_COMPUTE] = "compute",
        [STREAM_GRADIENT] = "gradients",
        [STREAM_COPY] = "copies",
        [STREAM_COLLECTIVE] = "collectives",
    };
    return names[stream];
}

const char *device_work_name(const struct task *task)
{
    if (task->kind == TASK_FETCH)
        return "Memcpy HtoD";
    return task->kind == TASK_RESULT ? "Memcpy DtoH" : task->name;
}

int device_submit(struct device *device, const struct task *task)
{
    assert(device->task_count < TASKS_MAX); /* a run has fewer than four tasks a node */
    int ticket = device->task_count++;
    device->tasks[ticket] = *task;
    device->tasks[ticket].correlation = ++device->correlations;
    return device->kind->submit(device, ticket) ? device->task_count - 1 : NONE;
}

bool device_synchronize(struct device *device, int *out_count)
{
    bool done = device->kind->synchronize(device);
    *out_count = done ? device->task_count : 0;
    device->task_count = 0;
    return done;
}
