/* SPDX-License-Identifier: Apache-2.0 */
/* host.h — the backend "host": threads of the processor, as a device.
 *
 * The thread that does a stream's work records its events, so an event is a reading of
 * CLOCK_MONOTONIC and complete at once. One device; a stream is any pointer. */
#ifndef VV_DEVICE_HOST_HOST_H
#define VV_DEVICE_HOST_HOST_H

#include "varve/backend.h"

enum varve_code vv_host_open(const struct varve_backend **out_backend, struct varve_error *error);

#endif
