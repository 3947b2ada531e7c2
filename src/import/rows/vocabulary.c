/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rows/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/counted.h"
#include "model/model.h"
#include "varve/varve.h"

#define BIT(role) (UINT32_C(1) << (role))
#define EVERY (BIT(VV_ROLE_EVENT_INDEX) | BIT(VV_ROLE_LAYER))
#define OP (EVERY | VV_ROLES(VV_ROLE_EXTERNAL, VV_ROLE_TYPED_SHAPES) | VV_ROLES_COLLECTIVE)
#define CALL (EVERY | BIT(VV_ROLE_EXTERNAL) | VV_ROLES(VV_ROLE_CORRELATION, VV_ROLE_BYTES))
#define WORK (CALL | VV_ROLES_COLLECTIVE)

#define HOST_CLASS(name, layer, takes, flags) \
    { name, takes, VARVE_LAYER_##layer, VV_NO_ACTIVITY, VARVE_DEVICE_KIND_CPU, flags }
#define CALL_CLASS(name, kind) \
    { name, CALL, VARVE_LAYER_RUNTIME, VV_ACTIVITY_CALL, VARVE_DEVICE_KIND_##kind, 0 }
#define WORK_CLASS(name, activity, kind)                                                \
    { name, WORK, VARVE_LAYER_DEVICE, VV_ACTIVITY_##activity, VARVE_DEVICE_KIND_##kind, \
      VV_DIALECT_ON_DEVICE }

/* ROCm's PyTorch calls its devices CUDA, and so do its traces. */
static const struct vv_dialect_class classes[] = {
    /* Kineto */
    HOST_CLASS("cpu_op", OP, OP, VV_DIALECT_STEPS),
    HOST_CLASS("user_annotation", API, OP, VV_DIALECT_STEPS),
    HOST_CLASS("python_function", PYTHON, EVERY, 0),
    HOST_CLASS("cpu_instant_event", MEMORY, EVERY, 0),
    HOST_CLASS("overhead", HOST, EVERY, 0),
    HOST_CLASS("Trace", STEP, EVERY, 0),
    CALL_CLASS("cuda_runtime", CUDA),
    CALL_CLASS("cuda_driver", CUDA),
    WORK_CLASS("kernel", KERNEL, CUDA),
    WORK_CLASS("gpu_memcpy", COPY, CUDA),
    WORK_CLASS("gpu_memset", SET, CUDA),
    WORK_CLASS("gpu_user_annotation", ANNOTATION, CUDA),
    WORK_CLASS("cuda_sync", SYNC, CUDA),
    WORK_CLASS("cuda_event", OTHER, CUDA),
    WORK_CLASS("cuda_profiler_range", OTHER, CUDA),
    WORK_CLASS("collective_comm", OTHER, OTHER),
    /* Kineto, other vendors */
    CALL_CLASS("mtia_runtime", OTHER),
    WORK_CLASS("mtia_ccp_events", KERNEL, OTHER),
    WORK_CLASS("mtia_insight", OTHER, OTHER),
    WORK_CLASS("mtia_workloadd", KERNEL, OTHER),
    CALL_CLASS("glow_runtime", OTHER),
    CALL_CLASS("xpu_runtime", OTHER),
    CALL_CLASS("xpu_driver", OTHER),
    WORK_CLASS("xpu_sync", SYNC, OTHER),
    WORK_CLASS("xpu_scope_profiler", OTHER, OTHER),
    CALL_CLASS("privateuse1_runtime", OTHER),
    CALL_CLASS("privateuse1_driver", OTHER),
    WORK_CLASS("hpu_op", KERNEL, OTHER),
    /* Kineto before 2022 */
    HOST_CLASS("Operator", OP, OP, VV_DIALECT_STEPS),
    CALL_CLASS("Runtime", CUDA),
    WORK_CLASS("Kernel", KERNEL, CUDA),
    WORK_CLASS("Memcpy", COPY, CUDA),
    WORK_CLASS("Memset", SET, CUDA),
    /* ONNX Runtime; its "Kernel" is listed above */
    HOST_CLASS("Session", API, EVERY, VV_DIALECT_RUNS),
    HOST_CLASS("Node", OP, OP, 0),
    HOST_CLASS("Api", RUNTIME, EVERY, 0),
    /* Ascend */
    HOST_CLASS("enqueue", RUNTIME, EVERY, 0),
    HOST_CLASS("dequeue", RUNTIME, EVERY, 0),
    /* ROCm's own tools */
    CALL_CLASS("hip_runtime", CUDA),
    CALL_CLASS("hip_api", CUDA),
    CALL_CLASS("HIP_API", CUDA),
    CALL_CLASS("hsa_api", CUDA),
    CALL_CLASS("HSA_API", CUDA),
    WORK_CLASS("hip_activity", KERNEL, CUDA),
    /* viztracer */
    HOST_CLASS("FEE", PYTHON, EVERY, 0),
};

static const struct vv_dialect_class unknown = {
    "", EVERY | VV_ROLES(VV_ROLE_STREAM_ID, VV_ROLE_CORRELATION), 0, VV_NO_ACTIVITY,
    VARVE_DEVICE_KIND_CPU, VV_DIALECT_LATER
};

const struct vv_dialect_class *vv_dialect_class(const char *category, size_t length)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (vv_text_is(category, length, classes[i].category))
            return &classes[i];
    return &unknown;
}

/* ---- arguments ---- */

static const struct { const char *key; enum vv_dialect_role role; } roles[] = {
    { "External id", VV_ROLE_EXTERNAL },
    { "external id", VV_ROLE_EXTERNAL },
    { "Sequence number", VV_ROLE_SEQUENCE },
    { "Fwd thread id", VV_ROLE_FORWARD_TID },
    { "Call stack", VV_ROLE_STACK },
    { "Module Hierarchy", VV_ROLE_MODULE },
    { "Input Dims", VV_ROLE_DIMS },
    { "Input dims", VV_ROLE_DIMS },
    { "Input type", VV_ROLE_TYPES },
    { "Concrete Inputs", VV_ROLE_SCALARS },
    { "input_type_shape", VV_ROLE_TYPED_SHAPES },
    { "correlation", VV_ROLE_CORRELATION },
    { "correlation_id", VV_ROLE_CORRELATION },
    { "connection_id", VV_ROLE_CORRELATION },
    { "device", VV_ROLE_DEVICE },
    { "context", VV_ROLE_CONTEXT },
    { "stream", VV_ROLE_STREAM },
    { "Stream Id", VV_ROLE_STREAM_ID },
    { "bytes", VV_ROLE_BYTES },
    { "Collective name", VV_ROLE_COLLECTIVE },
    { "Process Group Name", VV_ROLE_GROUP },
    { "Process Group Ranks", VV_ROLE_RANKS },
    { "dtype", VV_ROLE_DTYPE },
    { "Group size", VV_ROLE_GROUP_SIZE },
    { "In msg nelems", VV_ROLE_IN_ELEMENTS },
    { "Out msg nelems", VV_ROLE_OUT_ELEMENTS },
    { "Seq", VV_ROLE_GROUP_SEQUENCE },
    { "Ev Idx", VV_ROLE_EVENT_INDEX },
    { "Profiler Event Index", VV_ROLE_EVENT_INDEX },
    { "layer", VV_ROLE_LAYER },
    { "Addr", VV_ROLE_ADDRESS },
    { "Bytes", VV_ROLE_SIGNED_BYTES },
    { "Total Allocated", VV_ROLE_TOTAL_ALLOCATED },
    { "Total Reserved", VV_ROLE_TOTAL_RESERVED },
    { "Device Type", VV_ROLE_DEVICE_TYPE },
    { "Device Id", VV_ROLE_DEVICE_ID },
    { "Trace name", VV_ROLE_UNASKED },
    { "Trace iteration", VV_ROLE_UNASKED },
    { "Device", VV_ROLE_UNASKED },
    { "Python id", VV_ROLE_UNASKED },
    { "Python parent id", VV_ROLE_UNASKED },
    { "Python module id", VV_ROLE_UNASKED },
    { "cbid", VV_ROLE_UNASKED },
    { "external ts", VV_ROLE_UNASKED },
    { "queued", VV_ROLE_UNASKED },
    { "warps per SM", VV_ROLE_UNASKED },
    { "blocks per SM", VV_ROLE_UNASKED },
};

enum vv_dialect_role vv_dialect_role(const char *key, size_t length)
{
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (vv_text_is(key, length, roles[i].key))
            return roles[i].role;
    return VV_ROLE_NONE;
}

/* ---- processes without categories ---- */

static const struct vv_dialect_process processes[] = {
    { "/device:GPU", VARVE_LAYER_DEVICE, VARVE_DEVICE_KIND_CUDA, true },   /* XLA            */
    { "/device:", VARVE_LAYER_DEVICE, VARVE_DEVICE_KIND_OTHER, true },
    { "/gpu:", VARVE_LAYER_DEVICE, VARVE_DEVICE_KIND_CUDA, true },  /* TensorFlow before 1.4   */
    { "/host:", VARVE_LAYER_HOST, VARVE_DEVICE_KIND_CPU, false },
    { "Ascend Hardware", VARVE_LAYER_DEVICE, VARVE_DEVICE_KIND_OTHER, true }, /* Ascend      */
    { "Communication", VARVE_LAYER_COMM, VARVE_DEVICE_KIND_OTHER, true },
    { "CANN", VARVE_LAYER_RUNTIME, VARVE_DEVICE_KIND_OTHER, false },
    { "Overlap Analysis", VARVE_LAYER_METRIC, VARVE_DEVICE_KIND_CPU, false },
};

const struct vv_dialect_process *vv_dialect_process(const char *name)
{
    static const struct vv_dialect_process other = { "", VARVE_LAYER_API, VARVE_DEVICE_KIND_CPU,
                                                     false };
    for (size_t i = 0; i < sizeof processes / sizeof processes[0]; i++)
        if (strncmp(name, processes[i].prefix, strlen(processes[i].prefix)) == 0)
            return &processes[i];
    return &other;
}

enum vv_dialect_timeline vv_dialect_timeline(const char *process, int64_t *out_stream)
{
    static const char stream[] = "/stream:", all[] = "all Compute", copies[] = "/memcpy Compute";
    const char *at = strstr(process, stream);
    if (at == NULL)
        return strstr(process, copies) != NULL ? VV_TIMELINE_SUMMARY : VV_TIMELINE_NONE;
    at += sizeof stream - 1;
    if (strcmp(at, all) == 0)
        return VV_TIMELINE_SUMMARY;
    size_t digits = strspn(at, "0123456789");
    if (digits == 0 || digits > 18 || strcmp(at + digits, " Compute") != 0)
        return VV_TIMELINE_NONE;
    *out_stream = strtoll(at, NULL, 10);
    return VV_TIMELINE_STREAM;
}

/* ---- collectives ---- */

const char *vv_dialect_collective(const char *name)
{
    static const char *const backends[] = { "gloo:", "mpi:" }; /* NCCL and UCC give arguments  */
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (strncmp(name, backends[i], strlen(backends[i])) == 0)
            return name + strlen(backends[i]);
    return NULL;
}

/* ---- steps ---- */

bool vv_dialect_step(const char *name, int64_t *out_index)
{
    static const char word[] = "ProfilerStep#";
    if (strncmp(name, word, sizeof word - 1) != 0)
        return false;
    const char *digits = name + sizeof word - 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 18 || digits[count] != '\0')
        return false;
    *out_index = strtoll(digits, NULL, 10);
    return true;
}

