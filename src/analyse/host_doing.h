/* SPDX-License-Identifier: Apache-2.0 */
/* host_doing.h — what a thread did during a window of time: each instant counts for one role.
 *
 * The role of an instant is that of the innermost open slice which waits, allocates, compiles, collects garbage, loads
 * data or communicates, since what such a slice calls is part of it; else that of the innermost one that is a call, an
 * operator or a frame of Python; else nothing. Thread-compatible. Called by gaps.c. */
#ifndef VV_ANALYSE_HOST_DOING_H
#define VV_ANALYSE_HOST_DOING_H

#include "analyse/host_role.h"
#include "analyse/intervals.h"

struct vv_host_doing {
    struct vv_host_roles roles;
    struct vv_open_slice { int64_t end_ns; uint8_t role; } *stack; /* what is open, outermost first */
    size_t depth, capacity;
    uint32_t *path; /* slices around another, outermost first                                  */
    size_t path_capacity;
};

/* De-initialise also after a failure. */
enum varve_code vv_host_doing_init(struct vv_host_doing *out_doing, const struct vv_model *model,
                                   struct varve_error *error);
void vv_host_doing_deinit(struct vv_host_doing *doing);

/* Adds the window's time to by_role_ns, VV_HOST_COUNT of them: together exactly its length. */
enum varve_code vv_host_doing_add(struct vv_host_doing *doing, uint32_t track, struct vv_interval window,
                                  int64_t *by_role_ns, struct varve_error *error);

#endif
