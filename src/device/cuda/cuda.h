/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h — the backend "cuda": streams of NVIDIA's GPUs, by the events of the driver. A stream is a
 * CUstream (cudaStream_t); NULL is the legacy stream. */
#ifndef VV_DEVICE_CUDA_CUDA_H
#define VV_DEVICE_CUDA_CUDA_H

#include "varve/backend.h"

/* Opens libcuda.so.1, once. VARVE_UNSUPPORTED: it is not there, or no GPU is. */
enum varve_code vv_cuda_open(const struct varve_backend **out_backend, struct varve_error *error);

#endif
