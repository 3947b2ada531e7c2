/* SPDX-License-Identifier: Apache-2.0 */
/* find.c — where each kind of point lies in a graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "points/plan.h"
#include "points/types.h"

#define NAME "'%.80s'"

typedef VV_ARRAY_OF(uint32_t) node_list;

static enum varve_code push(node_list *list, uint32_t id, struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof id, error));
    list->items[list->count++] = id;
    return VARVE_OK;
}

static const char *name_of(const struct vv_planning *planning, uint32_t id)
{
    return vv_flat_node(planning->flat, id)->name;
}

static const char *type_of(const struct vv_planning *planning, uint32_t id)
{
    return vv_graph_node_type(vv_flat_node(planning->flat, id));
}

static bool is_in_root(const struct vv_flat_graph *flat, uint32_t id)
{
    return flat->body_of[id] == 0;
}

static bool has_task(const struct vv_flat_graph *flat, uint32_t id)
{
    return vv_flat_node(flat, id)->task_type != VARVE_TASK_NONE;
}

/* Adds the nodes that vv_search_choose has left. */
static enum varve_code add_chosen(struct vv_planning *planning, enum varve_point_kind kind,
                                  struct varve_error *error, const char *how)
{
    const struct vv_search *search = &planning->search;
    for (size_t i = 0; i < search->found.count; i++)
        VV_TRY(vv_plan_add(planning, kind, search->found.items[i].id, error, "found: %s%s", how,
                           search->found.count > 1 ? ", in each body that may run" : ""));
    return VARVE_OK;
}

/* ---- forward start ---- */

static enum varve_code add_forward(struct vv_planning *planning, const node_list *sources,
                                   struct varve_error *error)
{
    struct vv_search *search = &planning->search;
    char how[300];
    if (sources->count == 0)
        return vv_plan_add(planning, VARVE_POINT_FORWARD, VV_FLAT_NONE, error,
                           "none: no node brings data in (Data, GetNext …): name the first reader "
                           "with fp_point");
    VV_TRY(vv_search_readers(search, sources->items, sources->count, error));
    uint32_t first = sources->items[0];
    if (search->found.count == 0)
        return vv_plan_add(planning, VARVE_POINT_FORWARD, VV_FLAT_NONE, error,
                           "none: no node with a task reads what " NAME " (%.40s) brings in%s",
                           name_of(planning, first), type_of(planning, first),
                           sources->count > 1 ? ", nor what others bring" : "");
    size_t readers = search->found.count;
    vv_search_choose(search, false, 0);
    uint32_t source = search->found.items[0].from;
    snprintf(how, sizeof how,
             "the first of %zu node%s with a task that read what %zu source%s bring%s in, here "
             NAME " (%.40s)", readers, readers == 1 ? "" : "s", sources->count,
             sources->count == 1 ? "" : "s", sources->count == 1 ? "s" : "",
             name_of(planning, source), type_of(planning, source));
    return add_chosen(planning, VARVE_POINT_FORWARD, error, how);
}

enum varve_code vv_plan_forward(struct vv_planning *planning, struct varve_error *error)
{
    const struct vv_flat_graph *flat = planning->flat;
    node_list sources = { 0 };
    enum varve_code code = VARVE_OK;
    if (planning->fp_point != NULL)
        return vv_plan_named(planning, VARVE_POINT_FORWARD, "fp_point", planning->fp_point, error);
    for (uint32_t p = 0; p < flat->node_count && code == VARVE_OK; p++) {
        const struct varve_graph_node *node = vv_flat_node(flat, flat->by_position[p]);
        if (vv_is_fetch(node) || (is_in_root(flat, flat->by_position[p]) && vv_is_source(node)))
            code = push(&sources, flat->by_position[p], error);
    }
    if (code == VARVE_OK)
        code = add_forward(planning, &sources, error);
    free(sources.items);
    return code;
}

/* ---- backward end ---- */

