/* SPDX-License-Identifier: Apache-2.0 */
/* phases.h — forward, backward, optimizer …: the phase of each slice where nobody recorded phases, found from what the
 * operators say. The rules stand in doc/metrics.md §5.
 *
 * Thread-compatible. */
#ifndef VV_MEANING_PHASES_H
#define VV_MEANING_PHASES_H

#include "model/model.h"

/* In the order in which an instant is given to them where threads are in several: phase_split.c. */
enum vv_op_phase {
    VV_PHASE_NONE, VV_PHASE_DATA, VV_PHASE_RECOMPUTE, VV_PHASE_OPTIMIZER, VV_PHASE_BACKWARD, VV_PHASE_FORWARD,
    VV_PHASE_COUNT
};

struct vv_op_phases {
    uint8_t *of_slice; /* enum vv_op_phase; NULL where phases were recorded */
};

/* De-initialise also after a failure. */
enum varve_code vv_op_phases(const struct vv_model *model, struct vv_op_phases *out_phases, struct varve_error *error);
/* The same, of_slice always: what the operators say, whoever recorded phases besides. */
enum varve_code vv_op_phases_found(const struct vv_model *model, struct vv_op_phases *out_phases,
                                   struct varve_error *error);
void vv_op_phases_deinit(struct vv_op_phases *phases);

/* A phase as one number: a string of the model that names a recorded one, or a found one. VV_NONE = none. */
#define VV_PHASE_FOUND UINT32_C(0x80000000)
uint32_t vv_phase_of(const struct vv_model *model, const struct vv_op_phases *phases, uint32_t slice);
const char *vv_phase_text(const struct vv_model *model, uint32_t phase);

#endif
