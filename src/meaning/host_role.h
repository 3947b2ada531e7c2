/* SPDX-License-Identifier: Apache-2.0 */
/* host_role.h — what a host thread does while a slice is its innermost one: it calls the device's
 * runtime, waits, allocates, loads data, compiles …
 *
 * The layer and the flags that the importer found decide first, then the name. The table of words
 * is in host_role.c. Thread-compatible. */
#ifndef VV_MEANING_HOST_ROLE_H
#define VV_MEANING_HOST_ROLE_H

#include "model/model.h"

enum vv_host_role {
    VV_HOST_NONE,       /* only marks the course: a step, a phase, an annotation */
    VV_HOST_OP,
    VV_HOST_PYTHON,
    VV_HOST_GC,
    VV_HOST_COMPILE,
    VV_HOST_LOADER,     /* waits for the next batch */
    VV_HOST_COMM,       /* a collective on the host */
    VV_HOST_CALL,       /* a runtime call: a launch, a query … */
    VV_HOST_ALLOCATION, /* a call that allocates or frees memory */
    VV_HOST_SYNC,       /* a call that waits for the device */
    VV_HOST_COUNT
};

struct vv_host_roles {
    const struct vv_model *model; /* borrowed */
    const uint8_t *of_slice;      /* enum vv_host_role; the model's */
};

/* Found once for a model. */
enum varve_code vv_host_roles_init(struct vv_host_roles *out_roles, const struct vv_model *model,
                                   struct varve_error *error);

static inline enum vv_host_role vv_host_role_of(const struct vv_host_roles *roles, uint32_t slice)
{
    return (enum vv_host_role)roles->of_slice[slice];
}
/* The name of a role: "operator", "Python", "data loader" … */
const char *vv_host_role_text(enum vv_host_role role);

#endif
