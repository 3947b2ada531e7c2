/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/warm_up.h"

#include <stdlib.h>

#include "numbers/spread.h"

#define LATER_LEAST 3u
#define FEW 5u /* so many steps may be warm-up in a short run, too                               */

struct place {
    uint32_t track, step;
};

/* Steps are in order of time (model/build/steps.c), so their rows give the order. */
static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    if (left->track != right->track)
        return left->track < right->track ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

static bool is_slow(int64_t duration_ns, const struct vv_spread *later)
{
    double beyond_ns = (double)duration_ns - (double)later->median;
    return beyond_ns > 3 * VV_MAD_SCALE * (double)later->mad &&
           beyond_ns > 0.1 * (double)later->median;
}

/* The first step of origin `anchor` begins with the thread's first slice, so it holds what the
 * program does before its loop. */
static bool has_preparation(const struct vv_steps *steps, const struct place *places, size_t count)
{
    bool is_longest = count > 1 && steps->origin[places[0].step] == VV_STEP_ANCHOR;
    for (size_t i = 1; is_longest && i < count; i++)
        is_longest = steps->duration_ns[places[0].step] > steps->duration_ns[places[i].step];
    return is_longest;
}

/* The number of leading steps that are slow beside the later half. `values` has room for it. */
static size_t count_slow(const struct vv_steps *steps, const struct place *places, size_t count,
                         int64_t *values)
{
    size_t later = count - count / 2, slow = 0;
    for (size_t i = 0; i < later; i++)
        values[i] = steps->duration_ns[places[count / 2 + i].step];
    struct vv_spread spread = vv_spread_of(values, later);
    while (slow < count / 2 && is_slow(steps->duration_ns[places[slow].step], &spread))
        slow++;
    return slow;
}

/* Marks the warm-up steps of one thread. More than a few slow ones are no warm-up: the program or
 * the machine changed. Then the steps from the change on are no measure. */
static void mark_thread(const struct vv_steps *steps, const struct place *places, size_t count,
                        int64_t *values, bool *out_is_warm_up)
{
    size_t asked = count, few = count / 5 > FEW ? count / 5 : FEW, slow;
    if (count - count / 2 < LATER_LEAST) {
        out_is_warm_up[places[0].step] = has_preparation(steps, places, count);
        return;
    }
    while ((slow = count_slow(steps, places, asked, values)) > few)
        asked /= 2;
    for (size_t i = 0; i < slow; i++)
        out_is_warm_up[places[i].step] = true;
}

enum varve_code vv_find_warm_up(const struct vv_model *model, struct vv_scratch *scratch,
                                bool *out_is_warm_up, struct varve_error *error)
{
    const struct vv_steps *steps = &model->steps;
    size_t count = (size_t)steps->table.count;
    struct place *places;
    int64_t *values;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &places, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &values, count, error));
    for (uint32_t s = 0; s < count; s++) {
        places[s] = (struct place){ steps->track[s], s };
        out_is_warm_up[s] = false;
    }
    qsort(places, count, sizeof *places, compare_places);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && places[next].track == places[first].track; next++)
            ;
        mark_thread(steps, places + first, next - first, values, out_is_warm_up);
    }
    return VARVE_OK;
}
