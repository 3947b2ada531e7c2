/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/step_at.h"

#include <stdlib.h>

#include "base/binary_search.h"

static uint32_t process_of(const struct vv_model *model, uint32_t track)
{
    return track < model->tracks.table.count ? model->tracks.process[track] : VV_NONE;
}

struct grouped {
    uint32_t group, step;
};

/* Steps of a model stand in order of begin, the longer first. */
static int in_order(const void *a, const void *b)
{
    const struct grouped *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    return (left->step > right->step) - (left->step < right->step);
}

static enum varve_code group(struct vv_step_groups *groups, const struct vv_model *model,
                             bool by_process, struct vv_scratch *scratch, struct varve_error *error)
{
    const struct vv_steps *steps = &model->steps;
    struct grouped *order;
    groups->count = (size_t)steps->table.count;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &order, groups->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &groups->steps, groups->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &groups->groups, groups->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(scratch, &groups->latest_ns, groups->count, error));
    for (uint32_t step = 0; step < groups->count; step++)
        order[step] = (struct grouped){ by_process ? process_of(model, steps->track[step])
                                                   : steps->track[step],
                                        step };
    if (groups->count > 0)
        qsort(order, groups->count, sizeof *order, in_order);
    for (size_t i = 0; i < groups->count; i++) {
        int64_t end_ns = steps->begin_ns[order[i].step] + steps->duration_ns[order[i].step];
        bool is_later = i > 0 && order[i - 1].group == order[i].group &&
                        groups->latest_ns[i - 1] > end_ns;
        groups->steps[i] = order[i].step;
        groups->groups[i] = order[i].group;
        groups->latest_ns[i] = is_later ? groups->latest_ns[i - 1] : end_ns;
    }
    vv_scratch_release(scratch, order);
    return VARVE_OK;
}

enum varve_code vv_step_finder_init(struct vv_step_finder *finder, const struct vv_model *model,
                                    struct vv_scratch *scratch, struct varve_error *error)
{
    *finder = (struct vv_step_finder){ .model = model };
    VV_TRY(group(&finder->by_track, model, false, scratch, error));
    return group(&finder->by_process, model, true, scratch, error);
}

static uint32_t find(const struct vv_steps *steps, const struct vv_step_groups *groups,
                     uint32_t wanted, int64_t time_ns)
{
    size_t after = VV_FIRST_NOT(i, 0, groups->count,
                                groups->groups[i] < wanted ||
                                    (groups->groups[i] == wanted &&
                                     steps->begin_ns[groups->steps[i]] <= time_ns));
    for (size_t i = after; i > 0 && groups->groups[i - 1] == wanted &&
                           groups->latest_ns[i - 1] > time_ns; i--) {
        uint32_t step = groups->steps[i - 1];
        if (steps->begin_ns[step] + steps->duration_ns[step] > time_ns)
            return step;
    }
    return VV_NONE;
}

uint32_t vv_step_at(const struct vv_step_finder *finder, uint32_t track, int64_t time_ns)
{
    const struct vv_steps *steps = &finder->model->steps;
    if (track == VV_NONE)
        return VV_NONE;
    uint32_t step = find(steps, &finder->by_track, track, time_ns);
    return step != VV_NONE ? step
                           : find(steps, &finder->by_process, process_of(finder->model, track),
                                  time_ns);
}
