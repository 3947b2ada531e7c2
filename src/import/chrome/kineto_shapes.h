/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_shapes.h — the input tensors of an operator, from the arguments that list them. Operators
 * with the same lists share their rows in tensors. Thread-compatible. */
#ifndef VV_IMPORT_CHROME_KINETO_SHAPES_H
#define VV_IMPORT_CHROME_KINETO_SHAPES_H

#include "base/array.h"
#include "base/slots.h"
#include "import/chrome/text.h"

struct vv_kineto_shape {
    uint32_t dims, types; /* ids of the texts of the lists; VV_NONE = none                      */
    uint32_t text;        /* string: ops.shapes                                                 */
    uint32_t first_tensor, tensor_count;
};

struct vv_kineto_shapes {
    VV_ARRAY_OF(struct vv_kineto_shape) all;
    struct vv_slots slots; /* hash table of all                                                 */
    char *text;
    size_t text_bytes, text_capacity;
};

void vv_kineto_shapes_deinit(struct vv_kineto_shapes *shapes);

/* For Kineto: "Input Dims" and "Input type"; either may be NULL. The result is borrowed until the
 * next call. */
enum varve_code vv_kineto_shape(struct vv_kineto_shapes *shapes, struct vv_chrome_text *text,
                                const struct vv_chrome_value *dims,
                                const struct vv_chrome_value *types,
                                const struct vv_kineto_shape **out_shape,
                                struct varve_error *error);
/* For ONNX Runtime: [{"float":[1,64,256]},{"int64":[4]}]. */
enum varve_code vv_kineto_typed_shape(struct vv_kineto_shapes *shapes, struct vv_chrome_text *text,
                                      const struct vv_chrome_value *list,
                                      const struct vv_kineto_shape **out_shape,
                                      struct varve_error *error);

/* For joining parts: the first tensor of a shape with these ids of lists, which is made if it is
 * new; and the id of such a list in another model. */
enum varve_code vv_kineto_shape_by_ids(struct vv_kineto_shapes *shapes, struct vv_model *model,
                                       uint32_t dims, uint32_t types, uint32_t *out_first_tensor,
                                       struct varve_error *error);
static inline uint32_t vv_kineto_map_id(uint32_t id, const uint32_t *strings)
{
    return id == VV_NONE ? VV_NONE : strings[id];
}

#endif
