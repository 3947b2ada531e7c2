/* SPDX-License-Identifier: Apache-2.0 */
/* causes.h — why a step took longer than the median one: its thread's time is divided, and the part
 * that grew most is the cause. Thread-compatible.
 *
 * A range that compiles or saves has all that is in it; all else belongs to the innermost slice. */
#ifndef VV_ANALYSE_STEPS_CAUSES_H
#define VV_ANALYSE_STEPS_CAUSES_H

#include "analyse/steps/longer.h"
#include "meaning/host_role.h"

enum vv_step_part {
    VV_PART_COMPILATION, VV_PART_SAVING, VV_PART_PYTHON, VV_PART_OPERATORS,
    VV_PART_REST, /* in nothing that was recorded                                               */
    VV_STEP_PARTS
};

struct vv_step_parts { int64_t ns[VV_STEP_PARTS]; };

struct vv_causes {
    const struct vv_model *model;
    struct vv_scratch *scratch;
    struct vv_host_roles roles;
    uint8_t *saves; /* string -> 1 = no, 2 = what is called so saves; 0 = not asked             */
    struct vv_step_parts *steps; /* in the order in which they were told                         */
    size_t count, capacity;
    struct vv_step_parts *usual; /* those that other tables count                                */
    size_t usual_count, usual_capacity;
    int64_t median_ns[VV_STEP_PARTS];
    bool has_python; /* calls of Python were recorded                                            */
};

enum varve_code vv_causes_init(struct vv_causes *out, const struct vv_model *model,
                               struct vv_scratch *scratch, struct varve_error *error);
/* Tells the next step. own_ns: slice -> its own time in the step. */
enum varve_code vv_causes_add(struct vv_causes *causes, uint32_t step, const int64_t *own_ns,
                              bool is_usual, struct varve_error *error);
/* All steps are told. */
enum varve_code vv_causes_end(struct vv_causes *causes, struct varve_error *error);
/* The cause of one of them, and how much more than in the median step it took; NULL: nothing did.
 * `longer` is what took longer there. */
const char *vv_cause_of(const struct vv_causes *causes, size_t step,
                        const struct vv_longer_most *longer, int64_t *out_ns);

#endif
