/* SPDX-License-Identifier: Apache-2.0 */
/* autograd_links.h — which forward operator a backward operator belongs to.
 *
 * The producer's own arrows are taken where there are any. Else, as PyTorch links them: a backward operator names the
 * sequence number and the thread of its forward one; of the operators with that number on that thread the last that began
 * before it is meant. Threads may be named by numbers of the producer's own: each is taken for the thread on which most of its
 * sequence numbers are found. The engine's range around a backward operator, which repeats its numbers, is no end of a link. */
#ifndef VV_MEANING_AUTOGRAD_LINKS_H
#define VV_MEANING_AUTOGRAD_LINKS_H

#include "model/model.h"

struct vv_autograd_link {
    uint32_t forward, backward; /* slices */
    uint32_t ordinal;           /* 1 = the first backward operator of the forward one, in order of their ends */
    bool is_drawn;              /* by the producer: one of the flows is this link                             */
};

struct vv_autograd_links {
    struct vv_autograd_link *items; /* in order of the backward operators' ends */
    size_t count, capacity;
};

/* De-initialise also after a failure. */
enum varve_code vv_autograd_links(const struct vv_model *model, struct vv_autograd_links *out_links,
                                  struct varve_error *error);
void vv_autograd_links_deinit(struct vv_autograd_links *links);

/* Is the flow the producer's own arrow from a forward operator to its backward one? Both its ends lie in slices. */
bool vv_is_autograd_arrow(const struct vv_model *model, uint64_t flow);

/* "autograd::engine::evaluate_function: …" */
bool vv_is_engine_range(const char *name);

#endif
