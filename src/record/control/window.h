/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — tells the rooms above that a window of recording begins or ends, so that devices begin
 * and end it together.
 *
 * Called without the recorder's lock, on the thread that starts, stops or makes the step: before
 * the mask changes at an end, and also before it changes at a begin, so that devices are idle when
 * the window opens. Where another process switches recording, this process's devices are not waited
 * for: the mask changes at once, in memory that both share, and nobody here is asked. */
#ifndef VV_RECORD_CONTROL_WINDOW_H
#define VV_RECORD_CONTROL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* `change` may wait for devices. `ends`: what is pending belongs to the window that ends. Called
 * once in a process. */
void vv_window_listen(void (*change)(bool ends));
bool vv_window_is_heard(void);

enum vv_window_caller {
    VV_WINDOW_BY_THREAD,  /* by a call that is not for signal handlers                           */
    VV_WINDOW_BY_ANYBODY  /* perhaps by a signal handler, in which nobody waits for a device     */
};

/* The mask changes from `former` to `next`. */
void vv_window_switch(uint32_t former, uint32_t next, enum vv_window_caller caller);
/* A phase of a schedule begins. By anybody. */
void vv_window_phase(void);

#endif
