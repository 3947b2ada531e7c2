/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h — the blocks that PyTorch takes for tensors on the CPU. */
#ifndef VV_COLLECT_TORCH_MEMORY_H
#define VV_COLLECT_TORCH_MEMORY_H

#include <stdbool.h>

/* Do PyTorch's calls pass through this library? False if PyTorch was loaded first, or if this
 * library was loaded with local scope. */
bool vv_torch_memory_is_between(void);

#endif
