/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c — the calls of varve/trace_points.h that make plans. */
#include "points/plan.h"

#include <stdlib.h>
#include <string.h>

#include "record/profiling/point_names.h"

static enum varve_code find_all(struct vv_planning *planning, struct varve_error *error)
{
    VV_TRY(vv_flat_graph_check_acyclic(planning->flat, error));
    VV_TRY(vv_search_init(&planning->search, planning->flat, error));
    VV_TRY(vv_plan_forward(planning, error));
    VV_TRY(vv_plan_backward(planning, error));
    VV_TRY(vv_plan_iteration(planning, error));
    VV_TRY(vv_plan_collectives(planning, error));
    return vv_plan_fetches(planning, error);
}

static enum varve_code make(struct vv_planning *planning, const struct varve_graph_info *graph,
                            struct varve_error *error)
{
    struct vv_flat_graph flat;
    VV_TRY(vv_flat_graph_make(&flat, graph, error));
    planning->flat = &flat;
    enum varve_code code = find_all(planning, error);
    vv_search_deinit(&planning->search);
    vv_flat_graph_deinit(&flat);
    return code;
}

/* What the caller says, else what the process's options say; NULL = it is to be found. */
static const char *point_name(const char *given, const char *key, char *place, size_t bytes)
{
    if (given == NULL && vv_profiling_point_name(key, place, bytes))
        given = place;
    return given != NULL && *given != '\0' ? given : NULL;
}

VARVE_API enum varve_code varve_trace_plan(const struct varve_graph_info *graph,
                                           const struct varve_trace_options *options,
                                           struct varve_trace_plan **out_plan,
                                           struct varve_error *error)
{
    static const struct varve_trace_options defaults = VARVE_TRACE_OPTIONS_INIT;
    char fp_point[VV_POINT_NAME_BYTES], bp_point[VV_POINT_NAME_BYTES];
    if (options == NULL)
        options = &defaults;
    *out_plan = NULL;
    if (options->struct_size < sizeof *options || options->numbering > VARVE_NUMBERING_GE)
        VV_FAIL(error, VARVE_INVALID, "varve_trace_plan: struct_size %u or numbering %u of the "
                "options is not known: begin with VARVE_TRACE_OPTIONS_INIT",
                options->struct_size, options->numbering);
    struct varve_trace_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "varve_trace_plan: no memory");
    vv_arena_init(&plan->texts);
    struct vv_planning planning = {
        .plan = plan,
        .numbering = options->numbering,
        .fp_point = point_name(options->fp_point, "fp_point", fp_point, sizeof fp_point),
        .bp_point = point_name(options->bp_point, "bp_point", bp_point, sizeof bp_point),
    };
    enum varve_code code = make(&planning, graph, error);
    if (code != VARVE_OK) {
        vv_error_note(error, "varve_trace_plan");
        varve_trace_plan_destroy(plan);
        return code;
    }
    *out_plan = plan;
    return VARVE_OK;
}

VARVE_API uint32_t varve_trace_plan_count(const struct varve_trace_plan *plan)
{
    return plan == NULL ? 0 : (uint32_t)plan->points.count;
}

VARVE_API const struct varve_trace_point *
varve_trace_plan_point(const struct varve_trace_plan *plan, uint32_t number)
{
    return number < varve_trace_plan_count(plan) ? &plan->points.items[number] : NULL;
}

VARVE_API void varve_trace_plan_destroy(struct varve_trace_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->points.items);
    vv_arena_deinit(&plan->texts);
    free(plan);
}