/* ---- types, layers, devices ---- */

static const struct { const char *name; uint16_t dtype; } dtypes[] = {
    { "float", VARVE_F32 }, { "c10::BFloat16", VARVE_BF16 }, { "c10::Half", VARVE_F16 },
    { "long int", VARVE_I64 }, { "long", VARVE_I64 }, { "int64_t", VARVE_I64 },
    { "int", VARVE_I32 }, { "double", VARVE_F64 }, { "bool", VARVE_BOOL },
    { "unsigned char", VARVE_U8 }, { "signed char", VARVE_I8 }, { "char", VARVE_I8 },
    { "short", VARVE_I16 }, { "short int", VARVE_I16 }, { "unsigned short", VARVE_U16 },
    { "unsigned int", VARVE_U32 }, { "unsigned long", VARVE_U64 },
    { "c10::Float8_e4m3fn", VARVE_F8E4M3 }, { "c10::Float8_e4m3fnuz", VARVE_F8E4M3FNUZ },
    { "c10::Float8_e5m2", VARVE_F8E5M2 }, { "c10::Float8_e5m2fnuz", VARVE_F8E5M2FNUZ },
    { "c10::Float8_e8m0fnu", VARVE_F8E8M0 }, { "c10::complex<c10::Half>", VARVE_C32 },
    { "c10::qint8", VARVE_QI8 }, { "c10::quint8", VARVE_QU8 }, { "c10::qint32", VARVE_QI32 },
    { "c10::bits8", VARVE_BITS }, { "c10::bits16", VARVE_BITS }, { "c10::bits1x8", VARVE_BITS },
    { "c10::bits2x4", VARVE_BITS }, { "c10::bits4x2", VARVE_BITS }, { "c10::quint4x2", VARVE_BITS },
    { "c10::quint2x4", VARVE_BITS }, { "c10::Float4_e2m1fn_x2", VARVE_BITS },
    { "c10::complex<float>", VARVE_C64 }, { "c10::complex<double>", VARVE_C128 },
    /* ONNX Runtime */
    { "float16", VARVE_F16 }, { "bfloat16", VARVE_BF16 }, { "int64", VARVE_I64 },
    { "int32", VARVE_I32 }, { "int16", VARVE_I16 }, { "int8", VARVE_I8 }, { "uint64", VARVE_U64 },
    { "uint32", VARVE_U32 }, { "uint16", VARVE_U16 }, { "uint8", VARVE_U8 },
    { "float8e4m3fn", VARVE_F8E4M3 }, { "float8e5m2", VARVE_F8E5M2 },
    { "complex64", VARVE_C64 }, { "complex128", VARVE_C128 },
};

