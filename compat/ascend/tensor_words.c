/* SPDX-License-Identifier: Apache-2.0 */
#include "ascend/tensor_words.h"

#include <stddef.h>

#include "varve/varve.h"

uint32_t vv_tensor_dtype(uint32_t type)
{
    static const uint8_t types[] = {
        [0] = VARVE_F32, [1] = VARVE_F16, [2] = VARVE_I8, [3] = VARVE_I32, [4] = VARVE_U8,
        [6] = VARVE_I16, [7] = VARVE_U16, [8] = VARVE_U32, [9] = VARVE_I64, [10] = VARVE_U64,
        [11] = VARVE_F64, [12] = VARVE_BOOL, [16] = VARVE_C64, [17] = VARVE_C128,
        [18] = VARVE_QI8, [20] = VARVE_QI32, [21] = VARVE_QU8, [27] = VARVE_BF16,
    };
    return type < sizeof types && types[type] != VARVE_DTYPE_UNKNOWN ? types[type] : VARVE_BITS;
}

const char *vv_tensor_format(uint32_t format)
{
    static const char *const formats[] = {
        [0] = "NCHW", [1] = "NHWC", [2] = "ND", [3] = "NC1HWC0", [4] = "FRACTAL_Z",
        [12] = "NC1HWC0_C04", [16] = "HWCN", [27] = "NDHWC", [29] = "FRACTAL_NZ", [30] = "NCDHW",
        [32] = "NDC1HWC0", [33] = "FRACTAL_Z_3D",
    };
    format &= 0xff;
    return format < sizeof formats / sizeof *formats ? formats[format] : NULL;
}
