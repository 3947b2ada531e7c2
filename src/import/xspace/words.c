/* SPDX-License-Identifier: Apache-2.0 */
/* words.c — the meaning of names: a table each for planes, lines, statistics and events. The first
 * row that fits counts. doc/formats.md shows the tables. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "import/xspace/xspace.h"
#include "varve/varve.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- planes ---- */

static const struct vv_xspace_plane_word plane_words[] = {
    { "/host:CPU", true, VV_XSPACE_HOST, VARVE_DEVICE_KIND_CPU, 0 },
    { "/host:python-tracer", true, VV_XSPACE_HOST, VARVE_DEVICE_KIND_CPU, 0 },
    { "/host:CUPTI", true, VV_XSPACE_HOST, VARVE_DEVICE_KIND_CPU, 0 },
    { "/host:NVTX-CUPTI", true, VV_XSPACE_HOST, VARVE_DEVICE_KIND_CPU, 0 },
    { "/host:ROCTRACER", true, VV_XSPACE_HOST, VARVE_DEVICE_KIND_CPU, 0 },
    { "/host:TPU-runtime", true, VV_XSPACE_HOST, VARVE_DEVICE_KIND_CPU, 0 },
    { "/device:GPU:", false, VV_XSPACE_DEVICE, VARVE_DEVICE_KIND_CUDA, VV_ACTIVITY_KERNEL },
    { "/device:", false, VV_XSPACE_DEVICE, VARVE_DEVICE_KIND_OTHER, VV_ACTIVITY_OTHER },
    { "/virtualdevice:", false, VV_XSPACE_DEVICE, VARVE_DEVICE_KIND_OTHER, VV_ACTIVITY_OTHER },
    { "#Chip", false, VV_XSPACE_DEVICE, VARVE_DEVICE_KIND_OTHER, VV_ACTIVITY_OTHER },
    { "Task Environment", true, VV_XSPACE_ENVIRONMENT, VARVE_DEVICE_KIND_CPU, 0 },
    { "", false, VV_XSPACE_OTHER, VARVE_DEVICE_KIND_CPU, 0 },
};

const struct vv_xspace_plane_word *vv_xspace_plane_word(const char *name)
{
    const struct vv_xspace_plane_word *word = plane_words;
    while (word->is_whole ? strcmp(name, word->prefix) != 0 : !begins_with(name, word->prefix))
        word++;
    return word;
}

/* ---- lines of a device ---- */

static const struct vv_xspace_line_word line_words[] = {
    { "Stream #", VARVE_LAYER_DEVICE, VV_ACTIVITY_KERNEL, false },
    { "XLA Ops", VARVE_LAYER_DEVICE, VV_ACTIVITY_KERNEL, false },
    { "Sparse Core Ops", VARVE_LAYER_DEVICE, VV_ACTIVITY_KERNEL, false },
    { "Async XLA Ops", VARVE_LAYER_DEVICE, VV_ACTIVITY_OTHER, false },
    { "Steps", VARVE_LAYER_STEP, VV_ACTIVITY_ANNOTATION, true },
    { "Sparse Core Steps", VARVE_LAYER_STEP, VV_ACTIVITY_ANNOTATION, true },
    { "XLA Modules", VARVE_LAYER_RUNTIME, VV_ACTIVITY_ANNOTATION, false },
    { "Sparse Core Modules", VARVE_LAYER_RUNTIME, VV_ACTIVITY_ANNOTATION, false },
    { "XLA TraceMe", VARVE_LAYER_RUNTIME_L1, VV_ACTIVITY_ANNOTATION, false },
    { "Framework Ops", VARVE_LAYER_OP, VV_ACTIVITY_ANNOTATION, false },
    { "TensorFlow Ops", VARVE_LAYER_OP, VV_ACTIVITY_ANNOTATION, false },
    { "Framework Name Scope", VARVE_LAYER_API, VV_ACTIVITY_ANNOTATION, false },
    { "TensorFlow Name Scope", VARVE_LAYER_API, VV_ACTIVITY_ANNOTATION, false },
    { "Source code", VARVE_LAYER_API, VV_ACTIVITY_ANNOTATION, false },
    { "Launch Stats", VARVE_LAYER_RUNTIME, VV_ACTIVITY_ANNOTATION, false },
    { "Overlay", VARVE_LAYER_DEVICE, VV_ACTIVITY_ANNOTATION, false },
};

