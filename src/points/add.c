/* SPDX-License-Identifier: Apache-2.0 */
/* add.c — adds a point to a plan, with its tags and its reason. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "points/plan.h"
#include "points/types.h"

#define REASON_BYTES 512

/* ---- tags ---- */

/* Which marks a kind has, and GE's number of the first: those after it are 2 apart. */
static const struct numbers {
    bool before, after;
    uint32_t ge_first;
    uint32_t ge_count; /* 0 = one number for all                                                */
} numbers[VARVE_POINT_KIND_COUNT] = {
    [VARVE_POINT_FORWARD] = { true, false, 2, 0 },
    [VARVE_POINT_BACKWARD] = { false, true, 3, 0 },
    [VARVE_POINT_ITERATION] = { false, true, 4, 0 },
    [VARVE_POINT_COLLECTIVE] = { true, true, 10000, VARVE_GE_POINTS_MAX },
    [VARVE_POINT_FETCH] = { true, true, 20000, VARVE_GE_POINTS_MAX },
};

static uint64_t tag_of(const struct vv_planning *planning, enum varve_point_kind kind,
                       uint32_t index, bool is_end)
{
    const struct numbers *of = &numbers[kind];
    if (!(is_end ? of->after : of->before))
        return 0;
    if (planning->numbering != VARVE_NUMBERING_GE)
        return VARVE_POINT_TAG(kind, index, is_end);
    return of->ge_count == 0 ? of->ge_first : of->ge_first + 2 * index + is_end;
}

/* Why GE's numbers have none for the point; "" = they have. */
static void lack_of_number(const struct vv_planning *planning, enum varve_point_kind kind,
                           uint32_t id, char *text, size_t bytes)
{
    const struct varve_graph_node *node = vv_flat_node(planning->flat, id);
    text[0] = '\0';
    if (planning->numbering != VARVE_NUMBERING_GE)
        return;
    if (kind == VARVE_POINT_COLLECTIVE && !vv_collective_type(node)->is_ge)
        snprintf(text, bytes, "refused: GE's numbers are for HcomAllReduce and HorovodAllreduce, "
                 "not for '%.80s'; ", vv_graph_node_type(node));
    else if (numbers[kind].ge_count != 0 && planning->ge_counts[kind] >= numbers[kind].ge_count)
        snprintf(text, bytes, "refused: GE has numbers for %u of the kind, and this is one more; ",
                 numbers[kind].ge_count);
}

/* ---- points ---- */

static void place(const struct vv_planning *planning, struct varve_trace_point *point, uint32_t id)
{
    const struct vv_flat_body *body = vv_flat_body(planning->flat, id);
    const struct varve_graph_node *node = vv_flat_node(planning->flat, id);
    point->graph = body->graph;
    point->node = (int64_t)id - body->first;
    point->stream = node->stream;
    if (point->kind == VARVE_POINT_COLLECTIVE)
        point->operation = vv_collective_type(node)->operation;
}

enum varve_code vv_plan_add(struct vv_planning *planning, enum varve_point_kind kind, uint32_t id,
                            struct varve_error *error, const char *format, ...)
{
    struct varve_trace_plan *plan = planning->plan;
    struct varve_trace_point point = { .kind = kind, .node = -1, .stream = -1 };
    char reason[REASON_BYTES] = "";
    if (id != VV_FLAT_NONE) {
        place(planning, &point, id);
        lack_of_number(planning, kind, id, reason, sizeof reason);
        point.state = reason[0] == '\0' ? VARVE_POINT_FOUND : VARVE_POINT_REFUSED;
        point.index = planning->counts[kind]++;
    }
    if (point.state == VARVE_POINT_FOUND) {
        uint32_t number = planning->numbering == VARVE_NUMBERING_GE ? planning->ge_counts[kind]++
                                                                    : point.index;
        point.before_tag = tag_of(planning, kind, number, false);
        point.after_tag = tag_of(planning, kind, number, true);
    }
    size_t length = strlen(reason);
    va_list list;
    va_start(list, format);
    vsnprintf(reason + length, sizeof reason - length, format, list);
    va_end(list);
    VV_TRY(vv_array_reserve(&plan->points.items, &plan->points.capacity, plan->points.count + 1,
                            sizeof point, error));
    point.reason = vv_arena_text(&plan->texts, reason, strlen(reason));
    if (point.reason == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the reasons of %zu points",
                plan->points.count);
    plan->points.items[plan->points.count++] = point;
    return VARVE_OK;
}
