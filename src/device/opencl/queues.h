/* SPDX-License-Identifier: Apache-2.0 */
/* queues.h — the devices, a queue of our own for each, and the program's queues that were seen, so
 * that they can be waited for. Thread-safe. */
#ifndef VV_DEVICE_OPENCL_QUEUES_H
#define VV_DEVICE_OPENCL_QUEUES_H

#include "device/opencl/api.h"

/* Lists the devices. VARVE_UNSUPPORTED: there is none. */
enum varve_code vv_opencl_list_devices(uint64_t *out_resolution_ns, struct varve_error *error);
uint32_t vv_opencl_device_count(void);
/* VARVE_NOT_FOUND: there is no such device. */
enum varve_code vv_opencl_device(uint32_t device, cl_device_id *out, struct varve_error *error);

/* Our own queue of the device, made at the first call. It is only for standard streams and clocks,
 * so nothing of the program's is in it. */
enum varve_code vv_opencl_own_queue(uint32_t device, cl_command_queue *out,
                                    struct varve_error *error);

/* A queue of the program's: which device it has. It is remembered while the program keeps it.
 * VARVE_INVALID: it was made without CL_QUEUE_PROFILING_ENABLE. */
enum varve_code vv_opencl_know_queue(cl_command_queue queue, uint32_t *out_device,
                                     struct varve_error *error);

/* Waits until all known queues of the device are empty. */
enum varve_code vv_opencl_wait_for_queues(uint32_t device, struct varve_error *error);
/* Waits for an event of this queue. VARVE_LIMIT: it does not complete in ten seconds; it may wait
 * for this thread. VARVE_IO: the command failed. */
enum varve_code vv_opencl_wait(cl_command_queue queue, cl_event event, struct varve_error *error);
/* VARVE_IO: the command failed. */
enum varve_code vv_opencl_is_complete(cl_event event, int *out_is_complete,
                                      struct varve_error *error);

/* VARVE_IO, with the function and OpenCL's number. */
enum varve_code vv_opencl_fail(const char *function, cl_int code, struct varve_error *error);

#endif