/* The last collective that reduces, or else the outputs of the graph. */
static enum varve_code list_targets(const struct vv_planning *planning, node_list *out_targets,
                                    struct varve_error *error)
{
    const struct vv_flat_graph *flat = planning->flat;
    for (uint32_t p = flat->node_count; p-- > 0;) {
        uint32_t id = flat->by_position[p];
        const struct vv_collective_type *type = vv_collective_type(vv_flat_node(flat, id));
        if (type != NULL && type->reduces && has_task(flat, id))
            return push(out_targets, id, error);
    }
    for (uint32_t p = flat->node_count; p-- > 0;)
        if (is_in_root(flat, flat->by_position[p]) &&
            vv_is_output(vv_flat_node(flat, flat->by_position[p])))
            VV_TRY(push(out_targets, flat->by_position[p], error));
    return VARVE_OK;
}

/* Keeps those on the target's stream, or deeper than it, if there are any: only they are known to
 * end before it by their place. */
static bool keep_same_stream(struct vv_search *search, int64_t stream)
{
    size_t kept = 0;
    for (size_t i = 0; i < search->found.count; i++) {
        struct vv_found_node node = search->found.items[i];
        if (!node.is_inside && vv_flat_node(search->flat, node.id)->stream != stream)
            continue;
        search->found.items[i] = search->found.items[kept];
        search->found.items[kept++] = node;
    }
    if (kept > 0)
        search->found.count = kept;
    return kept > 0;
}

static enum varve_code add_backward(struct vv_planning *planning, const node_list *targets,
                                    struct varve_error *error)
{
    struct vv_search *search = &planning->search;
    char how[300];
    if (targets->count == 0)
        return vv_plan_add(planning, VARVE_POINT_BACKWARD, VV_FLAT_NONE, error,
                           "none: no collective that reduces, and no output (NetOutput …): name "
                           "the node with bp_point");
    uint32_t target = targets->items[0];
    VV_TRY(vv_search_producers(search, targets->items, targets->count, error));
    if (search->found.count == 0)
        return vv_plan_add(planning, VARVE_POINT_BACKWARD, VV_FLAT_NONE, error,
                           "none: " NAME " (%.40s) waits for no node with a task",
                           name_of(planning, target), type_of(planning, target));
    int64_t stream = vv_flat_node(planning->flat, target)->stream;
    size_t producers = search->found.count;
    bool is_same = stream < 0 || keep_same_stream(search, stream);
    vv_search_choose(search, true, vv_flat_body(planning->flat, target)->depth);
    const struct vv_collective_type *type =
        vv_collective_type(vv_flat_node(planning->flat, target));
    snprintf(how, sizeof how, "the last of %zu node%s that " NAME " (%.40s), %s, waits for%s",
             producers, producers == 1 ? "" : "s", name_of(planning, target),
             type_of(planning, target),
             type != NULL && type->reduces ? "the last collective that reduces" : "the output",
             is_same ? "" : "; none of them is on its stream");
    return add_chosen(planning, VARVE_POINT_BACKWARD, error, how);
}

enum varve_code vv_plan_backward(struct vv_planning *planning, struct varve_error *error)
{
    node_list targets = { 0 };
    if (planning->bp_point != NULL)
        return vv_plan_named(planning, VARVE_POINT_BACKWARD, "bp_point", planning->bp_point, error);
    enum varve_code code = list_targets(planning, &targets, error);
    if (code == VARVE_OK)
        code = add_backward(planning, &targets, error);
    free(targets.items);
    return code;
}

/* ---- iteration end ---- */

/* GE's control of iterations on the device: one of the two runs at the end of each. */
static uint32_t find_loop_control(const struct vv_planning *planning, const char *name)
{
    for (uint32_t id = 0; id < planning->flat->node_count; id++)
        if (strcmp(name_of(planning, id), name) == 0 && has_task(planning->flat, id))
            return id;
    return VV_FLAT_NONE;
}

