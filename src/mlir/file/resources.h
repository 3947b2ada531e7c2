/* SPDX-License-Identifier: Apache-2.0 */
/* resources.h — the names of a module's resources (weights), to see that none is lost when another
 * tool writes the module anew. */
#ifndef VV_MLIR_FILE_RESOURCES_H
#define VV_MLIR_FILE_RESOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct vv_mlir_word { /* a piece of the input: no NUL behind it */
    const char *text;
    uint64_t bytes;
};

struct vv_mlir_resource {
    struct vv_mlir_word owner; /* "builtin": a dialect or a tool                                 */
    struct vv_mlir_word key;   /* "torch_tensor_384_torch.float32"                               */
};

struct vv_mlir_resources {
    struct vv_mlir_resource *items;
    size_t count, capacity;
};

enum varve_code vv_mlir_resources_add(struct vv_mlir_resources *resources,
                                      struct vv_mlir_resource resource,
                                      struct varve_error *error);
/* Of a text: the section between "{-#" and "#-}" at its end. Blobs are passed over. Fails for
 * want of memory alone, and then holds nothing. */
enum varve_code vv_mlir_resources_read(const char *text, uint64_t bytes,
                                       struct vv_mlir_resources *out_resources,
                                       struct varve_error *error);
void vv_mlir_resources_deinit(struct vv_mlir_resources *resources); /* of a zeroed one, too */

/* Sorts both. Writes the keys of `before` that `after` lacks into `list` ("a, b, c and 17 more"),
 * and returns their number. */
size_t vv_mlir_resources_lost(struct vv_mlir_resources *before, struct vv_mlir_resources *after,
                              char *list, size_t list_bytes);

#endif
