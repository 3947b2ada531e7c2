/* SPDX-License-Identifier: Apache-2.0 */
/* opencl.h — the backend "opencl": queues of all devices of all platforms, numbered in the order in
 * which OpenCL lists them. A stream is a cl_command_queue with CL_QUEUE_PROFILING_ENABLE. */
#ifndef VV_DEVICE_OPENCL_OPENCL_H
#define VV_DEVICE_OPENCL_OPENCL_H

#include "varve/backend.h"

/* Opens libOpenCL.so.1, once. VARVE_UNSUPPORTED: it is not there, or no device is. */
enum varve_code vv_opencl_open(const struct varve_backend **out_backend, struct varve_error *error);

#endif