static enum varve_code add_loop_controls(struct vv_planning *planning, bool *out_any,
                                         struct varve_error *error)
{
    static const char *const names[] = { "FlowCtrl_LoopCond_ASSIGNADD",
                                         "FlowCtrl_LoopCond_ASSIGN" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t id = find_loop_control(planning, names[i]);
        if (id == VV_FLAT_NONE)
            continue;
        *out_any = true;
        VV_TRY(vv_plan_add(planning, VARVE_POINT_ITERATION, id, error,
                           "found: the node of this name ends an iteration of a loop on the "
                           "device"));
    }
    return VARVE_OK;
}

enum varve_code vv_plan_iteration(struct vv_planning *planning, struct varve_error *error)
{
    const struct vv_flat_graph *flat = planning->flat;
    struct vv_search *search = &planning->search;
    bool has_control = false;
    VV_TRY(add_loop_controls(planning, &has_control, error));
    if (has_control)
        return VARVE_OK;
    for (uint32_t p = flat->node_count; p-- > 0;) {
        uint32_t id = flat->by_position[p];
        if (is_in_root(flat, id) && has_task(flat, id) && vv_is_output(vv_flat_node(flat, id)))
            return vv_plan_add(planning, VARVE_POINT_ITERATION, id, error,
                               "found: the output of the graph (%.40s)", type_of(planning, id));
    }
    search->found.count = 0;
    for (uint32_t id = 0; id < flat->node_count; id++) {
        if (!has_task(flat, id))
            continue;
        VV_TRY(vv_array_reserve(&search->found.items, &search->found.capacity,
                                search->found.count + 1, sizeof *search->found.items, error));
        search->found.items[search->found.count++] = (struct vv_found_node){ id, id, false };
    }
    if (search->found.count == 0)
        return vv_plan_add(planning, VARVE_POINT_ITERATION, VV_FLAT_NONE, error,
                           "none: no node of the graph has a task");
    vv_search_choose(search, true, 0);
    return add_chosen(planning, VARVE_POINT_ITERATION, error,
                      "no output has a task, so the last node that has one");
}

/* ---- collectives and fetches ---- */

enum varve_code vv_plan_collectives(struct vv_planning *planning, struct varve_error *error)
{
    const struct vv_flat_graph *flat = planning->flat;
    for (uint32_t p = 0; p < flat->node_count; p++) {
        uint32_t id = flat->by_position[p];
        const struct vv_collective_type *type = vv_collective_type(vv_flat_node(flat, id));
        if (type != NULL && has_task(flat, id))
            VV_TRY(vv_plan_add(planning, VARVE_POINT_COLLECTIVE, id, error,
                               "found: type %.80s is %s", type_of(planning, id), type->operation));
    }
    if (planning->counts[VARVE_POINT_COLLECTIVE] == 0)
        return vv_plan_add(planning, VARVE_POINT_COLLECTIVE, VV_FLAT_NONE, error,
                           "none: none of the %u nodes has a task and the type of a collective",
                           flat->node_count);
    return VARVE_OK;
}

enum varve_code vv_plan_fetches(struct vv_planning *planning, struct varve_error *error)
{
    const struct vv_flat_graph *flat = planning->flat;
    for (uint32_t p = 0; p < flat->node_count; p++) {
        uint32_t id = flat->by_position[p];
        if (vv_is_fetch(vv_flat_node(flat, id)) && has_task(flat, id))
            VV_TRY(vv_plan_add(planning, VARVE_POINT_FETCH, id, error,
                               "found: type %.80s fetches data", type_of(planning, id)));
    }
    if (planning->counts[VARVE_POINT_FETCH] == 0)
        return vv_plan_add(planning, VARVE_POINT_FETCH, VV_FLAT_NONE, error,
                           "none: none of the %u nodes has a task and the type of a data fetch",
                           flat->node_count);
    return VARVE_OK;
}
