/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/node_words.h"

#include <stddef.h>

#include "varve/graph.h"

const char *vv_task_type_text(uint32_t task_type)
{
    static const char *const texts[VARVE_TASK_TYPE_COUNT] = {
        "", "AI_CORE", "AI_CPU", "AI_VECTOR_CORE", "WRITE_BACK", "MIX_AIC", "MIX_AIV", "FFTS_PLUS",
        "DSA", "DVPP", "HCCL", "FUSION", "INVALID", "CPU", "GPU", "COPY",
    };
    return task_type < VARVE_TASK_TYPE_COUNT ? texts[task_type] : "";
}

const char *vv_dtype_text(uint32_t dtype)
{
    static const char *const texts[] = {
        "", "f32", "f64", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64", "u8", "u16",
        "u32", "u64", "bool", "c64", "c128", "c32", "qi8", "qu8", "qi32", "f8e5m2fnuz",
        "f8e4m3fnuz", "f8e8m0", "bits",
    };
    return dtype < sizeof texts / sizeof *texts ? texts[dtype] : "";
}
