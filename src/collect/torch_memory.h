/* SPDX-License-Identifier: Apache-2.0 */
/* torch_memory.h — the blocks that PyTorch takes for tensors on the CPU. */
#ifndef VV_COLLECT_TORCH_MEMORY_H
#define VV_COLLECT_TORCH_MEMORY_H

/* From now on each is recorded. */
void vv_torch_memory_begin(void);

#endif
