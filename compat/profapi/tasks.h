/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.h — tasks of devices: what launched them, and what ran when. Thread-safe. */
#ifndef VARVE_COMPAT_TASKS_H
#define VARVE_COMPAT_TASKS_H

#include <stdint.h>

#define VV_TASK_NAME_BYTES 24u

struct vv_task {
    uint16_t device; /* the four high bits say which kind of device                              */
    uint16_t stream;
    uint32_t number;
};

/* A range launches the task, which runs this kernel (an id). Returns the correlation of both. */
uint64_t vv_task_launched(struct vv_task task, uint64_t kernel);
/* The device ran it, in the clock of the records. */
void vv_task_ran(struct vv_task task, uint32_t type, int64_t begin, int64_t end);
/* "AI_CORE"; a number that is not known stays a number. `text` has VV_TASK_NAME_BYTES. */
const char *vv_task_name(char *text, uint64_t type);

#endif
