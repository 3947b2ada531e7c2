/* SPDX-License-Identifier: Apache-2.0 */
/* switch_queue.h — switches that the program's callbacks have not been told of yet, oldest first.
 * The caller holds the recorder's lock.
 *
 * The queue is bounded. If it is full, the newest switch takes the place of the one before it, so
 * that the last one told is the state that holds; a count says that one is missing. */
#ifndef VV_RECORD_CONTROL_SWITCH_QUEUE_H
#define VV_RECORD_CONTROL_SWITCH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vv_told_switch {
    uint64_t time_ns; /* instant of the switch, CLOCK_MONOTONIC                                 */
    uint32_t layers;  /* recorded from then on                                                  */
    uint32_t asker;   /* enum varve_profiling_asker                                             */
    uint32_t pid;     /* the process that asked; 0 = not known                                  */
    uint64_t missed;  /* switches between the former one and this one that nobody is told of    */
};

void vv_switch_queue_put(const struct vv_told_switch *new);
/* False: the queue is empty. */
bool vv_switch_queue_take(struct vv_told_switch *out);
size_t vv_switch_queue_count(void);
void vv_switch_queue_clear(void);

#endif
