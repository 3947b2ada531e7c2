/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h — the processes that work for the data loaders of others, and the steps that begin
 * while such processes begin anew. Called by table "waits". Thread-compatible. */
#ifndef VV_ANALYSE_STEPS_WORKERS_H
#define VV_ANALYSE_STEPS_WORKERS_H

#include "derive/select/scope.h"

struct vv_workers {
    int64_t *begin_ns;     /* when each began, in order                                         */
    size_t count;
    int64_t at_once;       /* those that live when their pools have most threads                */
    int64_t pool_threads;  /* theirs: they neither load, send nor give out descriptors          */
    int64_t *usual_ns;     /* durations of the steps in which none began                        */
    size_t usual;
    size_t restarts;       /* steps in which some began, behind the first that began            */
    int64_t restarted_ns;  /* their durations                                                   */
};

/* A process without steps that waits for no data works for one that does. `has_steps`, `loads`: by
 * row of the process. */
enum varve_code vv_workers_init(struct vv_workers *out_workers, const struct vv_scope *scope,
                                const bool *has_steps, const bool *loads,
                                struct varve_error *error);
/* Each chosen step of the trace once. */
void vv_workers_add_step(struct vv_workers *workers, int64_t begin_ns, int64_t end_ns);
/* By how much the steps with new workers took longer than as many median steps without. Called
 * once, at the end. */
int64_t vv_workers_restart_ns(const struct vv_workers *workers);

#endif
