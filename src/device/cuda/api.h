/* SPDX-License-Identifier: Apache-2.0 */
/* api.h — what is used of the CUDA driver's interface, declared anew so that no header of it is
 * needed, and found in the driver's libcuda at run time. The names and numbers are the driver's. */
#ifndef VV_DEVICE_CUDA_API_H
#define VV_DEVICE_CUDA_API_H

#include <stddef.h>

#include "varve/error.h"

#define CUDA_SUCCESS 0
#define CUDA_ERROR_NOT_READY 600
#define CU_EVENT_DEFAULT 0u
#define CU_STREAM_NON_BLOCKING 1u

typedef int CUresult, CUdevice;
typedef void *CUcontext, *CUstream, *CUevent;

/* Member, the driver's symbol, parameters. */
#define VV_CUDA_FUNCTIONS(X)                                                                       \
    X(cuInit, "cuInit", (unsigned))                                                                \
    X(cuGetErrorName, "cuGetErrorName", (CUresult, const char **))                                 \
    X(cuDeviceGetCount, "cuDeviceGetCount", (int *))                                               \
    X(cuDeviceGet, "cuDeviceGet", (CUdevice *, int))                                               \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))               \
    X(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", (CUdevice, unsigned *, int *))     \
    X(cuCtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                           \
    X(cuCtxGetDevice, "cuCtxGetDevice", (CUdevice *))                                              \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                        \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                        \
    X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                \
    X(cuStreamCreate, "cuStreamCreate", (CUstream *, unsigned))                                    \
    X(cuStreamGetCtx, "cuStreamGetCtx", (CUstream, CUcontext *))                                   \
    X(cuEventCreate, "cuEventCreate", (CUevent *, unsigned))                                       \
    X(cuEventRecord, "cuEventRecord", (CUevent, CUstream))                                         \
    X(cuEventQuery, "cuEventQuery", (CUevent))                                                     \
    X(cuEventSynchronize, "cuEventSynchronize", (CUevent))                                         \
    X(cuEventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent))                       \
    X(cuEventDestroy, "cuEventDestroy_v2", (CUevent))

struct vv_cuda_api {
#define VV_MEMBER(name, symbol, parameters) CUresult(*name) parameters;
    VV_CUDA_FUNCTIONS(VV_MEMBER)
#undef VV_MEMBER
};

extern struct vv_cuda_api vv_cu;

/* Fills vv_cu and initialises the driver. VARVE_UNSUPPORTED: there is no driver or no GPU. */
enum varve_code vv_cuda_load(struct varve_error *error);
/* VARVE_IO, with the function and the driver's name of the code. */
enum varve_code vv_cuda_fail(const char *function, CUresult code, struct varve_error *error);

#define VV_CUDA_TRY(function, ...)                                                                 \
    do {                                                                                           \
        CUresult vv_cuda_result = vv_cu.function(__VA_ARGS__);                                     \
        if (vv_cuda_result != CUDA_SUCCESS)                                                        \
            return vv_cuda_fail(#function, vv_cuda_result, error);                                 \
    } while (0)

#endif
