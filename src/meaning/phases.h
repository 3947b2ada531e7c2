/* SPDX-License-Identifier: Apache-2.0 */
/* phases.h — finds the phase of each slice (forward, backward, optimizer …) from its operators, if
 * no phases were recorded. doc/metrics.md §5 has the rules.
 *
 * Thread-compatible. */
#ifndef VV_MEANING_PHASES_H
#define VV_MEANING_PHASES_H

#include "model/model.h"

/* In order of preference: if threads are in several phases at one instant, the first one gets it.
 * See phase_split.c. */
enum vv_op_phase {
    VV_PHASE_NONE, VV_PHASE_DATA, VV_PHASE_RECOMPUTE, VV_PHASE_OPTIMIZER, VV_PHASE_BACKWARD,
    VV_PHASE_FORWARD,
    VV_PHASE_COMMUNICATION, /* of no slice: what collectives in the background take alone         */
    VV_PHASE_COUNT
};

struct vv_op_phases {
    const uint8_t *of_slice; /* slice -> enum vv_op_phase; NULL if phases were recorded */
};

/* The phases of a finished model. They are found once and are the model's. Thread-safe. */
enum varve_code vv_op_phases(const struct vv_model *model, struct vv_op_phases *out_phases,
                             struct varve_error *error);
/* The same, but of_slice is always set: from the operators, even if phases were recorded. */
enum varve_code vv_op_phases_found(const struct vv_model *model, struct vv_op_phases *out_phases,
                                   struct varve_error *error);

/* A phase as one number: the model's string for a recorded phase, or VV_PHASE_FOUND with a found
 * one. VV_NONE = none. */
#define VV_PHASE_FOUND UINT32_C(0x80000000)
uint32_t vv_phase_of(const struct vv_model *model, const struct vv_op_phases *phases,
                     uint32_t slice);
const char *vv_phase_text(const struct vv_model *model, uint32_t phase);

#endif
