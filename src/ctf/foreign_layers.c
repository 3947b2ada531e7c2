/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf/foreign_layers.h"

#include "varve/varve.h"

#define L(layer) VARVE_LAYER_##layer
/* As the options task_time and ge_api have it (record/options/options.c). */
#define TASK_L0 (L(API) | L(OP) | L(DEVICE))
#define TASK_L1 (TASK_L0 | L(RUNTIME))
#define TASK_L2 (TASK_L1 | L(RUNTIME_L1))
#define HOST_L0 (L(HOST) | L(RUNTIME))
#define HOST_L1 (HOST_L0 | L(RUNTIME_L1))
#define ON_HOST (VARVE_LAYER_ALL & ~L(DEVICE))
#define ON_DEVICE (L(RUNTIME) | L(DEVICE))
#define NONE 0u

const struct vv_foreign_layer vv_foreign_layers[VV_FOREIGN_LAYERS] = {
    /* GE: ProfilingType, from bit 0 on */
    { "kCannHost", HOST_L0 },
    { "kDevice", L(OP) | L(DEVICE) },
    { "kGeHost", L(HOST) },
    { "kTrainingTrace", L(STEP) },
    { "kTaskTime", TASK_L0 },
    { "kMemory", L(MEMORY) },
    { "kCannHostL1", L(RUNTIME_L1) },
    /* GE: the mask of a start command, from bit 0 on, by the names of GE and of ACL */
    { "ACL_PROF_ACL_API", L(API) },
    { "kProfTaskTime", TASK_L1 },
    { "ACL_PROF_TASK_TIME", TASK_L1 },
    { "kProfAiCoreMetrics", NONE },
    { "ACL_PROF_AICORE_METRICS", NONE },
    { "kProfAicpu", NONE },
    { "ACL_PROF_AICPU", NONE },
    { "kProfL2cache", NONE },
    { "ACL_PROF_L2CACHE", NONE },
    { "kProfHccl", L(COMM) },
    { "ACL_PROF_HCCL_TRACE", L(COMM) },
    { "kProfTrainingTrace", L(STEP) },
    { "ACL_PROF_TRAINING_TRACE", L(STEP) },
    { "ACL_PROF_MSPROFTX", L(API) | L(METRIC) },
    { "ACL_PROF_RUNTIME_API", L(RUNTIME) },
    { "kProfFwkScheduleL0", HOST_L0 },
    { "ACL_PROF_GE_API_L0", HOST_L0 },
    { "kProfTaskTimeL0", TASK_L0 },
    { "ACL_PROF_TASK_TIME_L0", TASK_L0 },
    { "ACL_PROF_TASK_MEMORY", L(MEMORY) },
    { "kProfTaskTimeL2", TASK_L2 },
    { "ACL_PROF_TASK_TIME_L2", TASK_L2 },
    { "ACL_PROF_OP_ATTR", L(OP) },
    { "kProfFwkScheduleL1", HOST_L1 },
    { "ACL_PROF_GE_API_L1", HOST_L1 },
    /* Paddle: ProfilerState */
    { "kDisabled", NONE },
    { "kCPU", ON_HOST },
    { "kCUDA", VARVE_LAYER_ALL },
    /* PyTorch: RecordScope, from 0 on */
    { "FUNCTION", L(OP) | L(COMM) },
    { "BACKWARD_FUNCTION", L(OP) },
    { "TORCHSCRIPT_FUNCTION", L(OP) },
    { "KERNEL_FUNCTION_DTYPE", L(OP) },
    { "CUSTOM_CLASS", L(OP) },
    { "BUILD_FEATURE", L(OP) },
    { "LITE_INTERPRETER", L(OP) },
    { "USER_SCOPE", L(API) | L(COMM) },
    { "STATIC_RUNTIME_OP", L(OP) },
    { "STATIC_RUNTIME_MODEL", L(OP) },
    /* PyTorch: ProfilerActivity */
    { "CPU", ON_HOST },
    { "CUDA", ON_DEVICE },
    { "XPU", ON_DEVICE },
    { "MTIA", ON_DEVICE },
    { "HPU", ON_DEVICE },
    { "PrivateUse1", ON_DEVICE },
    /* PyTorch: Kineto's types of activity */
    { "cpu_op", L(OP) | L(COMM) },
    { "user_annotation", L(API) | L(COMM) },
    { "cpu_instant_event", L(MEMORY) },
    { "python_function", L(PYTHON) },
    { "cuda_runtime", L(RUNTIME) },
    { "cuda_driver", L(RUNTIME) },
    { "kernel", L(DEVICE) },
    { "gpu_memcpy", L(DEVICE) },
    { "gpu_memset", L(DEVICE) },
    { "gpu_user_annotation", L(DEVICE) },
    { "overhead", L(HOST) },
};
