/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/host_gaps.h"

#include "meaning/host_role.h"

struct finder {
    const struct vv_scope *scope;
    struct vv_host_roles roles;
    struct vv_host_gaps *found;
    size_t capacity;
    struct vv_scratch *scratch;
    uint32_t step, after; /* the last call                                                      */
    int64_t now_ns;       /* what is before is told                                             */
    int64_t around_ns;    /* end of the ranges that lie around                                   */
    int64_t step_end_ns;
};

static int64_t end_of(const struct finder *finder, uint32_t slice)
{
    const struct vv_slices *slices = &finder->scope->model->slices;
    int64_t end_ns = slices->begin_ns[slice] + slices->duration_ns[slice];
    return end_ns < finder->step_end_ns ? end_ns : finder->step_end_ns;
}

static enum varve_code put(struct finder *finder, int64_t end_ns, uint32_t until, bool is_inside,
                           struct varve_error *error)
{
    struct vv_host_gaps *found = finder->found;
    if (end_ns <= finder->now_ns)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(finder->scratch, &found->gaps, &finder->capacity, found->count + 1,
                              error));
    found->gaps[found->count++] = (struct vv_host_gap){
        .step = finder->step, .after = finder->after, .until = until,
        .begin_ns = finder->now_ns, .end_ns = end_ns, .is_inside = is_inside,
    };
    finder->now_ns = end_ns;
    return VARVE_OK;
}

/* Tells the time up to the begin of a slice, or the end of the step. Where a range ends meanwhile,
 * the gap has two parts. */
static enum varve_code reach(struct finder *finder, int64_t begin_ns, uint32_t until,
                             struct varve_error *error)
{
    int64_t around_ns = finder->around_ns;
    if (around_ns > finder->now_ns)
        VV_TRY(put(finder, around_ns < begin_ns ? around_ns : begin_ns, until, true, error));
    return put(finder, begin_ns, until, false, error);
}

static void count_tiny(struct finder *finder, uint32_t call, int64_t gap_ns)
{
    const struct vv_slices *slices = &finder->scope->model->slices;
    if (slices->duration_ns[call] >= VV_TINY_CALL_NS)
        return;
    finder->found->tiny_calls++;
    finder->found->tiny_ns += end_of(finder, call) - slices->begin_ns[call] +
                              (gap_ns < VV_SHORT_GAP_NS ? gap_ns : 0);
}

static enum varve_code add(struct finder *finder, uint32_t slice, struct varve_error *error)
{
    const struct vv_slices *slices = &finder->scope->model->slices;
    int64_t begin_ns = slices->begin_ns[slice], end_ns = end_of(finder, slice);
    int64_t before_ns = finder->now_ns;
    enum vv_host_role role = vv_host_role_of(&finder->roles, slice);
    bool is_range = role == VV_HOST_NONE ||
                    (role == VV_HOST_OP && slices->layer[slice] == VARVE_LAYER_API);
    if (begin_ns < finder->now_ns || role == VV_HOST_PYTHON ||
        !vv_is_operator(finder->scope->model, slice))
        return VARVE_OK;
    if (is_range) {
        VV_TRY(reach(finder, begin_ns, slice, error));
        finder->around_ns = end_ns > finder->around_ns ? end_ns : finder->around_ns;
        return VARVE_OK;
    }
    VV_TRY(reach(finder, begin_ns, slice, error));
    count_tiny(finder, slice, begin_ns - before_ns);
    finder->after = slice;
    finder->now_ns = end_ns > begin_ns ? end_ns : begin_ns;
    return VARVE_OK;
}

static enum varve_code find_in(struct finder *finder, struct varve_error *error)
{
    const struct vv_steps *steps = &finder->scope->model->steps;
    uint32_t first, last;
    finder->after = VV_NONE;
    finder->now_ns = finder->around_ns = steps->begin_ns[finder->step];
    finder->step_end_ns = finder->now_ns + steps->duration_ns[finder->step];
    vv_step_rows(finder->scope->model, finder->step, &first, &last);
    for (uint32_t slice = first; slice < last; slice++)
        VV_TRY(add(finder, slice, error));
    return reach(finder, finder->step_end_ns, VV_NONE, error);
}

enum varve_code vv_find_host_gaps(const struct vv_scope *scope, struct vv_scratch *scratch,
                                  struct vv_host_gaps *out_gaps, struct varve_error *error)
{
    struct finder finder = { .scope = scope, .found = out_gaps, .scratch = scratch };
    *out_gaps = (struct vv_host_gaps){ .count = 0 };
    VV_TRY(vv_host_roles_init(&finder.roles, scope->model, error));
    for (uint32_t step = 0; step < scope->model->steps.table.count; step++) {
        finder.step = step;
        if (scope->steps[step])
            VV_TRY(find_in(&finder, error));
    }
    return VARVE_OK;
}
