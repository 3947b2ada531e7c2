/* SPDX-License-Identifier: Apache-2.0 */
/* device_kind.h — the kinds of devices (varve.h, VARVE_DEVICE_KIND_), what we call each, and PyTorch's number of it.
 *
 * It lies in base since the recorder and the readers both ask, and have nothing else in common: the recorder may not use
 * model, nor the readers of other formats ours. A new kind is a line here and one in varve.h. */
#ifndef VV_BASE_DEVICE_KIND_H
#define VV_BASE_DEVICE_KIND_H

#include <stdint.h>

#include "varve/varve.h"

/* VARVE_DEVICE_KIND_, as people write it, c10::DeviceType. PrivateUse1 stands for all that we have no kind for. */
#define VV_DEVICE_KINDS(KIND) \
    KIND(CPU, "cpu", 0)       \
    KIND(CUDA, "cuda", 1)     \
    KIND(OPENCL, "opencl", 4) \
    KIND(META, "meta", 14)    \
    KIND(OTHER, "device", 20)

#define VV_TORCH_HIP 6 /* ROCm's PyTorch calls its devices CUDA                                    */

/* Unknown kinds are OTHER. */
static inline const char *vv_device_kind_name(uint32_t kind)
{
    switch (kind) {
#define VV_CASE(id, name, torch) \
    case VARVE_DEVICE_KIND_##id: \
        return name;
        VV_DEVICE_KINDS(VV_CASE)
#undef VV_CASE
    }
    return vv_device_kind_name(VARVE_DEVICE_KIND_OTHER);
}

static inline int vv_device_kind_to_torch(uint32_t kind)
{
    switch (kind) {
#define VV_CASE(id, name, torch) \
    case VARVE_DEVICE_KIND_##id: \
        return torch;
        VV_DEVICE_KINDS(VV_CASE)
#undef VV_CASE
    }
    return vv_device_kind_to_torch(VARVE_DEVICE_KIND_OTHER);
}

static inline uint32_t vv_device_kind_from_torch(int64_t type)
{
    switch (type) {
#define VV_CASE(id, name, torch) \
    case torch:                  \
        return VARVE_DEVICE_KIND_##id;
        VV_DEVICE_KINDS(VV_CASE)
#undef VV_CASE
    case VV_TORCH_HIP:
        return VARVE_DEVICE_KIND_CUDA;
    }
    return VARVE_DEVICE_KIND_OTHER;
}

#endif
