/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h — the collector of work on NVIDIA's GPUs, and how it leaves CUPTI to another tool.
 *
 *   cuda.c       attaches where the driver calls InitializeInjection, within the program's cuInit;
 *                or where a library was loaded, and the driver is initialised already
 *   cupti.c      opens CUPTI
 *   calls.c      each call is a range that says the number of its work: on the thread that calls
 *   buffers.c    CUPTI's records, when it hands them over
 *   layouts.c    where their fields lie
 *   work.c       what they say to the trace; tracks.c on which track
 *   driver.c     what each device is, as the driver says
 *
 * A program that never initialises CUDA loads nothing and pays nothing. */
#ifndef VV_COLLECT_CUDA_CUDA_H
#define VV_COLLECT_CUDA_CUDA_H

/* Another profiler is about to use CUPTI, which has one subscriber: hands over what is complete and
 * unsubscribes. vv_cuda_come_back subscribes again. The trace says which stretch lacks device work.
 * Both do nothing if nothing is attached. Thread-safe. */
void vv_cuda_step_aside(const char *tool);
void vv_cuda_come_back(void);

#endif
