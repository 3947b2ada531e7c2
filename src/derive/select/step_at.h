/* SPDX-License-Identifier: Apache-2.0 */
/* step_at.h — the step in which an instant lies, for records that are no slices: marks, values of
 * counters, ends of arrows. The rule is that of slices (model/build/steps.c): a step of the own
 * track comes first, then a step of any track of the process; of several open steps, the one that
 * began last. Thread-compatible. */
#ifndef VV_DERIVE_SELECT_STEP_AT_H
#define VV_DERIVE_SELECT_STEP_AT_H

#include "base/scratch.h"
#include "model/model.h"

/* Steps in groups, each in order of begin. */
struct vv_step_groups {
    uint32_t *steps;      /* rows                                                               */
    uint32_t *groups;     /* of steps[i]: row of its track, or of its process                   */
    int64_t *latest_ns;   /* the last end of steps[0..i] of its group                           */
    size_t count;
};

struct vv_step_finder {
    const struct vv_model *model; /* borrowed */
    struct vv_step_groups by_track, by_process;
};

enum varve_code vv_step_finder_init(struct vv_step_finder *finder, const struct vv_model *model,
                                    struct vv_scratch *scratch, struct varve_error *error);
/* A row in steps, or VV_NONE. `track` may be VV_NONE. */
uint32_t vv_step_at(const struct vv_step_finder *finder, uint32_t track, int64_t time_ns);

#endif
