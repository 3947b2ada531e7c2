/* SPDX-License-Identifier: Apache-2.0 */
/* device_kind.h — the kinds of devices (varve.h, VARVE_DEVICE_KIND_): Varve's name of each, and
 * PyTorch's number of it.
 *
 * This file is in base because the recorder and the importers both need it and share no other room:
 * the recorder may not use model, and importers of other formats may not use the recorder's rooms.
 * A new kind is a line here and one in varve.h. */
#ifndef VV_BASE_DEVICE_KIND_H
#define VV_BASE_DEVICE_KIND_H

#include <stdint.h>

#include "varve/varve.h"

/* VARVE_DEVICE_KIND_, name for people, c10::DeviceType. PrivateUse1 stands for all devices that
 * have no kind of their own here. */
#define VV_DEVICE_KINDS(KIND) \
    KIND(CPU, "cpu", 0)       \
    KIND(CUDA, "cuda", 1)     \
    KIND(OPENCL, "opencl", 4) \
    KIND(META, "meta", 14)    \
    KIND(OTHER, "device", 20)

#define VV_TORCH_HIP 6 /* ROCm's PyTorch calls its devices CUDA */

/* Unknown kinds get the name of OTHER. */
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
