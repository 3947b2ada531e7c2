/* SPDX-License-Identifier: Apache-2.0 */
/* autograd_links.h — finds the forward operator that a backward operator belongs to.
 *
 * If the producer drew an arrow to the backward operator, the arrow decides. Otherwise the link is
 * found as in PyTorch: a backward operator names the sequence number and the thread of its forward
 * operator. Of the operators with that number on that thread, the last one that began before it is
 * the forward operator. The producer may have thread numbers of its own: each number then stands
 * for the thread that has most of its sequence numbers. The engine's range around a backward
 * operator repeats its numbers; it never gets a link. */
#ifndef VV_MEANING_AUTOGRAD_LINKS_H
#define VV_MEANING_AUTOGRAD_LINKS_H

#include "model/model.h"

struct vv_autograd_link {
    uint32_t forward, backward; /* slices */
    /* 1 = the first backward operator of this forward one, in order of their ends. */
    uint32_t ordinal;
    bool is_drawn;              /* the producer drew this link: it is one of the flows */
};

struct vv_autograd_links {
    const struct vv_autograd_link *items; /* in order of the ends of the backward operators */
    size_t count;
};

/* The links of a finished model. They are found once and are the model's. Thread-safe. */
enum varve_code vv_autograd_links(const struct vv_model *model, struct vv_autograd_links *out_links,
                                  struct varve_error *error);

/* Is the flow the producer's own arrow from a forward operator to its backward one, with a slice at
 * both ends? */
bool vv_is_autograd_arrow(const struct vv_model *model, uint64_t flow);

/* Is the name "autograd::engine::evaluate_function: …"? */
bool vv_is_engine_range(const char *name);

/* Is it the name of such a range, or of one of PyTorch's backward operators: MmBackward0? */
bool vv_is_backward_name(const char *name);

#endif
