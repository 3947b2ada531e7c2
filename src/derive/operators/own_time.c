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

int64_t vv_own_time(const struct vv_slices *slices, uint32_t first, uint32_t last, int64_t end_ns,
                    uint32_t *stack, int64_t *out_own_ns)
{
    struct sweep sweep = { .slices = slices, .stack = stack, .now_ns = INT64_MIN };
    for (uint32_t row = first; row < last; row++) {
        int64_t begin_ns = slices->begin_ns[row];
        out_own_ns[row] = 0;
        advance(&sweep, begin_ns < end_ns ? begin_ns : end_ns, out_own_ns);
        stack[sweep.depth++] = row;
    }
    advance(&sweep, end_ns, out_own_ns);
    return sweep.sum_ns;
}
