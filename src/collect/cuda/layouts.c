/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cuda/layouts.h"

#include <string.h>

#define AT(offset, bytes) { offset, bytes }

static const struct vv_cupti_layout layouts[] = {
    { VV_CUPTI_KERNEL, 160,
      { [VV_F_START] = AT(16, 8), [VV_F_END] = AT(24, 8), [VV_F_DEVICE] = AT(40, 4),
        [VV_F_CONTEXT] = AT(44, 4), [VV_F_STREAM] = AT(48, 4), [VV_F_CORRELATION] = AT(92, 4),
        [VV_F_TEXT] = AT(104, 8), [VV_F_GRID_X] = AT(52, 4), [VV_F_GRID_Y] = AT(56, 4),
        [VV_F_GRID_Z] = AT(60, 4), [VV_F_BLOCK_X] = AT(64, 4), [VV_F_BLOCK_Y] = AT(68, 4),
        [VV_F_BLOCK_Z] = AT(72, 4), [VV_F_REGISTERS] = AT(6, 2), [VV_F_SHARED] = AT(76, 4),
        [VV_F_SHARED_DYNAMIC] = AT(80, 4), [VV_F_GRAPH_NODE] = AT(144, 8),
        [VV_F_GRAPH] = AT(156, 4) } },
    { VV_CUPTI_MEMCPY, 76,
      { [VV_F_START] = AT(16, 8), [VV_F_END] = AT(24, 8), [VV_F_DEVICE] = AT(32, 4),
        [VV_F_CONTEXT] = AT(36, 4), [VV_F_STREAM] = AT(40, 4), [VV_F_CORRELATION] = AT(44, 4),
        [VV_F_BYTES] = AT(8, 8), [VV_F_SORT] = AT(4, 1), [VV_F_FROM] = AT(5, 1),
        [VV_F_TO] = AT(6, 1), [VV_F_GRAPH_NODE] = AT(64, 8), [VV_F_GRAPH] = AT(72, 4) } },
    { VV_CUPTI_MEMCPY_PEERS, 84,
      { [VV_F_START] = AT(16, 8), [VV_F_END] = AT(24, 8), [VV_F_DEVICE] = AT(32, 4),
        [VV_F_CONTEXT] = AT(36, 4), [VV_F_STREAM] = AT(40, 4), [VV_F_CORRELATION] = AT(60, 4),
        [VV_F_BYTES] = AT(8, 8), [VV_F_SORT] = AT(4, 1), [VV_F_FROM] = AT(5, 1),
        [VV_F_TO] = AT(6, 1), [VV_F_FROM_DEVICE] = AT(44, 4), [VV_F_TO_DEVICE] = AT(52, 4),
        [VV_F_GRAPH_NODE] = AT(72, 8), [VV_F_GRAPH] = AT(80, 4) } },
    { VV_CUPTI_MEMSET, 76,
      { [VV_F_START] = AT(16, 8), [VV_F_END] = AT(24, 8), [VV_F_DEVICE] = AT(32, 4),
        [VV_F_CONTEXT] = AT(36, 4), [VV_F_STREAM] = AT(40, 4), [VV_F_CORRELATION] = AT(44, 4),
        [VV_F_BYTES] = AT(8, 8), [VV_F_TO] = AT(50, 2), [VV_F_GRAPH_NODE] = AT(64, 8),
        [VV_F_GRAPH] = AT(72, 4) } },
    { VV_CUPTI_SYNCHRONIZATION, 40,
      { [VV_F_START] = AT(8, 8), [VV_F_END] = AT(16, 8), [VV_F_CONTEXT] = AT(28, 4),
        [VV_F_STREAM] = AT(32, 4), [VV_F_CORRELATION] = AT(24, 4), [VV_F_SORT] = AT(4, 4),
        [VV_F_EVENT] = AT(36, 4), [VV_F_EVENT_SYNC] = AT(40, 8) } },
    { VV_CUPTI_EVENT, 20,
      { [VV_F_CONTEXT] = AT(8, 4), [VV_F_STREAM] = AT(12, 4), [VV_F_CORRELATION] = AT(4, 4),
        [VV_F_EVENT] = AT(16, 4), [VV_F_EVENT_SYNC] = AT(48, 8) } },
    { VV_CUPTI_GRAPH, 40,
      { [VV_F_START] = AT(8, 8), [VV_F_END] = AT(16, 8), [VV_F_DEVICE] = AT(24, 4),
        [VV_F_CONTEXT] = AT(32, 4), [VV_F_STREAM] = AT(36, 4), [VV_F_CORRELATION] = AT(4, 4),
        [VV_F_GRAPH] = AT(28, 4) } },
    { VV_CUPTI_MEMORY, 72,
      { [VV_F_START] = AT(32, 8), [VV_F_DEVICE] = AT(52, 4), [VV_F_CONTEXT] = AT(56, 4),
        [VV_F_STREAM] = AT(60, 4), [VV_F_CORRELATION] = AT(12, 4), [VV_F_BYTES] = AT(24, 8),
        [VV_F_SORT] = AT(4, 4), [VV_F_TO] = AT(8, 4) } },
    { VV_CUPTI_POOL, 64,
      { [VV_F_START] = AT(56, 8), [VV_F_DEVICE] = AT(20, 4), [VV_F_CORRELATION] = AT(12, 4),
        [VV_F_SORT] = AT(4, 4), [VV_F_BYTES] = AT(40, 8), [VV_F_ADDRESS] = AT(32, 8),
        [VV_F_USED] = AT(64, 8) } },
    { VV_CUPTI_UNIFIED, 64,
      { [VV_F_START] = AT(16, 8), [VV_F_END] = AT(24, 8), [VV_F_STREAM] = AT(48, 4),
        [VV_F_SORT] = AT(4, 4), [VV_F_BYTES] = AT(8, 8), [VV_F_ADDRESS] = AT(32, 8),
        [VV_F_FROM_DEVICE] = AT(40, 4), [VV_F_TO_DEVICE] = AT(44, 4) } },
    { VV_CUPTI_OVERHEAD, 40,
      { [VV_F_START] = AT(24, 8), [VV_F_END] = AT(32, 8), [VV_F_SORT] = AT(4, 4),
        [VV_F_OBJECT] = AT(8, 4), [VV_F_THREAD] = AT(16, 4) } },
    { VV_CUPTI_CONTEXT, 16, { [VV_F_CONTEXT] = AT(4, 4), [VV_F_DEVICE] = AT(8, 4) } },
    { VV_CUPTI_NAME, 32,
      { [VV_F_OBJECT] = AT(4, 4), [VV_F_DEVICE] = AT(8, 4), [VV_F_CONTEXT] = AT(12, 4),
        [VV_F_STREAM] = AT(16, 4), [VV_F_TEXT] = AT(24, 8) } },
};

const struct vv_cupti_layout *vv_cupti_layout_of(uint32_t kind)
{
    static const struct vv_cupti_layout *by_kind[VV_CUPTI_KIND_END]; /* atomic                */
    if (kind >= VV_CUPTI_KIND_END)
        return NULL;
    const struct vv_cupti_layout *layout = __atomic_load_n(&by_kind[kind], __ATOMIC_RELAXED);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && layout == NULL; i++)
        if (layouts[i].kind == kind)
            layout = &layouts[i];
    __atomic_store_n(&by_kind[kind], layout, __ATOMIC_RELAXED);
    return layout;
}
