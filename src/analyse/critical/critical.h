/* SPDX-License-Identifier: Apache-2.0 */
/* critical.h — what the tables of the critical path begin with, and what the parts of a path are called. */
#ifndef VV_ANALYSE_CRITICAL_CRITICAL_H
#define VV_ANALYSE_CRITICAL_CRITICAL_H

#include "analyse/critical/solve.h"
#include "meaning/host_role.h"
#include "question/question.h"

/* What the time on a path is spent on. */
enum vv_bound {
    VV_BOUND_HOST, VV_BOUND_DATA, VV_BOUND_COMPUTE, VV_BOUND_COMM, VV_BOUND_COPY, VV_BOUND_LAUNCH, VV_BOUND_QUEUE,
    VV_BOUND_COUNT
};

struct vv_critical {
    struct vv_scope scope;
    struct vv_critical_windows windows;
    struct vv_critical_graph graph;
    struct vv_critical_solution solution;
    struct vv_host_roles roles;
    uint8_t *bound_by_slice; /* enum vv_bound + 1 of host slices that were asked for; 0 = not yet     */
};

/* The whole of it. De-initialise also after a failure. */
enum varve_code vv_critical_init(struct vv_critical *critical, const struct vv_model *model,
                                 const struct vv_question *question, struct varve_error *error);
void vv_critical_deinit(struct vv_critical *critical);

/* "host", "data loading" … */
const char *vv_bound_text(enum vv_bound bound);
/* Of an edge whose link weighs something. */
enum vv_bound vv_bound_of(struct vv_critical *critical, enum vv_critical_link link, uint32_t owner);
/* Why an edge explains no time: "nothing recorded". Of a link that weighs nothing; NONE: before and after the path. */
const char *vv_gap_text(enum vv_critical_link link);
/* The time that the edge to the path's node number `place` does not explain; 0 where the graph is not ours. */
int64_t vv_gap_ns(const struct vv_critical *critical, size_t place);
/* "(launch)" and the like for what no operator owns; the operator's name otherwise. */
const char *vv_owner_text(const struct vv_critical *critical, enum vv_critical_link link, uint32_t owner);
/* What the numbers cover: "step 7 …: " and `says`, or without it how much the path explains, and what was odd. */
enum varve_code vv_critical_policy(const struct vv_critical *critical, struct vv_sheet *sheet, const char *says,
                                   struct varve_error *error);

#endif
