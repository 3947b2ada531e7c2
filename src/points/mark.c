/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c — the calls of varve/trace_points.h that record: a point that was reached, and a plan. */
#include "ctf/point_tag.h"
#include "points/plan.h"
#include "record/hot_path.h"
#include "record/string.h"

VARVE_API void varve_emit_trace_mark(const struct varve_mark_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    if (info == NULL || info->struct_size < sizeof *info || vv_point_tag(info->tag).kind == 0 ||
        (info->track != 0 && !vv_track_is_there(info->track))) {
        vv_thread_discard(self, 1);
        return;
    }
    const uint64_t fields[] = { info->track, info->tag, info->model, (uint64_t)info->iteration,
                                (uint64_t)info->stream,
                                info->track != 0 ? (uint64_t)info->time : 0 };
    struct vv_place place = vv_reserve_on_track(self, 8 + sizeof fields, 0, info->track);
    vv_put_fields_at(self, &place, VV_EVENT_TRACE_MARK, fields, sizeof fields / 8);
}

static uint32_t string_or_none(const char *text)
{
    return text == NULL || *text == '\0' ? 0 : vv_string_of(text);
}

static void record_point(const struct varve_trace_point *point, uint64_t model)
{
    struct vv_self *self = vv_self_in_epoch();
    const struct varve_graph_node *node =
        point->node < 0 ? NULL : vv_graph_node_at(point->graph, (uint32_t)point->node);
    const uint32_t strings[] = { vv_string_of(point->reason),
                                 string_or_none(node != NULL ? node->name : NULL),
                                 string_or_none(point->operation) };
    if (strings[0] == 0 || (node != NULL && strings[1] == 0)) {
        vv_thread_discard(self, 1);
        return;
    }
    const uint64_t fields[] = {
        model, point->before_tag, point->after_tag,
        (uint64_t)(node != NULL ? point->graph->graph_id : -1), (uint64_t)point->node,
        (uint64_t)point->state << 32 | point->kind, (uint64_t)strings[2] << 32 | strings[1],
        strings[0]
    };
    uint32_t named[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        if (strings[i] != 0)
            named[count++] = strings[i];
    vv_self_in_epoch();
    struct vv_place place = vv_reserve_with(self, 8 + sizeof fields, named, count, 0);
    vv_put_fields_at(self, &place, VV_EVENT_TRACE_POINT, fields, sizeof fields / 8);
}

VARVE_API void varve_trace_plan_record(const struct varve_trace_plan *plan, uint64_t model)
{
    for (uint32_t i = 0; i < varve_trace_plan_count(plan); i++)
        if ((varve_layers() & VARVE_LAYER_STEP) != 0)
            record_point(&plan->points.items[i], model);
}
