/* SPDX-License-Identifier: Apache-2.0 */
/* configuration.h — what is common to aclprof* and aclgrphProf*: initialisation, configurations,
 * start and stop. Results are those of acl/acl_prof.h. Thread-safe. */
#ifndef VARVE_COMPAT_CONFIGURATION_H
#define VARVE_COMPAT_CONFIGURATION_H

#include <stdbool.h>

#include "acl/acl_prof.h"
#include "ascend/recording.h"

struct vv_configuration {
    struct vv_recording_wish wish;
};

aclError vv_prof_init(const char *path, size_t length);
aclError vv_prof_finalize(void);
/* NULL: the devices are not different ones below 64, or there is no memory. */
struct vv_configuration *vv_prof_configure(const uint32_t *devices, uint32_t count,
                                           uint32_t metrics, uint64_t mask);
aclError vv_prof_start(const struct vv_configuration *configuration);
/* NULL stops whatever is started. */
aclError vv_prof_stop(const struct vv_configuration *configuration);

#endif
