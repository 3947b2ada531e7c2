/* SPDX-License-Identifier: Apache-2.0 */
/* critical.h — the critical path with its graph, as the tables need it, and the names of its
 * parts. */
#ifndef VV_ANALYSE_CRITICAL_CRITICAL_H
#define VV_ANALYSE_CRITICAL_CRITICAL_H

#include "analyse/critical/solve.h"
#include "meaning/host_role.h"
#include "question/question.h"

/* The kinds of work that the time on a path is spent on. */
enum vv_bound {
    VV_BOUND_HOST, VV_BOUND_DATA, VV_BOUND_COMPILE, VV_BOUND_MEMORY, VV_BOUND_COMPUTE,
    VV_BOUND_COMM, VV_BOUND_COPY, VV_BOUND_LAUNCH, VV_BOUND_QUEUE,
    VV_BOUND_COUNT
};

struct vv_critical {
    struct vv_scope scope;
    struct vv_host_collectives collectives;
    struct vv_critical_windows windows;
    struct vv_critical_graph graph;
    struct vv_critical_solution solution;
    struct vv_host_roles roles;
    uint8_t *bound_by_slice; /* enum vv_bound + 1 of host slices already asked for; 0 = not yet */
};

/* Makes the scope, the graph and the critical path. The window is the question's: a step, if it
 * names none. */
enum varve_code vv_critical_init(struct vv_critical *critical, const struct vv_model *model,
                                 const struct vv_question *question, struct vv_scratch *scratch,
                                 struct varve_error *error);

/* The same over a scope that is there. The window is that of `window_question`. */
enum varve_code vv_critical_init_in(struct vv_critical *critical, const struct vv_scope *scope,
                                    const struct vv_question *window_question,
                                    struct varve_error *error);

/* "host", "data loading" … */
const char *vv_bound_text(enum vv_bound bound);
/* The link of the edge must be one that weighs something. */
enum vv_bound vv_bound_of(struct vv_critical *critical, enum vv_critical_link link, uint32_t owner);
/* Why an edge explains no time: "nothing recorded". The link must be one that weighs nothing;
 * VV_LINK_NONE stands for the time before and after the path. */
const char *vv_gap_text(enum vv_critical_link link);
/* The time that the path's edge to its step number `place` does not explain; 0 in a graph made as
 * another tool makes it. */
int64_t vv_gap_ns(const struct vv_critical *critical, size_t place);
/* The operator's name; "(launch)" and the like for time that no operator owns. */
const char *vv_owner_text(const struct vv_critical *critical, enum vv_critical_link link,
                          uint32_t owner);
/* Writes what the numbers cover: "step 7 …: ", then `says`. If `says` is NULL, it writes how much
 * the path explains and what was odd. */
enum varve_code vv_critical_policy(const struct vv_critical *critical, struct vv_sheet *sheet,
                                   const char *says, struct varve_error *error);

#endif
