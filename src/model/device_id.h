/* SPDX-License-Identifier: Apache-2.0 */
/* device_id.h — a device's number (varve.h, VARVE_DEVICE) as people write it. Thread-safe. */
#ifndef VV_MODEL_DEVICE_ID_H
#define VV_MODEL_DEVICE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "cuda:0"; "device" if the producer named none. */
void vv_device_text(uint32_t id, char *text, size_t bytes);

/* Does a user who writes "cuda:0", "cuda" or "0" mean this device? */
bool vv_device_is_called(uint32_t id, const char *wanted);

#endif
