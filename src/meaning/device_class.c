/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/device_class.h"

#include <string.h>

#include "varve/varve.h"

/* Parts of names. Position and case do not matter, because libraries put prefixes and wrappers
 * around names. The first part that the name contains counts. A reduction among the threads of a
 * warp or block moves nothing between devices. Inductor names a kernel after all operators that it
 * reads from, and a product that sends as it computes is one. ROCm up to 7.1 reports copies as
 * kernels. XLA's names are HLO instructions. Ascend and MTIA list waits among the work; a waiting
 * device does none. */
static const struct word { const char *part; enum vv_device_class class; } words[] = {
    { "nccl", VV_CLASS_COMM },                { "rccl", VV_CLASS_COMM },
    { "hccl", VV_CLASS_COMM },                { "hcom_", VV_CLASS_COMM },
    { "oneccl", VV_CLASS_COMM },              { "msccl", VV_CLASS_COMM },
    { "nvshmem", VV_CLASS_COMM },             { "rocshmem", VV_CLASS_COMM },
    { "deep_ep::", VV_CLASS_COMM },           { "ep::internode", VV_CLASS_COMM },
    { "ep::intranode", VV_CLASS_COMM },       { "epdispatch", VV_CLASS_COMM },
    { "epcombine", VV_CLASS_COMM },           { "moea2a", VV_CLASS_COMM },
    { "userbuffers", VV_CLASS_COMM },         { "cross_device_reduce", VV_CLASS_COMM },
    { "all-reduce", VV_CLASS_COMM },          { "all-gather", VV_CLASS_COMM },
    { "all-to-all", VV_CLASS_COMM },          { "reduce-scatter", VV_CLASS_COMM },
    { "collective-permute", VV_CLASS_COMM },  { "collective-broadcast", VV_CLASS_COMM },
    { "memory_copy_", VV_CLASS_COPY },        { "__amd_rocclr_copybuffer", VV_CLASS_COPY },
    { "copy-start", VV_CLASS_COPY },          { "copy-done", VV_CLASS_COPY },
    { "infeed", VV_CLASS_COPY },              { "outfeed", VV_CLASS_COPY },
    { "memcpy_async", VV_CLASS_COPY },        { "sdma_sqe", VV_CLASS_COPY },
    { "pcie_dma", VV_CLASS_COPY },            { "dma_request", VV_CLASS_COPY },
    { "__amd_rocclr_fillbuffer", VV_CLASS_SET }, { "_memset", VV_CLASS_SET },
    { "event_wait", VV_CLASS_NONE },          { "event_record", VV_CLASS_NONE },
    { "notify_wait", VV_CLASS_NONE },         { "notify_record", VV_CLASS_NONE },
    { "warpallreduce", VV_CLASS_COMPUTE },    { "blockallreduce", VV_CLASS_COMPUTE },
    { "triton_poi_", VV_CLASS_COMPUTE },      { "triton_red_", VV_CLASS_COMPUTE },
    { "triton_per_", VV_CLASS_COMPUTE },      { "triton_tem_", VV_CLASS_COMPUTE },
    { "matmul", VV_CLASS_COMPUTE },           { "gemm", VV_CLASS_COMPUTE },
    { "allreduce", VV_CLASS_COMM },           { "all_reduce", VV_CLASS_COMM },
    { "allgather", VV_CLASS_COMM },           { "all_gather", VV_CLASS_COMM },
    { "alltoall", VV_CLASS_COMM },            { "all_to_all", VV_CLASS_COMM },
    { "reducescatter", VV_CLASS_COMM },       { "reduce_scatter", VV_CLASS_COMM },
};

const char *vv_device_class_text(enum vv_device_class class)
{
    static const char *const texts[VV_CLASS_COUNT + 1] = { "computation", "communication", "memcpy",
                                                           "memset", [VV_CLASS_NONE] = "wait" };
    return texts[class];
}

static enum vv_device_class class_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i].part) != NULL)
            return words[i].class;
    return VV_CLASS_COMPUTE;
}

enum vv_device_class vv_device_class_of(const struct vv_model *model, uint32_t activity,
                                        uint8_t *by_name)
{
    uint32_t slice = model->activities.slice[activity];
    switch (model->activities.kind[activity]) {
    case VV_ACTIVITY_COPY:
        return VV_CLASS_COPY;
    case VV_ACTIVITY_SET:
        return VV_CLASS_SET;
    default:
        break;
    }
    if (slice == VV_NONE)
        return VV_CLASS_COMPUTE;
    if (model->slices.layer[slice] == VARVE_LAYER_COMM)
        return VV_CLASS_COMM;
    uint32_t name = model->slices.name[slice];
    if (by_name[name] == 0)
        by_name[name] = (uint8_t)(1 + class_of_name(vv_intern_text(&model->strings, name)));
    return (enum vv_device_class)(by_name[name] - 1);
}
