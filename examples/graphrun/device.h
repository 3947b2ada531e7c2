/* SPDX-License-Identifier: Apache-2.0 */
/* device.h — a device: memory, and streams that run tasks in their order.
 *
 * Two kinds: the machine's own cores (cpu_device.c), and OpenCL (opencl_device.c). Tasks are
 * submitted, and run later. A task's ticket is its number since the last device_synchronize; other
 * tasks wait for it by this number. Times are in ns of the device's clock. One thread submits.
 *
 * In the trace a stream is a track of the device. */
#ifndef GRAPHRUN_DEVICE_H
#define GRAPHRUN_DEVICE_H

#include "communicator.h"
#include "graph.h"
#include "operators.h"
#include "tiling.h"

#define TASKS_MAX (4 * NODES_MAX)

struct task {
    const char *name; /* static: an operator's */
    enum task_kind kind;
    enum stream stream;
    int awaited[STREAM_COUNT];  /* tickets, or NONE */
    uint64_t correlation;       /* the process's number of this task; device_submit gives it */
    void *memory;               /* of the device: where offsets lie */
    const struct kernel_arguments *arguments; /* of a kernel */
    uint32_t block_dim;
    void *host; /* of a copy: to or from here */
    size_t offset_bytes, bytes; /* of a copy or a collective: where, how much */
    size_t result_offset_bytes; /* of a collective */
    uint64_t tag;               /* of a trace point, of this graph, in this run */
    int64_t graph_id, run;
    /* Once it has run. */
    int64_t begin_ns, end_ns;
};

struct device;

struct device_kind {
    const char *name;
    uint32_t varve_kind; /* VARVE_DEVICE_KIND_… */
    void (*close)(struct device *device);
    /* Zeroed memory of the device; NULL = there is none, and a line on standard error says so. */
    void *(*allocate)(struct device *device, size_t bytes);
    void (*release)(struct device *device, void *memory); /* NULL-safe */
    /* Copies at once, while nothing runs. False: a line on standard error says why. */
    bool (*write)(struct device *device, void *memory, const struct task *copy);
    bool (*read)(struct device *device, void *memory, const struct task *copy);
    /* The task is device->tasks[ticket], and complete. */
    bool (*submit)(struct device *device, int ticket);
    /* Waits for all tasks, and sets their times. */
    bool (*synchronize)(struct device *device);
    /* The number that Varve has given to a stream's track; 0 = none. */
    uint32_t (*track)(struct device *device, enum stream stream);
    /* It tells Varve of its kernels and copies itself. */
    bool tells_its_work;
};

struct device {
    const struct device_kind *kind;
    struct communicator *communicator; /* borrowed */
    struct tiling_rules tiling;
    struct task tasks[TASKS_MAX];
    int task_count; /* since the last device_synchronize */
    uint64_t correlations; /* that were given */
};

/* NULL: a line on standard error says why. Whoever gets a device closes it with kind->close. */
struct device *cpu_device_open(struct communicator *communicator, int workers);
struct device *opencl_device_open(struct communicator *communicator);

/* The task's ticket, or NONE: a line on standard error says why. */
int device_submit(struct device *device, const struct task *task);

/* What a kernel or a copy is called in the trace. Static. */
const char *device_work_name(const struct task *task);

/* What people call a stream: "compute". Static. */
const char *device_stream_name(enum stream stream);

/* Waits for all tasks; afterwards device->tasks[0 … *out_count - 1] say when they ran, until the
 * next is submitted. */
bool device_synchronize(struct device *device, int *out_count);

#endif
