/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h — which of Varve's layers a record of a level and type belongs to. */
#ifndef VARVE_COMPAT_LAYERS_H
#define VARVE_COMPAT_LAYERS_H

#include "profiling/aprof_pub.h"
#include "varve/varve.h"

static inline uint32_t vv_layer_of_node(uint32_t type)
{
    if (type == MSPROF_REPORT_NODE_LAUNCH_TYPE || type == MSPROF_REPORT_NODE_HOST_OP_EXEC_TYPE)
        return VARVE_LAYER_OP;
    if (type == MSPROF_REPORT_NODE_HCCL_OP_INFO_TYPE || type >> 16 == 2)
        return VARVE_LAYER_COMM;
    return type >= 0x10001 && type <= 0x10006 ? VARVE_LAYER_HOST : VARVE_LAYER_RUNTIME_L1;
}

static inline uint32_t vv_layer_of(uint32_t level, uint32_t type)
{
    switch (level) {
    case MSPROF_REPORT_PYTORCH_LEVEL: case MSPROF_REPORT_PTA_LEVEL: return VARVE_LAYER_HOST;
    case MSPROF_REPORT_TX_LEVEL: case MSPROF_REPORT_ACL_LEVEL: return VARVE_LAYER_API;
    case MSPROF_REPORT_NODE_LEVEL: return vv_layer_of_node(type);
    case MSPROF_REPORT_HCCL_NODE_LEVEL: return VARVE_LAYER_COMM;
    default: return VARVE_LAYER_RUNTIME;
    }
}

#endif
