/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.h — where a device's events lie in time.
 *
 * The driver tells only the time between two events, as a float of ms. So an anchor is an event
 * whose instant is known: it is recorded on an empty stream of our own, and waited for, between two
 * readings of CLOCK_MONOTONIC. That waits for nothing of the program's. Each event of the program's
 * is measured from the newest anchor. A float has 24 bits, 0.5 us at 8 s, so an anchor that is
 * older than four seconds gets a successor. */
#ifndef VV_DEVICE_CUDA_ANCHOR_H
#define VV_DEVICE_CUDA_ANCHOR_H

#include <stdint.h>

#include "device/cuda/api.h"
#include "varve/backend.h"

/* The newest anchor of the device, made if need be; its context is current. *out_number is never
 * 0. */
enum varve_code vv_cuda_anchor(uint32_t device, uint64_t *out_number, struct varve_error *error);
/* Makes one now. */
enum varve_code vv_cuda_anchor_now(uint32_t device, struct varve_clock_reading *out_reading,
                                   struct varve_error *error);
/* When an event was that was recorded while this anchor was the newest. VARVE_LIMIT: the anchor is
 * too old and is gone. */
enum varve_code vv_cuda_instant(uint32_t device, uint64_t number, CUevent event, int64_t *out_ns,
                                struct varve_error *error);
/* ms as ns, to the nearest. */
int64_t vv_cuda_ns(float ms);

#endif
