/* SPDX-License-Identifier: Apache-2.0 */
/* config.h — a configuration of the control API, which does not change once made; and what options
 * say of a session. */
#ifndef VV_RECORD_PROFILING_CONFIG_H
#define VV_RECORD_PROFILING_CONFIG_H

#include "record/options/options.h"
#include "record/session/session.h"
#include "varve/control.h"

struct varve_profiling_config {
    uint32_t layers; /* 0 = not given                                                           */
    uint32_t device_count;
    uint32_t devices[VARVE_PROFILING_DEVICES_MAX];
    char *metrics;   /* owned; NULL = none                                                      */
    uint64_t switches;
};

void vv_profiling_config_free(struct varve_profiling_config *config); /* NULL-safe */

/* Sets how much is kept and what is counted, as the options and the configuration say. Either may
 * be NULL. */
void vv_profiling_set_manner(struct vv_session_manner *manner, const struct vv_options *options,
                             const struct varve_profiling_config *config);

#endif
