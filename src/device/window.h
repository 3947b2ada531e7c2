/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — waits for devices and reads their clocks, where a window begins or ends. */
#ifndef VV_DEVICE_WINDOW_H
#define VV_DEVICE_WINDOW_H

#include "device/registry.h"

/* From now on windows are heard of. */
void vv_window_listen_once(void);
/* Looks whether the backend is enabled and how many devices it has, and reads their clocks. Waits
 * for no work. The caller is inside. */
void vv_window_look(struct vv_backend_slot *slot);

#endif
