/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h — a tuning spec of IREE (--iree-codegen-tuning-spec-path): a library of the transform
 * dialect that gives operations their lowering_config. An operation is named by its kind and by the
 * types of its inputs, not by its dispatch: so the spec holds for other modules, too, and where two
 * operations are called the same, the first entry counts for both. Thread-safe. */
#ifndef VV_MLIR_IREE_SPEC_H
#define VV_MLIR_IREE_SPEC_H

#include "mlir/iree/config.h"

void vv_iree_spec_begin(FILE *out);
/* The entry numbered `number`, from 0. The configuration must have a spec (vv_iree_has_spec). */
void vv_iree_spec_entry(const struct vv_iree_config *config, struct vv_iree_choice choice,
                        size_t number, FILE *out);
/* After `count` entries, at least one. */
void vv_iree_spec_end(size_t count, FILE *out);

#endif
