/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices and hosts. */
#include "analyse/advice/rules/rules.h"

const struct vv_rule vv_rules_memory[] = {
    { .name = "leak",
      .is = { vv_analyse_memory_leaks, NULL, NULL, "live_share", NULL, 0.01, VV_EACH_ROW },
      .weight = 1,
      .says = "{path} allocated {bytes}[ on rank {rank}] in {steps} steps that nothing released.",
      .remedy = "total += loss.item() or loss.detach(), no list of tensors that carry a "
                "graph; del what the step no longer needs; retain_graph=False.",
      .remedy_xla = "No list of arrays from step to step; del what the step no longer needs; "
                "jax.live_arrays() lists what lives.",
      .remedy_opencl = "clReleaseMemObject and free what the step no longer needs; keep "
                "buffers from step to step.",
      .remedy_cuda = "cudaFree, cudaFreeAsync and free what the step no longer needs; keep "
                "buffers from step to step.",
      .remedy_iree = "Release buffers and results of former calls (iree_vm_list_release, "
                "iree_hal_buffer_release).",
      .see = "varve memory --table memory_leaks",
      .because = "PyTorch's FAQ on memory: graphs kept by a sum of losses; 1 % a run grows "
                 "until it fails." },
    { .name = "slack",
      .is = { vv_analyse_memory, NULL, NULL, "slack_bytes", "reserved_peak_bytes", 0.3,
              VV_EACH_ROW },
      .weight = 0.3,
      .says = "Of the {reserved_peak_bytes} that the allocator held of {device}[ of rank {rank}], "
              "{slack_bytes} lay idle.",
      .remedy = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or max_split_size_mb; a "
                "larger batch fits.",
      .remedy_xla = "XLA takes memory ahead, so this is room for a larger batch; on GPUs "
                "XLA_PYTHON_CLIENT_PREALLOCATE=false or XLA_PYTHON_CLIENT_MEM_FRACTION leaves it "
                "to others.",
      .remedy_ascend = "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, or max_split_size_mb; a "
                "larger batch fits.",
      .remedy_opencl = "Smaller pools, or a larger batch, which fits.",
      .remedy_cuda = "cudaMemPoolTrimTo, or a lower cudaMemPoolAttrReleaseThreshold; a larger "
                "batch fits.",
      .see = "varve memory",
      .because = "PyTorch's memory management notes: 30 % is beyond the rounding of blocks." },
    { .name = "fragmentation",
      .unless = "slack",
      .is = { vv_analyse_memory, NULL, NULL, "free_fragmentation", NULL, 0.5, VV_EACH_ROW },
      .also = { vv_analyse_memory, NULL, NULL, "slack_bytes", "reserved_peak_bytes", 0.1,
                VV_EACH_ROW },
      .weight = 0.3,
      .says = "Free memory of {device}[ of rank {rank}] lies in pieces: the largest free piece is "
              "{largest_hole_bytes}, {share} of the free memory is in smaller ones.",
      .remedy = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; pad to few sizes; allocate "
                "what lives long first.",
      .remedy_xla = "Donate buffers (jax.jit(donate_argnums=…)); pad to few sizes; on GPUs "
                "TF_GPU_ALLOCATOR=cuda_malloc_async.",
      .remedy_ascend = "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; pad to few sizes; "
                "allocate what lives long first.",
      .remedy_opencl = "Sub-buffers of one large buffer (clCreateSubBuffer); pad to few "
                "sizes; allocate what lives long first.",
      .remedy_cuda = "Parts of one large buffer; cudaMallocAsync, whose pool joins what is free; "
                "pad to few sizes.",
      .see = "varve memory",
      .because = "PyTorch's memory management notes; half in pieces makes the next large "
                 "block fail." },
};
const size_t vv_rules_memory_count = sizeof vv_rules_memory / sizeof *vv_rules_memory;
