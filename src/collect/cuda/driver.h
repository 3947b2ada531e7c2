/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h — what the driver that the program has loaded says: its version, and what each device
 * is. Nothing here loads or initialises it. */
#ifndef VV_COLLECT_CUDA_DRIVER_H
#define VV_COLLECT_CUDA_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* Has the program loaded the driver? Has it initialised CUDA? */
bool vv_cuda_driver_is_loaded(void);
bool vv_cuda_driver_is_initialised(void);
/* 12090 for 12.9; 0: it does not say. */
int vv_cuda_driver_version(void);

/* Writes what each device that was seen is into the trace, once. Calls the driver, so a thread must
 * be at the end of a call of its own, or outside of CUDA. */
void vv_cuda_devices_describe(void);

/* Calls the driver for nothing else than that somebody may be told. False: the driver refused. */
bool vv_cuda_driver_call(void);

/* The calling thread is in one of these two: what it calls is not the program's. */
bool vv_cuda_driver_is_ours(void);

#endif