const struct vv_xspace_line_word *vv_xspace_line_word(const char *name)
{
    for (size_t i = 0; i < COUNT(line_words); i++)
        if (begins_with(name, line_words[i].prefix))
            return &line_words[i];
    return NULL;
}

/* ---- statistics ---- */

const struct vv_xspace_stat_word vv_xspace_stat_words[] = {
    { "", VV_XSPACE_ARGUMENT, VV_XSPACE_KEEP, false },
    { "correlation_id", VV_XSPACE_CORRELATION, VV_XSPACE_TAKE, false },
    { "context_id", VV_XSPACE_CONTEXT, VV_XSPACE_TAKE_OF_WORK, false },
    { "flops", VV_XSPACE_FLOPS, VV_XSPACE_TAKE, false },
    { "bytes_accessed", VV_XSPACE_BYTES_ACCESSED, VV_XSPACE_TAKE, false },
    { "hlo_category", VV_XSPACE_CATEGORY, VV_XSPACE_TAKE, true },
    { "shape_with_layout", VV_XSPACE_SHAPE, VV_XSPACE_KEEP, true },
    { "shape", VV_XSPACE_SHAPE, VV_XSPACE_KEEP, true },
    { "source", VV_XSPACE_SOURCE, VV_XSPACE_KEEP, true },
    { "hlo_op", VV_XSPACE_HLO_OP, VV_XSPACE_KEEP, true },
    { "step_num", VV_XSPACE_STEP, VV_XSPACE_KEEP, false },
    { "group_id", VV_XSPACE_GROUP, VV_XSPACE_KEEP, false },
    { "_r", VV_XSPACE_ROOT, VV_XSPACE_KEEP, false },
    { "flow", VV_XSPACE_FLOW, VV_XSPACE_KEEP, false },
    { "_pt", VV_XSPACE_PRODUCER_TYPE, VV_XSPACE_KEEP, false },
    { "_p", VV_XSPACE_PRODUCER, VV_XSPACE_KEEP, false },
    { "_ct", VV_XSPACE_CONSUMER_TYPE, VV_XSPACE_KEEP, false },
    { "_c", VV_XSPACE_CONSUMER, VV_XSPACE_KEEP, false },
    { "memcpy_details", VV_XSPACE_COPY_DETAILS, VV_XSPACE_KEEP, true },
    { "memset_details", VV_XSPACE_SET_DETAILS, VV_XSPACE_KEEP, true },
    { "Memset_details", VV_XSPACE_SET_DETAILS, VV_XSPACE_KEEP, true },
    { "addr", VV_XSPACE_ADDRESS, VV_XSPACE_TAKE_OF_MEMORY, false },
    { "allocation_bytes", VV_XSPACE_ALLOCATION_BYTES, VV_XSPACE_TAKE_OF_MEMORY, false },
    { "bytes_allocated", VV_XSPACE_ALLOCATED_BYTES, VV_XSPACE_TAKE_OF_MEMORY, false },
    { "bytes_reserved", VV_XSPACE_RESERVED_BYTES, VV_XSPACE_TAKE_OF_MEMORY, false },
    { "fragmentation", VV_XSPACE_FRAGMENTATION, VV_XSPACE_TAKE_OF_MEMORY, false },
    { "allocator_name", VV_XSPACE_ALLOCATOR, VV_XSPACE_KEEP, true },
    { "index_on_host", VV_XSPACE_DEVICE_ORDINAL, VV_XSPACE_KEEP, false },
    { "device_ordinal", VV_XSPACE_DEVICE_ORDINAL, VV_XSPACE_KEEP, false },
    { "profile_start_time", VV_XSPACE_START_TIME, VV_XSPACE_KEEP, false },
};

uint32_t vv_xspace_stat_index(const char *name)
{
    for (uint32_t i = 1; i < COUNT(vv_xspace_stat_words); i++)
        if (strcmp(vv_xspace_stat_words[i].name, name) == 0)
            return i;
    return 0;
}

/* ---- events ---- */

