/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/steps/causes.h"

#include <stdlib.h>

#include "base/scratch.h"
#include "derive/select/filter.h"
#include "meaning/call_kind.h"
#include "model/find.h"
#include "varve/varve.h"

enum varve_code vv_causes_init(struct vv_causes *out, const struct vv_model *model,
                               struct vv_scratch *scratch, struct varve_error *error)
{
    *out = (struct vv_causes){ .model = model, .scratch = scratch };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &out->saves, model->strings.count + 1, error));
    return vv_host_roles_init(&out->roles, model, error);
}

static bool saves(struct vv_causes *causes, uint32_t slice)
{
    uint32_t name = causes->model->slices.name[slice];
    if (causes->saves[name] == 0)
        causes->saves[name] =
            vv_filter_like_any(vv_text_of(causes->model, name), VV_SAVING_NAMES) ? 2 : 1;
    return causes->saves[name] == 2;
}

enum varve_code vv_causes_add(struct vv_causes *causes, uint32_t step, const int64_t *own_ns,
                              bool is_usual, struct varve_error *error)
{
    const struct vv_model *model = causes->model;
    int64_t until_ns = INT64_MIN, left_ns = model->steps.duration_ns[step],
            step_end_ns = model->steps.begin_ns[step] + left_ns;
    struct vv_step_parts parts = { { 0 } };
    uint32_t first, last;
    vv_step_rows(model, step, &first, &last);
    for (uint32_t slice = first; slice < last; slice++) {
        int64_t begin_ns = model->slices.begin_ns[slice],
                end_ns = begin_ns + model->slices.duration_ns[slice], time_ns = own_ns[slice];
        enum vv_host_role role = vv_host_role_of(&causes->roles, slice);
        enum vv_step_part part = role == VV_HOST_PYTHON ? VV_PART_PYTHON : VV_PART_OPERATORS;
        causes->has_python |= role == VV_HOST_PYTHON;
        if (begin_ns < until_ns || !vv_is_operator(model, slice))
            continue;
        if (role == VV_HOST_COMPILE || saves(causes, slice)) {
            part = role == VV_HOST_COMPILE ? VV_PART_COMPILATION : VV_PART_SAVING;
            until_ns = end_ns < step_end_ns ? end_ns : step_end_ns;
            time_ns = until_ns - begin_ns;
        }
        parts.ns[part] += time_ns;
        left_ns -= time_ns;
    }
    parts.ns[VV_PART_REST] = left_ns;
    VV_TRY(VV_SCRATCH_RESERVE(causes->scratch, &causes->steps, &causes->capacity,
                              causes->count + 1, error));
    causes->steps[causes->count++] = parts;
    if (!is_usual)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(causes->scratch, &causes->usual, &causes->usual_capacity,
                              causes->usual_count + 1, error));
    causes->usual[causes->usual_count++] = parts;
    return VARVE_OK;
}

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

enum varve_code vv_causes_end(struct vv_causes *causes, struct varve_error *error)
{
    size_t count = causes->usual_count;
    int64_t *times_ns;
    VV_TRY(VV_SCRATCH_ARRAY(causes->scratch, &times_ns, count + 1, error));
    for (size_t part = 0; part < VV_STEP_PARTS && count > 0; part++) {
        for (size_t i = 0; i < count; i++)
            times_ns[i] = causes->usual[i].ns[part];
        qsort(times_ns, count, sizeof *times_ns, ascending);
        causes->median_ns[part] = times_ns[count / 2];
    }
    return VARVE_OK;
}

static const char *unrecorded(const struct vv_causes *causes)
{
    return causes->has_python ? "no call" : "not recorded";
}

/* Of an operator: more calls than in other steps, or the same that take longer. The own time of a
 * range around calls is in nothing that was recorded. */
static const char *of_operator(const struct vv_causes *causes, const struct vv_longer_most *longer)
{
    if (longer->by_ns <= 0 || longer->has_more_calls)
        return "more calls";
    switch (vv_host_role_of(&causes->roles, longer->slice)) {
    case VV_HOST_NONE:
        return unrecorded(causes);
    case VV_HOST_OP:
        return causes->model->slices.layer[longer->slice] == VARVE_LAYER_API ? unrecorded(causes)
                                                                             : "longer calls";
    case VV_HOST_PYTHON:
        return "Python";
    default:
        return "longer waits";
    }
}

const char *vv_cause_of(const struct vv_causes *causes, size_t step,
                        const struct vv_longer_most *longer, int64_t *out_ns)
{
    enum vv_step_part most = VV_STEP_PARTS;
    *out_ns = 0;
    for (enum vv_step_part part = 0; part < VV_STEP_PARTS && step < causes->count; part++) {
        int64_t by_ns = causes->steps[step].ns[part] - causes->median_ns[part];
        if (by_ns <= *out_ns)
            continue;
        *out_ns = by_ns;
        most = part;
    }
    switch (most) {
    case VV_PART_COMPILATION:
        return "compilation";
    case VV_PART_SAVING:
        return "saving";
    case VV_PART_PYTHON:
        return "Python";
    case VV_PART_OPERATORS:
        return of_operator(causes, longer);
    case VV_PART_REST:
        return unrecorded(causes);
    default:
        return NULL;
    }
}
