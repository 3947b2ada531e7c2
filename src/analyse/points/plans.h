/* SPDX-License-Identifier: Apache-2.0 */
/* plans.h — which node a mark is of, as the recorded plans say. Private to this room. */
#ifndef VV_ANALYSE_POINTS_PLANS_H
#define VV_ANALYSE_POINTS_PLANS_H

#include "base/scratch.h"
#include "model/model.h"

struct vv_plan_key {
    uint64_t model;
    uint32_t process, index, row; /* row in planned_points                                      */
    uint8_t kind;
};

struct vv_plans {
    struct vv_plan_key *keys; /* of the points that are marked, sorted                          */
    size_t count;
};

enum varve_code vv_plans_sort(struct vv_plans *out_plans, const struct vv_model *model,
                              struct vv_scratch *scratch, struct varve_error *error);

/* Row in planned_points; VV_NONE = no recorded plan has it. If several have, the last counts. */
uint32_t vv_plans_find(const struct vv_plans *plans, uint32_t process, uint64_t model, uint8_t kind,
                       uint32_t index);

#endif