static const struct {
    const char *prefix;
    uint8_t event_class;
} event_classes[] = {
    { "MemoryAllocation", VV_XSPACE_ALLOCATION }, { "MemoryDeallocation", VV_XSPACE_DEALLOCATION },
    { "Memcpy", VV_XSPACE_COPY },                 { "async-copy", VV_XSPACE_COPY },
    { "Memset", VV_XSPACE_SET },
};

enum vv_xspace_event_class vv_xspace_event_class(const char *name)
{
    for (size_t i = 0; i < COUNT(event_classes); i++)
        if (begins_with(name, event_classes[i].prefix))
            return event_classes[i].event_class;
    return VV_XSPACE_PLAIN;
}

static const struct {
    const char *prefix;
    uint16_t layer;
} host_layers[] = {
    { "$", VARVE_LAYER_PYTHON },
    { "TFE_Py_", VARVE_LAYER_API },
    { "PjitFunction(", VARVE_LAYER_API },
    { "EagerLocalExecute: ", VARVE_LAYER_OP },
    { "Iterator::", VARVE_LAYER_HOST },
    { "PjRt", VARVE_LAYER_RUNTIME },
    { "Tfrt", VARVE_LAYER_RUNTIME },
    { "tpu::System::", VARVE_LAYER_RUNTIME },
    { "ThreadpoolListener::", VARVE_LAYER_RUNTIME_L1 },
};

uint16_t vv_xspace_host_layer(const char *name, bool has_display_name)
{
    for (size_t i = 0; i < COUNT(host_layers); i++)
        if (begins_with(name, host_layers[i].prefix))
            return host_layers[i].layer;
    return has_display_name ? VARVE_LAYER_OP : VARVE_LAYER_HOST;
}

static const struct {
    const char *word, *name;
} collectives[] = {
    { "all-reduce", "all_reduce" },         { "all-gather", "all_gather" },
    { "reduce-scatter", "reduce_scatter" }, { "ragged-all-to-all", "all_to_all" },
    { "all-to-all", "all_to_all" },         { "collective-permute", "permute" },
    { "collective-broadcast", "broadcast" }, { "ncclDevKernel_AllReduce", "all_reduce" },
    { "ncclDevKernel_AllGather", "all_gather" }, { "ncclDevKernel_ReduceScatter",
                                                   "reduce_scatter" },
    { "ncclDevKernel_Broadcast", "broadcast" }, { "ncclDevKernel_Reduce", "reduce" },
    { "ncclDevKernel_SendRecv", "send_recv" }, { "ncclKernel_AllReduce", "all_reduce" },
    { "ncclKernel_AllGather", "all_gather" }, { "ncclKernel_ReduceScatter", "reduce_scatter" },
    { "ncclKernel_Broadcast", "broadcast" }, { "ncclKernel_SendRecv", "send_recv" },
};

/* Uses the category if there is one, such as "all-reduce-scatter fusion"; otherwise the kernel's
 * own name. */
const char *vv_xspace_collective(const char *name, const char *category)
{
    const char *text = category[0] != '\0' ? category : name;
    for (size_t i = 0; i < COUNT(collectives); i++)
        if (begins_with(text, collectives[i].word))
            return collectives[i].name;
    return NULL;
}

const char *vv_xspace_context_type(uint64_t type)
{
    static const char *const names[] = {
        "generic", "legacy", "tf_executor", "tfrt_executor", "shared_batch_scheduler", "pjrt",
        "adaptive_shared_batch_scheduler", "tfrt_tpu_runtime", "tpu_embedding_engine", "gpu_launch",
        "batcher", "tpu_stream", "tpu_launch", "pathways_executor", "pjrt_library_call",
        "threadpool_event", "jax_serving_executor", "sc_offload",
    };
    return type < COUNT(names) ? names[type] : "unknown";
}

uint64_t vv_xspace_details_bytes(const char *details)
{
    static const char *const keys[] = { "num_bytes:", "size:" };
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *found = strstr(details, keys[i]);
        if (found != NULL && isdigit((unsigned char)found[strlen(keys[i])]))
            return strtoull(found + strlen(keys[i]), NULL, 10);
    }
    return 0;
}
