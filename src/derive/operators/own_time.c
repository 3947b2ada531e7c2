/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/own_time.h"

struct sweep {
    const struct vv_slices *slices;
    uint32_t *stack;    /* in order of begin; may hold slices that have ended, below open ones   */
    uint32_t depth;
    int64_t now_ns;
    int64_t sum_ns;
};

/* Gives the time from now_ns to until_ns to the open slices. Each slice is popped once, so the
 * sweep is linear. */
static void advance(struct sweep *sweep, int64_t until_ns, int64_t *own_ns)
{
    while (sweep->depth > 0 && sweep->now_ns < until_ns) {
        uint32_t top = sweep->stack[sweep->depth - 1];
        int64_t end_ns = sweep->slices->begin_ns[top] + sweep->slices->duration_ns[top];
        int64_t stop_ns = end_ns < until_ns ? end_ns : until_ns;
        if (stop_ns > sweep->now_ns) {
            own_ns[top] += stop_ns - sweep->now_ns;
            sweep->sum_ns += stop_ns - sweep->now_ns;
            sweep->now_ns = stop_ns;
        }
        if (end_ns <= sweep->now_ns)
            sweep->depth--;
    }
    sweep->now_ns = until_ns;
}

/* Where all slices nest and end in time, the time is the self time of the model, which is known.
 * False: they do not. */
static bool take_self_times(const struct vv_slices *slices, uint32_t first, uint32_t last,
                            int64_t end_ns, int64_t *out_own_ns, int64_t *out_sum_ns)
{
    bool do_nest = true;
    int64_t sum_ns = 0;
    for (uint32_t row = first; row < last && do_nest; row++) {
        int64_t self_ns = slices->self_ns[row];
        do_nest = slices->begin_ns[row] + slices->duration_ns[row] <= end_ns &&
                  (slices->flags[row] & VV_SLICE_OVERLAP) == 0;
        out_own_ns[row] = self_ns;
        sum_ns += self_ns;
    }
    *out_sum_ns = sum_ns;
    return do_nest;
}

int64_t vv_own_time(const struct vv_slices *slices, uint32_t first, uint32_t last, int64_t end_ns,
                    uint32_t *stack, int64_t *out_own_ns)
{
    struct sweep sweep = { .slices = slices, .stack = stack, .now_ns = INT64_MIN };
    int64_t sum_ns;
    if (slices->self_ns != NULL &&
        take_self_times(slices, first, last, end_ns, out_own_ns, &sum_ns))
        return sum_ns;
    for (uint32_t row = first; row < last; row++) {
        int64_t begin_ns = slices->begin_ns[row];
        out_own_ns[row] = 0;
        advance(&sweep, begin_ns < end_ns ? begin_ns : end_ns, out_own_ns);
        stack[sweep.depth++] = row;
    }
    advance(&sweep, end_ns, out_own_ns);
    return sweep.sum_ns;
}
