/* SPDX-License-Identifier: Apache-2.0 */
/* longer.h — what took longer in a step than it does in the mean of the other steps, by name. Steps
 * are told one after the other; then each can be asked. Thread-compatible. */
#ifndef VV_ANALYSE_STEPS_LONGER_H
#define VV_ANALYSE_STEPS_LONGER_H

#include "model/model.h"

struct vv_longer_entry {
    int64_t time_ns, calls;
    uint32_t slice; /* the first; VV_NONE = outside of slices                                    */
};

/* What took longer than in the mean of the other steps. */
struct vv_longer_most {
    int64_t by_ns;
    uint32_t slice; /* its first one; VV_NONE = outside of slices                                */
    int64_t more_calls; /* than in the mean of the other steps, rounded; 0 if it is fewer       */
    bool has_more_calls; /* more than half as many again                                         */
};

struct vv_longer {
    const struct vv_model *model;
    struct vv_scratch *scratch;
    struct vv_longer_entry *entries; /* those of a step together: ends[step - 1] to ends[step]   */
    size_t *ends;                    /* by step, in the order in which they were told            */
    size_t count, capacity, step_count, step_capacity;
    size_t *entry_of;                /* name -> its entry of this step + 1, if it has one         */
    int64_t *sum_ns, *sum_calls;     /* name -> over all steps                                    */
};

enum varve_code vv_longer_init(struct vv_longer *out, const struct vv_model *model,
                               struct vv_scratch *scratch, struct varve_error *error);
/* Time of a slice in the step that is being told; VV_NONE: outside of slices. */
enum varve_code vv_longer_add(struct vv_longer *longer, uint32_t slice, int64_t time_ns,
                              struct varve_error *error);
/* The step is told. `step` must be the number of steps that were told before it. */
enum varve_code vv_longer_end_step(struct vv_longer *longer, size_t step,
                                   struct varve_error *error);
/* What took longer than in the mean of the other steps, the most first. Returns how many names, of
 * `most` at most; 0 if there are no other steps. */
size_t vv_longer_of(const struct vv_longer *longer, size_t step, size_t most,
                    struct vv_longer_most *out_names);

#endif
