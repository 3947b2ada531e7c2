/* SPDX-License-Identifier: Apache-2.0 */
/* host_role.h — what a host thread does while a slice is its innermost one: calls the device's runtime, waits,
 * allocates, loads data, compiles …
 *
 * By the layer and the flags that the importer found, then by name: one table of words in host_role.c.
 * Thread-compatible. */
#ifndef VV_MEANING_HOST_ROLE_H
#define VV_MEANING_HOST_ROLE_H

#include "model/model.h"

enum vv_host_role {
    VV_HOST_NONE,       /* a mark of the program's course: a step, a phase, an annotation */
    VV_HOST_OP,
    VV_HOST_PYTHON,
    VV_HOST_GC,
    VV_HOST_COMPILE,
    VV_HOST_LOADER,     /* waits for the next batch */
    VV_HOST_COMM,       /* a collective, as the host sees it */
    VV_HOST_CALL,       /* of the device's runtime: a launch, a query … */
    VV_HOST_ALLOCATION, /* a call that takes or gives back memory */
    VV_HOST_SYNC,       /* a call that waits for the device */
    VV_HOST_COUNT
};

struct vv_host_roles {
    const struct vv_model *model; /* borrowed */
    uint8_t *by_name;             /* what the words said of a string; 0 = not asked yet */
};

/* De-initialise also after a failure. */
enum varve_code vv_host_roles_init(struct vv_host_roles *out_roles, const struct vv_model *model,
                                   struct varve_error *error);
void vv_host_roles_deinit(struct vv_host_roles *roles);

enum vv_host_role vv_host_role_of(struct vv_host_roles *roles, uint32_t slice);
/* "operator", "Python", "data loader" … */
const char *vv_host_role_text(enum vv_host_role role);

/* Both of these also need the slice to be a call of the runtime, which vv_host_role_of checks. */
static inline bool vv_is_call(enum vv_host_role role)
{
    return role >= VV_HOST_CALL;
}

#endif
