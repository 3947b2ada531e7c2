/* SPDX-License-Identifier: Apache-2.0 */
/* host_doing.h — what a thread did during a window of time: each instant counts for one role, and
 * for the slice that has it.
 *
 * The role of an instant is that of the innermost open slice that waits, allocates, compiles,
 * collects garbage, loads data or communicates, with everything that this slice calls. Without such
 * a slice it is the role of the innermost call, operator or frame of Python. Otherwise there is no
 * role. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_HOST_DOING_H
#define VV_DERIVE_DEVICES_HOST_DOING_H

#include "meaning/host_role.h"
#include "numbers/intervals.h"
#include "numbers/pair_ids.h"

/* Time in slices of one name, for each key of the caller's. */
struct vv_host_stays {
    struct vv_groups groups; /* (name, key) -> stay                                              */
    struct vv_host_stay { int64_t time_ns, longest_ns; uint32_t slice; } *stays; /* slice: of the
                                                                             longest piece */
    size_t capacity;
};

struct vv_host_doing {
    struct vv_host_roles roles;
    uint8_t *inherited; /* slice -> the role while it is the innermost open slice, given the slices
                           around it */
    uint32_t *holder;   /* … and the slice that has this role: itself, or one around it          */
    struct { uint32_t key, stay; } *recent; /* name -> its last key, and its stay + 1 of the only
                                               vv_host_stays                                     */
};

/* A window of a thread's time. */
struct vv_host_window { uint32_t track, first_key; struct vv_interval time; };

enum varve_code vv_host_doing_init(struct vv_host_doing *out_doing, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error);

/* One vv_host_doing goes with one vv_host_stays. Adds the window's time to by_role_ns, which has
 * VV_HOST_COUNT items. Exactly the window's length is added. Where a slice has the role, its time
 * goes to the stays, with key first_key + role. */
enum varve_code vv_host_doing_add(const struct vv_host_doing *doing,
                                  const struct vv_host_window *in, struct vv_host_stays *stays,
                                  int64_t *by_role_ns, struct varve_error *error);

#endif
