/* SPDX-License-Identifier: Apache-2.0 */
/* once.h — what is found in a finished model, and found once for all who ask. Thread-safe: if two
 * threads ask at once, one finds and the other waits. */
#ifndef VV_MODEL_ONCE_H
#define VV_MODEL_ONCE_H

#include <stddef.h>

#include "base/error.h"
#include "base/scratch.h"

struct vv_model;

enum vv_once {
    VV_ONCE_HOST_ROLES,
    VV_ONCE_AUTOGRAD_LINKS,
    VV_ONCE_OP_PHASES,
    VV_ONCE_DEVICE_WORK,     /* without that of warm-up steps                                    */
    VV_ONCE_ALL_DEVICE_WORK,
    VV_ONCE_ALLOCATIONS,
    VV_ONCE_COUNT
};
#define VV_ONCE_BYTES 64u

/* Finds it and writes it to `out_found`, which is zeroed and has VV_ONCE_BYTES. Arrays come from
 * the scratch, which lives as long as the model. It may ask for what stands earlier in the enum. */
typedef enum varve_code vv_once_fn(const struct vv_model *model, struct vv_scratch *scratch,
                                   void *out_found, struct varve_error *error);

/* Copies the first `bytes` of what was found. Arrays stay the model's. A failure is not kept: the
 * next one who asks tries again. */
enum varve_code vv_model_once(const struct vv_model *model, enum vv_once which, vv_once_fn *find,
                              void *out_found, size_t bytes, struct varve_error *error);

/* For model.c. */
struct vv_onces;
enum varve_code vv_onces_create(struct vv_onces **out_onces, struct varve_error *error);
void vv_onces_destroy(struct vv_onces *onces); /* NULL-safe */
/* Nothing has been found any more. Nobody may hold what was found. */
void vv_onces_forget(struct vv_onces *onces);

#endif
