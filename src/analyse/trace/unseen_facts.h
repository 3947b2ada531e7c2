/* SPDX-License-Identifier: Apache-2.0 */
/* unseen_facts.h — what a trace has and what its processes had loaded, counted once for all rules
 * of table "unseen". Thread-compatible. */
#ifndef VV_ANALYSE_TRACE_UNSEEN_FACTS_H
#define VV_ANALYSE_TRACE_UNSEEN_FACTS_H

#include "model/model.h"

/* What varve record notes of a process, each a fact with this key (doc/format.md §6). */
#define VV_FACT_LOADED "loaded"
#define VV_FACT_WORLD_SIZE "world_size"
#define VV_FACT_CPU "cpu_ns"
#define VV_FACT_RECORDED_CPU "recorded_cpu_ns"
#define VV_FACT_PROGRAM_CPU "program_cpu_ns" /* of the run: of all processes                    */

struct vv_unseen_facts {
    const struct vv_model *model;
    bool is_own;                /* the recorder of this project wrote it                        */
    uint64_t operators, with_shapes, with_frames, frames, launch_calls, communication;
    uint64_t works, unlinked_works; /* pieces of device work; those without a call              */
    const char *launch_name;    /* of one launching call                                        */
    bool is_torch;              /* operators of PyTorch, or a process that heard them           */
    bool has_device;            /* a track of a device                                          */
    int64_t world_size;         /* 0 = not known                                                */
    uint64_t said_cpu;          /* processes that ended by themselves: they said their CPU time */
    int64_t cpu_ns, silent_ns;  /* of these; of their threads without records                   */
    int64_t program_ns;         /* of the program and all that it started; 0 = not known        */
    bool has_steps;             /* span_ns and free_ns are of the steps that count              */
    int64_t span_ns, free_ns;   /* the steps, or from the first to the last operator of the
                                   busiest thread; the part of it in no operator */
};

enum varve_code vv_unseen_facts_count(const struct vv_model *model, struct vv_scratch *scratch,
                                      struct vv_unseen_facts *out_facts, struct varve_error *error);

/* The number of processes that had loaded a library of that name. */
uint64_t vv_unseen_loaded(const struct vv_unseen_facts *facts, const char *library);

/* What a collector says of itself, in the first process that asks for something ("off: …"), or
 * "". */
const char *vv_unseen_collector(const struct vv_unseen_facts *facts, const char *name);
/* Could Python's calls have been recorded, and none was? span_ns and free_ns are measured only
 * then. */
bool vv_unseen_python_off(const struct vv_unseen_facts *facts);

#endif
