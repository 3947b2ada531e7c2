/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — kernels' names as people write them: "gemm(float*, int)" for "_Z4gemmPfi". They are
 * read here, because a name may be longer than the trace keeps: half of it could not be read
 * later. */
#ifndef VV_COLLECT_GPU_NAMES_H
#define VV_COLLECT_GPU_NAMES_H

/* The name itself if it is no C++ name, or if the program has not loaded libstdc++. Valid until the
 * next call. The caller has the lock of records.h. */
const char *vv_gpu_kernel_name(const char *name);

#endif
