/* SPDX-License-Identifier: Apache-2.0 */
/* host_doing.h — what a thread did during a window of time: each instant counts for one role.
 *
 * The role of an instant is that of the innermost open slice which waits, allocates, compiles, collects garbage, loads
 * data or communicates, since what such a slice calls is part of it; else that of the innermost one that is a call, an
 * operator or a frame of Python; else nothing. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_HOST_DOING_H
#define VV_DERIVE_DEVICES_HOST_DOING_H

#include "meaning/host_role.h"
#include "numbers/intervals.h"

struct vv_host_doing {
    struct vv_host_roles roles;
    uint8_t *inherited; /* slice -> role while it is the innermost one open, by what lies around it */
};

/* De-initialise also after a failure. */
enum varve_code vv_host_doing_init(struct vv_host_doing *out_doing, const struct vv_model *model,
                                   struct varve_error *error);
void vv_host_doing_deinit(struct vv_host_doing *doing);

/* Adds the window's time to by_role_ns, VV_HOST_COUNT of them: together exactly its length. */
void vv_host_doing_add(const struct vv_host_doing *doing, uint32_t track, struct vv_interval window, int64_t *by_role_ns);

#endif