uint16_t vv_dialect_dtype(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (vv_text_is(name, length, dtypes[i].name))
            return dtypes[i].dtype;
    return VARVE_DTYPE_UNKNOWN;
}

const char *vv_dialect_dtype_suffix(uint16_t dtype)
{
    static const char *const names[] = {
        [VARVE_DTYPE_UNKNOWN] = "",  [VARVE_F32] = " f32",       [VARVE_F64] = " f64",
        [VARVE_F16] = " f16",        [VARVE_BF16] = " bf16",     [VARVE_F8E4M3] = " f8e4m3",
        [VARVE_F8E5M2] = " f8e5m2",  [VARVE_I8] = " i8",         [VARVE_I16] = " i16",
        [VARVE_I32] = " i32",        [VARVE_I64] = " i64",       [VARVE_U8] = " u8",
        [VARVE_U16] = " u16",        [VARVE_U32] = " u32",       [VARVE_U64] = " u64",
        [VARVE_BOOL] = " bool",      [VARVE_C64] = " c64",       [VARVE_C128] = " c128",
        [VARVE_C32] = " c32",        [VARVE_QI8] = " qi8",       [VARVE_QU8] = " qu8",
        [VARVE_QI32] = " qi32",      [VARVE_F8E5M2FNUZ] = " f8e5m2fnuz",
        [VARVE_F8E4M3FNUZ] = " f8e4m3fnuz",
        [VARVE_F8E8M0] = " f8e8m0",  [VARVE_BITS] = " bits",
    };
    return dtype < sizeof names / sizeof names[0] ? names[dtype] : " ?";
}

