/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome/words.h"

#include <stddef.h>
#include <string.h>

#include "varve/varve.h"

/* Categories that HTA and PyTorch's own readers know. The runtime categories are those for backends
 * outside PyTorch, because a CUDA category would mean that the call is one of CUDA. */
static const struct { uint32_t layer; const char *name, *category; } layers[] = {
    { VARVE_LAYER_API, "API", "cpu_op" },
    { VARVE_LAYER_HOST, "HOST", "cpu_op" },
    { VARVE_LAYER_OP, "OP", "cpu_op" },
    { VARVE_LAYER_RUNTIME, "RUNTIME", "privateuse1_runtime" },
    { VARVE_LAYER_RUNTIME_L1, "RUNTIME_L1", "privateuse1_runtime" },
    { VARVE_LAYER_DEVICE, "DEVICE", "privateuse1_driver" },
    { VARVE_LAYER_COMM, "COMM", "cpu_op" },
    { VARVE_LAYER_MEMORY, "MEMORY", "cpu_op" },
    { VARVE_LAYER_STEP, "STEP", "user_annotation" },
    { VARVE_LAYER_PYTHON, "PYTHON", "python_function" },
    { VARVE_LAYER_METRIC, "METRIC", "user_annotation" },
};
#define LAYER_COUNT (sizeof layers / sizeof *layers)

const char *vv_kineto_category(uint32_t layer)
{
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        if (layers[i].layer == layer)
            return layers[i].category;
    }
    return "user_annotation";
}

/* Categories that PyTorch writes; for those that it once wrote, also the current word. */
static const struct { const char *name, *today; } kineto[] = {
    { "cpu_op", NULL }, { "user_annotation", NULL }, { "gpu_user_annotation", NULL },
    { "python_function", NULL },
    { "kernel", NULL }, { "gpu_memcpy", NULL }, { "gpu_memset", NULL }, { "cuda_runtime", NULL },
    { "cuda_driver", NULL }, { "cuda_sync", NULL }, { "cuda_profiler_range", NULL },
    { "mtia_runtime", NULL },
    { "mtia_ccp_events", NULL }, { "mtia_insight", NULL }, { "xpu_runtime", NULL },
    { "xpu_driver", NULL },
    { "hpu_op", NULL }, { "privateuse1_runtime", NULL }, { "privateuse1_driver", NULL },
    { "overhead", NULL },
    { "ac2g", NULL }, { "fwdbwd", NULL },
    { "Operator", "cpu_op" }, { "Kernel", "kernel" }, { "Memcpy", "gpu_memcpy" },
    { "Memset", "gpu_memset" },
    { "Runtime", "cuda_runtime" }, { "async", "ac2g" }, { "forward_backward", "fwdbwd" },
};

const char *vv_kineto_known(const char *category)
{
    for (size_t i = 0; i < sizeof kineto / sizeof *kineto; i++)
        if (strcmp(kineto[i].name, category) == 0)
            return kineto[i].today != NULL ? kineto[i].today : kineto[i].name;
    return NULL;
}

const char *vv_chrome_layer(uint32_t layer)
{
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        if (layers[i].layer == layer)
            return layers[i].name;
    }
    return "";
}

const char *vv_torch_dtype(uint32_t dtype)
{
    static const char *const names[] = {
        [VARVE_DTYPE_UNKNOWN] = "",
        [VARVE_F32] = "float",
        [VARVE_F64] = "double",
        [VARVE_F16] = "c10::Half",
        [VARVE_BF16] = "c10::BFloat16",
        [VARVE_F8E4M3] = "c10::Float8_e4m3fn",
        [VARVE_F8E5M2] = "c10::Float8_e5m2",
        [VARVE_I8] = "signed char",
        [VARVE_I16] = "short",
        [VARVE_I32] = "int",
        [VARVE_I64] = "long int",
        [VARVE_U8] = "unsigned char",
        [VARVE_U16] = "unsigned short",
        [VARVE_U32] = "unsigned int",
        [VARVE_U64] = "unsigned long",
        [VARVE_BOOL] = "bool",
        [VARVE_C64] = "c10::complex<float>",
        [VARVE_C128] = "c10::complex<double>",
        [VARVE_C32] = "c10::complex<c10::Half>",
        [VARVE_QI8] = "c10::qint8",
        [VARVE_QU8] = "c10::quint8",
        [VARVE_QI32] = "c10::qint32",
        [VARVE_F8E5M2FNUZ] = "c10::Float8_e5m2fnuz",
        [VARVE_F8E4M3FNUZ] = "c10::Float8_e4m3fnuz",
        [VARVE_F8E8M0] = "c10::Float8_e8m0fnu",
        [VARVE_BITS] = "c10::bits8",
    };
    return dtype < sizeof names / sizeof *names ? names[dtype] : "";
}
