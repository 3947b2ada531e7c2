/* SPDX-License-Identifier: Apache-2.0 */
/* sync.c — edges from device work to what waited for it: a call of the host, or work of another
 * stream. The graph of the critical path knows them (analyse/critical/wait.c). */
#include "analyse/critical/graph.h"
#include "graph/build/building.h"

/* A call cannot wait for work and be before it. The graph has one node for a call's begin and end,
 * so a copy that waits for itself has no edge. */
static bool launches_it(const struct vv_model *model, uint32_t call, uint32_t work)
{
    const struct vv_slices *slices = &model->slices;
    uint32_t activity = slices->activity[work],
             launch = activity != VV_NONE ? model->activities.launch[activity] : VV_NONE;
    return launch != VV_NONE && slices->track[launch] == slices->track[call] &&
           slices->begin_ns[launch] >= slices->begin_ns[call];
}

/* The slice's own node, or VV_NONE. */
static uint32_t own_node(const struct vv_graph_building *building, uint32_t slice)
{
    uint32_t node = vv_graph_holder(building, slice);
    return node != VV_NONE && building->slice_of[node] == slice ? node : VV_NONE;
}

/* record_of: the slice of a call that waits -> the device's record of the wait; VV_NONE. */
static enum varve_code find_records(const struct vv_model *model, struct vv_scratch *scratch,
                                    uint32_t **record_of, struct varve_error *error)
{
    const struct vv_activities *activities = &model->activities;
    VV_TRY(VV_SCRATCH_ARRAY(scratch, record_of, model->slices.table.count, error));
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        (*record_of)[row] = VV_NONE;
    for (uint32_t a = 0; a < activities->table.count; a++)
        if (activities->kind[a] == VV_ACTIVITY_SYNC && activities->launch[a] != VV_NONE)
            (*record_of)[activities->launch[a]] = activities->slice[a];
    return VARVE_OK;
}

static enum varve_code add_waits(struct vv_graph_building *building,
                                 const struct vv_critical_graph *graph, const uint32_t *record_of,
                                 struct varve_error *error)
{
    for (size_t e = 0; e < graph->edge_count; e++) {
        const struct vv_critical_edge *edge = &graph->edges[e];
        uint32_t work = graph->event[edge->from], waits = graph->event[edge->to];
        if (edge->link != VV_LINK_WAIT || work == VV_NONE || waits == VV_NONE ||
            launches_it(building->model, waits, work))
            continue;
        uint32_t node = vv_graph_holder(building, work);
        VV_TRY(vv_graph_edge(building, node, own_node(building, waits), VV_DAG_EDGE_SYNC, 0,
                             error));
        VV_TRY(vv_graph_edge(building, node, own_node(building, record_of[waits]),
                             VV_DAG_EDGE_SYNC, 0, error));
    }
    return VARVE_OK;
}

static enum varve_code find_waits(struct vv_graph_building *building, struct vv_scratch *scratch,
                                  struct varve_error *error)
{
    struct vv_question question = VV_QUESTION_ALL;
    struct vv_scope scope;
    struct vv_host_collectives collectives;
    struct vv_critical_windows windows;
    struct vv_critical_graph graph;
    uint32_t *record_of;
    question.selection = vv_selection_without_step(&building->question->selection);
    question.selection.filter = NULL;
    VV_TRY(vv_scope_init(&scope, building->model, &question.selection, scratch, error));
    VV_TRY(vv_host_collectives_find(&collectives, &scope, scratch, error));
    question.annotation = ""; /* all ranges: the window is the whole trace */
    VV_TRY(vv_critical_windows_init(&windows, &scope, &question, &collectives, error));
    VV_TRY(vv_critical_graph_init(&graph, &scope, &question, &windows, &collectives, error));
    VV_TRY(find_records(building->model, scratch, &record_of, error));
    return add_waits(building, &graph, record_of, error);
}

enum varve_code vv_graph_sync_edges(struct vv_graph_building *building, struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    enum varve_code code = VARVE_OK;
    building->unknown[VV_DAG_EDGE_SYNC] =
        building->work.count == 0 ? "no device work here" : "no wait for device work is recorded";
    if (building->work.count > 0)
        code = find_waits(building, &scratch, error);
    vv_scratch_deinit(&scratch);
    return code;
}