const char *vv_dialect_scalar_type(uint32_t dtype)
{
    static const char *const names[] = {
        [VARVE_DTYPE_UNKNOWN] = "",     [VARVE_F32] = "Float",          [VARVE_F64] = "Double",
        [VARVE_F16] = "Half",           [VARVE_BF16] = "BFloat16",
             [VARVE_F8E4M3] = "Float8_e4m3fn",
        [VARVE_F8E5M2] = "Float8_e5m2", [VARVE_I8] = "Char",            [VARVE_I16] = "Short",
        [VARVE_I32] = "Int",            [VARVE_I64] = "Long",           [VARVE_U8] = "Byte",
        [VARVE_U16] = "UInt16",         [VARVE_U32] = "UInt32",         [VARVE_U64] = "UInt64",
        [VARVE_BOOL] = "Bool",          [VARVE_C64] = "ComplexFloat",
          [VARVE_C128] = "ComplexDouble",
        [VARVE_C32] = "ComplexHalf",    [VARVE_QI8] = "QInt8",          [VARVE_QU8] = "QUInt8",
        [VARVE_QI32] = "QInt32",        [VARVE_F8E5M2FNUZ] = "Float8_e5m2fnuz",
        [VARVE_F8E4M3FNUZ] = "Float8_e4m3fnuz", [VARVE_F8E8M0] = "Float8_e8m0fnu",
        [VARVE_BITS] = "",
    };
    return dtype < sizeof names / sizeof names[0] ? names[dtype] : "";
}

uint16_t vv_dialect_layer(const char *name, size_t length)
{
    static const struct { const char *name; uint16_t layer; } layers[] = {
        { "API", VARVE_LAYER_API },         { "HOST", VARVE_LAYER_HOST },
        { "OP", VARVE_LAYER_OP },           { "RUNTIME", VARVE_LAYER_RUNTIME },
        { "RUNTIME_L1", VARVE_LAYER_RUNTIME_L1 }, { "DEVICE", VARVE_LAYER_DEVICE },
        { "COMM", VARVE_LAYER_COMM },       { "MEMORY", VARVE_LAYER_MEMORY },
        { "STEP", VARVE_LAYER_STEP },       { "PYTHON", VARVE_LAYER_PYTHON },
        { "METRIC", VARVE_LAYER_METRIC },
    };
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        if (vv_text_is(name, length, layers[i].name))
            return layers[i].layer;
    return 0;
}
