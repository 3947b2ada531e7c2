/* SPDX-License-Identifier: Apache-2.0 */
/* execute.c — the hot path of executors: a thread executes a node; and device work of a node. */
#include "exec/graph.h"
#include "exec/model.h"
#include "exec/subscriber.h"
#include "record/hot_path.h"

static void meet_if_new(uint32_t graph)
{
    if (!vv_graph_is_ready(graph))
        vv_graph_meet(graph);
}

/* Numbers that no graph has are recorded as they are: readers count them. */
static __attribute__((noinline)) void begin_slowly(uint32_t graph, uint32_t node)
{
    struct vv_self *self = vv_self_in_epoch();
    bool is_wanted = vv_is_wanted(self, VARVE_LAYER_OP);
    if (is_wanted) {
        const uint64_t field = (uint64_t)node << 32 | graph;
        meet_if_new(graph);
        vv_self_in_epoch();
        vv_put_fields(self, VV_EVENT_EXECUTE, &field, 1);
        meet_if_new(graph); /* a session may have begun since */
    }
    vv_push(self, is_wanted);
}

static inline __attribute__((always_inline)) void begin(uint32_t graph, uint32_t node)
{
    struct vv_self *self = &vv_self;
    struct vv_place place;
    if (VARVE_UNLIKELY((varve_layers() & VARVE_LAYER_OP) == 0 ||
                       self->plain_word != vv_epoch_word() || !vv_graph_is_ready(graph) ||
                       !vv_reserve_at_once(self, 16, &place))) {
        begin_slowly(graph, node);
        return;
    }
    self->depth++;
    place.words[0] = vv_record_word(VV_EVENT_EXECUTE, place.ticks);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* vv_stream_settle */
    place.words[1] = (uint64_t)node << 32 | graph;
    vv_publish(self, &place, 16);
}

static __attribute__((noinline)) void begin_and_tell(uint32_t graph, uint32_t node)
{
    vv_subscribers_tell(VARVE_EXECUTOR_EXECUTE_BEGIN, 0, graph, node, -1);
    if (varve_layers() != 0)
        begin(graph, node);
}

VARVE_API VV_HOT void varve_emit_execute_begin(uint32_t graph, uint32_t node)
{
    if (VARVE_UNLIKELY(varve_executor_events() != 0))
        begin_and_tell(graph, node);
    else
        begin(graph, node);
}

static __attribute__((noinline)) void end_and_tell(uint32_t graph, uint32_t node)
{
    if (varve_layers() != 0)
        vv_emit_end();
    vv_subscribers_tell(VARVE_EXECUTOR_EXECUTE_END, 0, graph, node, -1);
}

VARVE_API VV_HOT void varve_emit_execute_end(uint32_t graph, uint32_t node)
{
    if (VARVE_UNLIKELY(varve_executor_events() != 0))
        end_and_tell(graph, node);
    else
        vv_emit_end();
}

VARVE_API void varve_emit_task(const struct varve_activity_info *info,
                               const struct varve_task_info *task)
{
    struct vv_self *self = vv_self_in_epoch();
    uint32_t name = 0, graph;
    bool is_right = info != NULL && info->struct_size >= sizeof *info && task != NULL &&
                    task->struct_size >= sizeof *task && vv_track_is_there(info->track);
    if (is_right && info->name != NULL)
        name = vv_string_of(info->name);
    if (!is_right || (name == 0 && (info->name != NULL || task->graph == 0))) {
        vv_thread_discard(self, 1);
        return;
    }
    if (task->model != 0)
        vv_loaded_model_meet(task->model, &graph);
    if (task->graph != 0)
        meet_if_new(task->graph);
    const uint64_t fields[] = { (uint64_t)name << 32 | info->track,
                                (uint64_t)task->model << 32 | info->kind, (uint64_t)info->begin,
                                (uint64_t)info->end, info->correlation, info->bytes,
                                (uint64_t)task->node << 32 | task->graph, (uint64_t)task->step };
    vv_self_in_epoch();
    struct vv_place place = vv_reserve_on_track(self, 8 + sizeof fields, name, info->track);
    vv_put_fields_at(self, &place, VV_EVENT_TASK, fields, sizeof fields / 8);
    if (task->graph != 0)
        meet_if_new(task->graph);
}
