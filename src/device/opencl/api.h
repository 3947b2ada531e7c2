/* SPDX-License-Identifier: Apache-2.0 */
/* api.h — what is used of OpenCL's interface, declared anew so that no header of it is needed, and
 * found in the program's libOpenCL at run time. The names and numbers are OpenCL's. */
#ifndef VV_DEVICE_OPENCL_API_H
#define VV_DEVICE_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

#include "varve/error.h"

#define CL_SUCCESS 0
#define CL_COMPLETE 0
#define CL_DEVICE_TYPE_ALL 0xffffffffu
#define CL_DEVICE_PROFILING_TIMER_RESOLUTION 0x1025u
#define CL_QUEUE_REFERENCE_COUNT 0x1092u
#define CL_QUEUE_DEVICE 0x1091u
#define CL_QUEUE_PROPERTIES 0x1093u
#define CL_QUEUE_PROFILING_ENABLE 2u
#define CL_EVENT_COMMAND_QUEUE 0x11d0u
#define CL_EVENT_COMMAND_EXECUTION_STATUS 0x11d3u
#define CL_PROFILING_COMMAND_QUEUED 0x1280u
#define CL_PROFILING_COMMAND_START 0x1282u
#define CL_PROFILING_COMMAND_END 0x1283u

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef void *cl_platform_id, *cl_device_id, *cl_context, *cl_command_queue, *cl_event;

/* Result, name, parameters. Optional ones are of OpenCL 2.1. */
#define VV_OPENCL_FUNCTIONS(NEEDED, OPTIONAL)                                                      \
    NEEDED(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                       \
    NEEDED(cl_int, clGetDeviceIDs, (cl_platform_id, cl_ulong, cl_uint, cl_device_id *, cl_uint *)) \
    NEEDED(cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))             \
    NEEDED(cl_context, clCreateContext,                                                            \
           (const intptr_t *, cl_uint, const cl_device_id *, void *, void *, cl_int *))            \
    NEEDED(cl_command_queue, clCreateCommandQueue,                                                 \
           (cl_context, cl_device_id, cl_ulong, cl_int *))                                         \
    NEEDED(cl_int, clRetainCommandQueue, (cl_command_queue))                                       \
    NEEDED(cl_int, clReleaseCommandQueue, (cl_command_queue))                                      \
    NEEDED(cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void *, size_t *))   \
    NEEDED(cl_int, clEnqueueMarkerWithWaitList,                                                    \
           (cl_command_queue, cl_uint, const cl_event *, cl_event *))                              \
    NEEDED(cl_int, clFlush, (cl_command_queue))                                                    \
    NEEDED(cl_int, clRetainEvent, (cl_event))                                                      \
    NEEDED(cl_int, clReleaseEvent, (cl_event))                                                     \
    NEEDED(cl_int, clGetEventInfo, (cl_event, cl_uint, size_t, void *, size_t *))                  \
    NEEDED(cl_int, clGetEventProfilingInfo, (cl_event, cl_uint, size_t, void *, size_t *))         \
    OPTIONAL(cl_int, clGetDeviceAndHostTimer, (cl_device_id, cl_ulong *, cl_ulong *))

struct vv_opencl_api {
#define VV_MEMBER(result, name, parameters) result(*name) parameters;
    VV_OPENCL_FUNCTIONS(VV_MEMBER, VV_MEMBER)
#undef VV_MEMBER
};

extern struct vv_opencl_api vv_cl;

/* Fills vv_cl. VARVE_UNSUPPORTED: the library, or a function of it, is not there. */
enum varve_code vv_opencl_load(struct varve_error *error);

#endif
