/* SPDX-License-Identifier: Apache-2.0 */
/* subscriber.h — tells subscribers of an executor's events. */
#ifndef VV_EXEC_SUBSCRIBER_H
#define VV_EXEC_SUBSCRIBER_H

#include "varve/exec.h"

/* Calls all that hear of events of event->kind. Somebody does, by varve_executor_events. */
void vv_subscribers_call(const struct varve_executor_event *event);

static inline void vv_subscribers_tell(uint32_t kind, uint32_t model, uint32_t graph, uint32_t node,
                                       int64_t step)
{
    if (VARVE_UNLIKELY((varve_executor_events() & kind) != 0)) {
        const struct varve_executor_event event = { sizeof event, kind, model, graph, node, 0,
                                                    step };
        vv_subscribers_call(&event);
    }
}

#endif
