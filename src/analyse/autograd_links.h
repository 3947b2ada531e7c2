/* SPDX-License-Identifier: Apache-2.0 */
/* autograd_links.h — which forward operator a backward operator belongs to.
 *
 * The producer's own arrows are taken where there are any. Else, as PyTorch links them: a backward operator names the
 * sequence number and the thread of its forward one; of the operators with that number on that thread the last that began
 * is meant. Threads may be named by numbers of the producer's own: each is taken for the thread on which most of its
 * sequence numbers are found. The engine's range around a backward operator, which repeats its numbers, is no end of a link.
 * Called by links.c and op_phases.c. */
#ifndef VV_ANALYSE_AUTOGRAD_LINKS_H
#define VV_ANALYSE_AUTOGRAD_LINKS_H

#include "model/model.h"

struct vv_autograd_link {
    uint32_t forward, backward; /* slices                                                       */
    uint32_t ordinal;           /* 1 = the first backward operator of the forward one, in order of their ends */
};

struct vv_autograd_links {
    struct vv_autograd_link *items; /* in order of the backward operators' ends                */
    size_t count, capacity;
};

/* De-initialise also after a failure. */
enum varve_code vv_autograd_links(const struct vv_model *model, struct vv_autograd_links *out_links,
                                  struct varve_error *error);
void vv_autograd_links_deinit(struct vv_autograd_links *links);

/* "autograd::engine::evaluate_function: …" */
bool vv_is_engine_range(const char *name);

#endif
