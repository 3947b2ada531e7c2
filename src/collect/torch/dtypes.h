/* SPDX-License-Identifier: Apache-2.0 */
/* dtypes.h — Varve's number for a type of PyTorch's. */
#ifndef VV_COLLECT_TORCH_DTYPES_H
#define VV_COLLECT_TORCH_DTYPES_H

#include <stdint.h>

#include "record/hot_path.h"
#include "varve/varve.h"

/* Indexed by c10::ScalarType, which only grows at its end. */
static const uint8_t vv_torch_dtypes[] = {
    VARVE_U8, VARVE_I8, VARVE_I16, VARVE_I32, VARVE_I64, VARVE_F16, VARVE_F32, VARVE_F64, VARVE_C32,
    VARVE_C64,
    VARVE_C128, VARVE_BOOL, VARVE_QI8, VARVE_QU8, VARVE_QI32, VARVE_BF16, VARVE_BITS, VARVE_BITS,
    VARVE_BITS,
    VARVE_BITS, VARVE_BITS, VARVE_BITS, VARVE_BITS, VARVE_F8E5M2, VARVE_F8E4M3, VARVE_F8E5M2FNUZ,
    VARVE_F8E4M3FNUZ, VARVE_U16, VARVE_U32, VARVE_U64,
    [44] = VARVE_F8E8M0, [46] = VARVE_C32,
};

VV_INLINE uint8_t vv_torch_dtype(uint16_t type)
{
    uint8_t known = type < sizeof vv_torch_dtypes ? vv_torch_dtypes[type] : VARVE_DTYPE_UNKNOWN;
    return known != VARVE_DTYPE_UNKNOWN ? known : VARVE_BITS;
}

#endif
