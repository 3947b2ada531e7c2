/* SPDX-License-Identifier: Apache-2.0 */
/* anchors.h — steps that each last up to the end of an anchor, something that comes once a step:
 * Optimizer.step, a backward pass, a batch of a data loader. doc/metrics.md §6 has the rules.
 *
 * Stages of vv_model_finish use it: slices are sorted, and need no parents. Thread-compatible. */
#ifndef VV_MODEL_STEPS_ANCHORS_H
#define VV_MODEL_STEPS_ANCHORS_H

#include "model/model.h"

struct vv_anchor {
    int64_t begin_ns, end_ns;
    int64_t number; /* of the step, as the anchor's name says; -1 = not said                    */
};

/* The anchors of a thread, in order; they do not overlap. */
struct vv_anchors {
    uint32_t track;
    const char *name;  /* borrowed; of the steps                                                */
    int64_t from_ns;   /* where the first step begins                                           */
    struct vv_anchor *items;
    size_t count;
    const uint8_t *words; /* borrowed: vv_loop_words, to leave evaluations out; NULL = keep them */
};

/* What the names of ranges say of a training loop. */
enum vv_loop_word {
    VV_LOOP_OTHER, VV_LOOP_ENGINE, VV_LOOP_LOADER,
    VV_LOOP_COMPILER, /* what is in it is traced, and is no part of the loop */
    VV_LOOP_WORDS
};

/* String -> enum vv_loop_word. The caller frees it. NULL = no memory. */
uint8_t *vv_loop_words(const struct vv_model *model);

/* The rows of a track: [*out_first, return value). */
uint32_t vv_rows_of_track(const struct vv_model *model, uint32_t track, uint32_t *out_first);

/* Where the first step of a thread begins whose first anchor begins at `before_ns`. It is the last
 * wait for a batch that begins before the first backward operator of the process; without a data
 * loader, the thread's first slice. */
int64_t vv_first_step_ns(const struct vv_model *model, const uint8_t *words, uint32_t track,
                         int64_t before_ns);

/* Adds a step for each anchor, from the end of the one before. After a pause of recording a step
 * begins at the end of the pause. */
enum varve_code vv_add_anchored_steps(struct vv_model *model, const struct vv_anchors *anchors,
                                      struct varve_error *error);

/* Moves the begins of steps that have more batches before their first backward operator than the
 * median step: begins_ns[0..anchors->count), up to the ends of the anchors. batches.c */
enum varve_code vv_leave_out_evaluations(const struct vv_model *model, const uint8_t *words,
                                         const struct vv_anchors *anchors, int64_t *begins_ns,
                                         struct varve_error *error);

/* Moves the begins of the few steps that run the model without a graph ahead of their own forward
 * pass: PyTorch's sequence numbers tell. evaluations.c */
enum varve_code vv_leave_out_graphless(const struct vv_model *model,
                                       const struct vv_anchors *anchors, int64_t *begins_ns,
                                       struct varve_error *error);

/* Of several optimizers that come again and again in the same order, each with parameters of its
 * own, the last ends the step: keeps of slices[0..*count), the ranges of a thread in order, those
 * that end one. Each does where there is one optimizer, or where shapes do not tell them apart. */
enum varve_code vv_keep_last_optimizers(const struct vv_model *model, uint32_t *slices,
                                        size_t *count, struct varve_error *error);

#endif
