/* SPDX-License-Identifier: Apache-2.0 */
/* platform.h — whose programs and devices a trace is of, as far as advice depends on it: settings
 * of PyTorch for CUDA are of no use to a program of JAX's on a TPU. Thread-safe. */
#ifndef VV_MEANING_PLATFORM_H
#define VV_MEANING_PLATFORM_H

#include "model/model.h"

enum vv_platform {
    VV_PLATFORM_USUAL,  /* PyTorch, on CUDA and ROCm                                             */
    VV_PLATFORM_XLA,    /* JAX or TensorFlow, on whatever device                                 */
    VV_PLATFORM_ASCEND,
    VV_PLATFORM_OPENCL, /* programs in C that tell of their queues (varve/backend.h)             */
    VV_PLATFORM_IREE,   /* modules that IREE compiled, on whatever device                        */
    VV_PLATFORM_CUDA,   /* programs without Python and PyTorch, on CUDA and ROCm                 */
    VV_PLATFORM_HOST,   /* none of the others, and no device works in the trace                  */
    VV_PLATFORMS
};

/* By the names that producers give the processes of devices, by the tracks of devices and their
 * kind, and by the names of operators and frames. */
enum vv_platform vv_platform_of(const struct vv_model *model);

/* Has the trace a TPU? Its programs run as a whole: no call launches their parts. */
bool vv_has_tpu(const struct vv_model *model);

#endif
