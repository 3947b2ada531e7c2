/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h — the blocks that PyTorch takes for tensors on the CPU. */
#ifndef VV_COLLECT_TORCH_MEMORY_H
#define VV_COLLECT_TORCH_MEMORY_H

#include <stdbool.h>

/* Does PyTorch come by here? Not where it was loaded first, or this library only for those who ask for it. */
bool vv_torch_memory_is_between(void);

#endif
