/* SPDX-License-Identifier: Apache-2.0 */
/* host_gaps.h — the times of the chosen steps in which their own thread was in no call that was
 * recorded: code without marks, such as Python.
 *
 * A call is an operator, a collective, a wait, a runtime call … A range that only lies around calls
 * (an annotation, a Python function, "Optimizer.step#…") is none: the gaps in it count, too. Gaps
 * are in order of steps, and of time within a step. Law: for each step, the gaps and the time of
 * the outermost calls sum to the step. */
#ifndef VV_DERIVE_OPERATORS_HOST_GAPS_H
#define VV_DERIVE_OPERATORS_HOST_GAPS_H

#include "derive/select/scope.h"

/* What a call of Python costs around its operator is shorter: with a slow processor, a profiler
 * and wrappers of arguments some 10 us. */
#define VV_SHORT_GAP_NS 50000

struct vv_host_gap {
    uint32_t step;
    uint32_t after, until; /* slices: the call that ended, and the call that came; VV_NONE at the
                              begin and the end of the step */
    int64_t begin_ns, end_ns;
    bool is_inside;        /* some range lies around it: it is that range's own time            */
};

struct vv_host_gaps {
    struct vv_host_gap *gaps;
    size_t count;
    uint64_t tiny_calls; /* outermost calls shorter than VV_TINY_CALL_NS                         */
    int64_t tiny_ns;     /* their time, with that of the short gaps before them                   */
};

#define VV_TINY_CALL_NS 20000 /* as long as what Python and the dispatcher cost around it        */

enum varve_code vv_find_host_gaps(const struct vv_scope *scope, struct vv_scratch *scratch,
                                  struct vv_host_gaps *out_gaps, struct varve_error *error);

#endif
