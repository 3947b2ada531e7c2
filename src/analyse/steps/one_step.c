/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/steps/one_step.h"

#include <stdio.h>

#include "analyse/steps/longer.h"
#include "base/text/short_name.h"
#include "derive/operators/own_time.h"
#include "derive/operators/step_summary.h"
#include "model/find.h"
#include "sheet/number.h"

#define NAMED_MAX 3u

/* Tells the step's own times by name; what is outside of operators has no name. */
static enum varve_code tell_step(const struct vv_scope *scope, uint32_t step, int64_t *own_ns,
                                 uint32_t *stack, struct vv_longer *longer,
                                 struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    int64_t outside_ns = model->steps.duration_ns[step];
    uint32_t first, last;
    vv_step_rows(model, step, &first, &last);
    vv_own_time(&model->slices, first, last,
                model->steps.begin_ns[step] + model->steps.duration_ns[step], stack, own_ns);
    for (uint32_t slice = first; slice < last; slice++) {
        if (!vv_is_operator(model, slice))
            continue;
        outside_ns -= own_ns[slice];
        VV_TRY(vv_longer_add(longer, slice, own_ns[slice], error));
    }
    VV_TRY(vv_longer_add(longer, VV_NONE, outside_ns, error));
    return vv_longer_end_step(longer, longer->step_count, error);
}

/* Tells all steps of the step's thread. *out_place is that of the step among them. */
static enum varve_code tell_all(const struct vv_scope *all, uint32_t only, struct vv_longer *longer,
                                size_t *out_place, struct varve_error *error)
{
    const struct vv_steps *steps = &all->model->steps;
    size_t rows = (size_t)all->model->slices.table.count;
    int64_t *own_ns;
    uint32_t *stack;
    VV_TRY(VV_SCRATCH_ARRAY(all->scratch, &stack, rows, error));
    VV_TRY(VV_SCRATCH_ARRAY(all->scratch, &own_ns, rows, error));
    VV_TRY(vv_longer_init(longer, all->model, all->scratch, error));
    for (uint32_t step = 0; step < steps->table.count; step++) {
        if (step != only && (!all->steps[step] || steps->track[step] != steps->track[only]))
            continue;
        if (step == only)
            *out_place = longer->step_count;
        VV_TRY(tell_step(all, step, own_ns, stack, longer, error));
    }
    return VARVE_OK;
}

enum varve_code vv_one_step_say(const struct vv_scope *scope, const struct vv_selection *selection,
                                struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_model *model = scope->model;
    struct vv_selection others = *selection;
    struct vv_scope all;
    struct vv_step_summary summary;
    struct vv_longer longer;
    struct vv_longer_most named[NAMED_MAX];
    char text[500], name[120], time[VV_NUMBER_BYTES];
    size_t place = 0, length = 0;
    uint32_t only = 0;
    if (scope->step_count != 1)
        return VARVE_OK;
    while (!scope->steps[only])
        only++;
    others.first_step = INT64_MIN;
    others.last_step = INT64_MAX;
    VV_TRY(vv_scope_init(&all, model, &others, scope->scratch, error));
    VV_TRY(tell_all(&all, only, &longer, &place, error));
    size_t count = vv_longer_of(&longer, place, NAMED_MAX, named);
    for (size_t i = 0; i < count; i++) {
        uint32_t slice = named[i].slice;
        vv_name_write(slice != VV_NONE ? vv_text_of(model, model->slices.name[slice])
                                       : "(outside operators)", name, sizeof name);
        vv_number_duration(named[i].by_ns, time, sizeof time);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s by %s",
                                   i > 0 ? ", " : "", name, time);
    }
    if (count == 0)
        return VARVE_OK;
    VV_TRY(vv_step_summary(&all, &summary, error));
    vv_number_duration(summary.median_ns, time, sizeof time);
    return vv_sheet_policy(sheet, error, "%s; the median of all %s; longer than in other steps: %s",
                           sheet->policy, time, text);
}
