/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h — a tuning spec of IREE (--iree-codegen-tuning-spec-path): a library of the transform
 * dialect that gives operations their lowering_config. An operation is named by its kind and by the
 * types of its inputs, a linalg.generic by its loops and its body, too; not by its dispatch. So the
 * spec holds for other modules, too, and where two operations are called the same, the first entry
 * counts for both: a caller adds one of them (vv_iree_roots_are_equal).
 *
 * The compiler asks the spec before it gives a convolution of one image a loop over images. It then
 * makes the operation anew, and a configuration is lost. So a spec with a convolution runs this
 * pass of the compiler first. Thread-safe. */
#ifndef VV_MLIR_IREE_SPEC_H
#define VV_MLIR_IREE_SPEC_H

#include "mlir/iree/config.h"

struct vv_iree_spec {
    FILE *out;   /* borrowed                                                                     */
    size_t count;
    bool has_convolution;
};

/* Of a spec that begins as { .out = … }. The configuration must have a spec (vv_iree_has_spec). */
void vv_iree_spec_add(struct vv_iree_spec *spec, const struct vv_iree_config *config,
                      struct vv_iree_choice choice);
/* Without entries nothing is written. */
void vv_iree_spec_end(const struct vv_iree_spec *spec);

#endif
