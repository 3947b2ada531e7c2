/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — kernels' names as people write them: "gemm(float*, int)" for "_Z4gemmPfi". They are
 * read here, because a name may be longer than the trace keeps: half of it could not be read
 * later. */
#ifndef VV_COLLECT_GPU_NAMES_H
#define VV_COLLECT_GPU_NAMES_H

/* Looks for libstdc++, which the program may load later than the GPU's runtime. Not under a lock:
 * it may wait for a constructor of a library, and that one for us. */
void vv_gpu_names_look(void);

/* The name itself if it is no C++ name, or if no libstdc++ was found. Valid until the
 * next call. The caller has the lock of records.h. */
const char *vv_gpu_kernel_name(const char *name);

#endif
