/* SPDX-License-Identifier: Apache-2.0 */
/* host_doing.h — what a thread did during a window of time: each instant counts for one role.
 *
 * The role of an instant is that of the innermost open slice that waits, allocates, compiles,
 * collects garbage, loads data or communicates, with everything that this slice calls. Without such
 * a slice it is the role of the innermost call, operator or frame of Python. Otherwise there is no
 * role. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_HOST_DOING_H
#define VV_DERIVE_DEVICES_HOST_DOING_H

#include "meaning/host_role.h"
#include "numbers/intervals.h"

struct vv_host_doing {
    struct vv_host_roles roles;
    uint8_t *inherited; /* slice -> the role while it is the innermost open slice, given the slices
                           around it */
};

enum varve_code vv_host_doing_init(struct vv_host_doing *out_doing, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error);

/* Adds the window's time to by_role_ns, which has VV_HOST_COUNT items. Exactly the window's length
 * is added. */
void vv_host_doing_add(const struct vv_host_doing *doing, uint32_t track, struct vv_interval window,
                       int64_t *by_role_ns);

#endif
