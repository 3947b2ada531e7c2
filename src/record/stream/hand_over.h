/* SPDX-License-Identifier: Apache-2.0 */
/* hand_over.h — what belongs to the trace and lies elsewhere: a collector whose data comes in
 * buffers of another library asks for them here, before a session ends or is copied.
 *
 * Nothing is handed over in a signal handler, or by another process. These ask, and a thread of the
 * program does it at its next safe point: where a collector calls vv_hand_over_where_asked. The
 * words lie in the control page (ctf/control_page.h), so `varve dump` asks the same way. */
#ifndef VV_RECORD_STREAM_HAND_OVER_H
#define VV_RECORD_STREAM_HAND_OVER_H

#include <stdbool.h>

#include "base/must_use.h"
#include "ctf/control_page.h"

#define VV_HAND_OVER_GIVERS 4u

/* `give` writes what is held into the trace. `is_last`: nothing may stay behind, for this session
 * records nothing later. Thread-safe; the same function counts once. False: there is no room. */
VV_MUST_USE bool vv_hand_over_listen(void (*give)(bool is_last));

/* Calls all functions. Without the recorder's lock, and not in a signal handler. */
void vv_hand_over(bool is_last);

/* Async-signal-safe. Does nothing if nobody listens. */
void vv_hand_over_ask(void);

static inline const struct vv_control_page *vv_hand_over_page(void)
{
    return (const struct vv_control_page *)(const void *)&varve_control_page;
}

static inline bool vv_hand_over_is_asked(void)
{
    return __atomic_load_n(&vv_hand_over_page()->hand_overs_asked, __ATOMIC_RELAXED) !=
           __atomic_load_n(&vv_hand_over_page()->hand_overs_done, __ATOMIC_RELAXED);
}

/* A safe point of the calling thread. */
void vv_hand_over_where_asked(void);

#endif
