/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h — the figures of each group of operators, before they become a table.
 *
 * Two scopes are summed side by side. WHOLE: every operator slice of the selection, on every chosen
 * thread. STEPS: the operators that begin inside a chosen step on the step's own thread, cut at its
 * end. Law of each scope:
 *     sum of the groups' self_ns + outside.self_ns = covered.self_ns.
 * covered.self_ns of STEPS is the sum of the chosen steps' durations. The same law holds for
 * device_self_ns. There `covered` is all chosen device work; in STEPS it is the work done for
 * slices in the steps. Operations of a device without a call (vv_is_device_operation) are operators
 * of WHOLE: their host times are 0. doc/metrics.md. */
#ifndef VV_DERIVE_OPERATORS_TALLY_H
#define VV_DERIVE_OPERATORS_TALLY_H

#include "derive/devices/device_share.h"
#include "derive/select/scope.h"
#include "derive/select/traits.h"
#include "numbers/pair_ids.h"
#include "numbers/samples.h"

enum vv_tally_scope { VV_SCOPE_STEPS, VV_SCOPE_WHOLE, VV_SCOPE_COUNT };

struct vv_figures {
    uint64_t calls;        /* direct recursion inside the group counts once                    */
    int64_t total_ns;      /* of these calls                                                   */
    int64_t self_ns;       /* of every slice of the group                                      */
    int64_t waited_ns;     /* … of the copies that returned only when they were done           */
    int64_t lead_ns;       /* in steps: the short gaps right before them (host_gaps.h)           */
    double flop;           /* of the calls whose FLOP are known                                */
    int64_t flop_time_ns;  /* total_ns of the calls whose FLOP are known                       */
    int64_t device_self_ns;  /* of the work done for every slice of the group                  */
    int64_t device_total_ns; /* of the calls and of everything that they call                  */
    int64_t device_busy_ns;  /* the union of that work on each device                          */
    uint64_t kernels;        /* pieces of that work                                            */
    int64_t longest_ns;      /* of the calls; 0 = none                                         */
    uint32_t longest;        /* … its slice                                                    */
};

/* The key of a group: a name, a trait, or both. */
struct vv_operator_keys {
    const struct vv_traits *traits;
    enum vv_trait trait; /* VV_TRAIT_NAME: the key is the name alone                */
    bool is_alone;               /* the trait alone is the key, whatever the name              */
};

struct vv_operator_tally {
    struct vv_groups groups;                      /* (name or 0, value of the trait or 0) ->
                                                     group */
    struct vv_figures *figures[VV_SCOPE_COUNT];   /* by group                                   */
    struct vv_figures outside[VV_SCOPE_COUNT], covered[VV_SCOPE_COUNT]; /* self times only */
    struct vv_samples durations[VV_SCOPE_COUNT];  /* of calls, by group; sorted                 */
    int64_t comm_ns[VV_SCOPE_COUNT];              /* of the device work covered: communication  */
    int64_t elsewhere_ns;                         /* device work that other threads launched during
                                                     steps */
    uint64_t operations;                          /* of devices, without a call                 */
    uint64_t async_slices;                        /* asynchronous ranges left out: scope.h      */
};

enum varve_code vv_operator_tally(const struct vv_scope *scope, const struct vv_operator_keys *keys,
                                  const struct vv_device_work *work,
                                  struct vv_operator_tally *out_tally, struct varve_error *error);

#endif
