/* SPDX-License-Identifier: Apache-2.0 */
/* config.h — a configuration of the control API. A configuration does not change once made. */
#ifndef VV_RECORD_PROFILING_CONFIG_H
#define VV_RECORD_PROFILING_CONFIG_H

#include "varve/control.h"

struct varve_profiling_config {
    uint32_t layers; /* 0 = not given                                                           */
    uint32_t device_count;
    uint32_t devices[VARVE_PROFILING_DEVICES_MAX];
    char *metrics;   /* owned; NULL = none                                                      */
};

void vv_profiling_config_free(struct varve_profiling_config *config); /* NULL-safe */

#endif
