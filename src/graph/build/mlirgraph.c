/* SPDX-License-Identifier: Apache-2.0 */
/* mlirgraph.c — --compat mlirgraph: the graph that mlirgraph 1.0.0 makes of the same events.
 *
 * Of an XSpace, the events are those of the plane "/host:CPU" alone (with those of the other planes
 * that the reader joins with it), line after line in the order of the file; of another trace, those
 * of all threads. Of a graph's file they are its nodes, in order of their ids. Steps, phases and
 * the profiler's own ranges are events too. */
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "graph/build/building.h"
#include "graph/build/kinds.h"
#include "graph/build/thesis_levels.h"
#include "model/arg_walk.h"

#define PLANE "/host:CPU"
#define LONG_NAME "long_name" /* the argument of an event of an XSpace that has two names         */
#define PS_PER_NS 1000

struct copying {
    struct vv_graph_building *building;
    struct vv_scratch *scratch;
    uint32_t process;           /* the plane's; VV_NONE: the trace has no such plane              */
    struct vv_keyed_row *rows;  /* of the events, in order                                        */
    size_t count;
};

/* ---- which events ---- */

static uint32_t find_plane(const struct vv_model *model)
{
    for (uint32_t p = 0; p < model->processes.table.count; p++)
        if (strcmp(vv_text_of(model, model->processes.name[p]), PLANE) == 0)
            return p;
    return VV_NONE;
}

static bool counts(const struct copying *copying, uint32_t row)
{
    const struct vv_graph_building *building = copying->building;
    uint32_t step = building->model->slices.step[row];
    return vv_scope_holds(&building->scope, row) &&
           (building->scope.every_step || vv_step_counts(&building->scope, step));
}

static enum varve_code take_track(struct copying *copying, uint32_t track,
                                  struct varve_error *error)
{
    const struct vv_model *model = copying->building->model;
    struct vv_keyed_row *rows = copying->rows + copying->count;
    uint32_t first, last;
    size_t count = 0;
    vv_track_rows(model, track, &first, &last);
    for (uint32_t row = first; row < last; row++)
        if (counts(copying, row))
            rows[count++] = (struct vv_keyed_row){ model->slices.order[row], row };
    copying->count += count;
    return vv_radix_sort(rows, count, error);
}

static enum varve_code take_events(struct copying *copying, struct varve_error *error)
{
    const struct vv_model *model = copying->building->model;
    copying->process = find_plane(model);
    VV_TRY(VV_SCRATCH_ARRAY(copying->scratch, &copying->rows, model->slices.table.count, error));
    for (uint32_t track = 0; track < model->tracks.table.count; track++)
        if (copying->building->scope.tracks[track] &&
            (copying->process == VV_NONE || model->tracks.process[track] == copying->process))
            VV_TRY(take_track(copying, track, error));
    return VARVE_OK;
}

/* What the profiler calls the event, whole: the node's name with its type, where Varve's own tables
 * say the type alone. */
static uint32_t whole_name(const struct vv_model *model, uint32_t long_name, uint32_t row)
{
    struct vv_arg_walk walk = vv_arg_walk(model, model->slices.first_arg[row],
                                          model->slices.arg_count[row]);
    for (uint32_t arg; vv_arg_next(&walk, &arg);)
        if (model->args.key[arg] == long_name && model->args.kind[arg] == VV_ARG_TEXT)
            return (uint32_t)model->args.value[arg];
    return model->slices.name[row];
}

/* Times count from where the producer's clock does. */
static enum varve_code add_nodes(struct copying *copying, struct varve_error *error)
{
    struct vv_graph_building *building = copying->building;
    const struct vv_model *model = building->model;
    uint32_t long_name = vv_intern_find(&model->strings, LONG_NAME, strlen(LONG_NAME));
    for (size_t i = 0; i < copying->count; i++) {
        uint32_t node, row = copying->rows[i].row;
        VV_TRY(vv_graph_add_slice_node(building, row, VV_DAG_OPERATOR,
                                       building->model->slices.self_ns[row], &node, error));
        VV_TRY(vv_graph_text(building, whole_name(model, long_name, row),
                             &building->dag->nodes.name[node], error));
        building->dag->nodes.id[node] = i;
        building->dag->nodes.begin_ns[node] -= building->model->run.origin_ns;
        building->dag->nodes.end_ns[node] -= building->model->run.origin_ns;
    }
    return VARVE_OK;
}

/* ---- the graph of a file ---- */

static int by_id(const void *a, const void *b)
{
    const struct vv_keyed_row *left = a, *right = b;
    return left->key != right->key ? (left->key > right->key) - (left->key < right->key)
                                   : (left->row > right->row) - (left->row < right->row);
}

static enum varve_code take_nodes(struct copying *copying, struct varve_error *error)
{
    struct vv_dag *dag = copying->building->dag;
    VV_TRY(vv_dag_from_model(copying->building->model, dag, error));
    dag->edges.table.count = dag->notes.table.count = 0;
    copying->count = dag->nodes.table.count;
    VV_TRY(VV_SCRATCH_ARRAY(copying->scratch, &copying->rows, copying->count, error));
    for (uint32_t node = 0; node < copying->count; node++)
        copying->rows[node] = (struct vv_keyed_row){ dag->nodes.id[node], node };
    if (copying->count > 1)
        qsort(copying->rows, copying->count, sizeof *copying->rows, by_id);
    for (uint32_t node = 0; node < copying->count; node++)
        dag->nodes.parent[node] = VV_NONE;
    return VARVE_OK;
}

/* ---- levels ---- */

/* Picoseconds after the first begin. Where they do not fit, nanoseconds have to do. */
static enum varve_code find_times(struct copying *copying, const uint32_t *node_of,
                                  struct vv_interval **out_items, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &copying->building->dag->nodes;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    VV_TRY(VV_SCRATCH_ARRAY(copying->scratch, out_items, copying->count, error));
    for (size_t i = 0; i < copying->count; i++) {
        uint32_t node = node_of[i];
        first_ns = nodes->begin_ns[node] < first_ns ? nodes->begin_ns[node] : first_ns;
        last_ns = nodes->end_ns[node] > last_ns ? nodes->end_ns[node] : last_ns;
    }
    bool has_room = copying->count == 0 ||
                    (uint64_t)last_ns - (uint64_t)first_ns < INT64_MAX / PS_PER_NS - 2;
    for (size_t i = 0; i < copying->count; i++) {
        uint32_t node = node_of[i];
        int64_t begin = nodes->begin_ns[node], duration = nodes->total_ns[node];
        if (has_room) {
            begin = (begin - first_ns) * PS_PER_NS + nodes->begin_rest_ps[node];
            duration = duration * PS_PER_NS + nodes->total_rest_ps[node];
        }
        if (duration < 0 || __builtin_add_overflow(begin, duration, &duration))
            duration = begin;
        (*out_items)[i] = (struct vv_interval){ begin, duration };
    }
    return VARVE_OK;
}

static enum varve_code add_levels(struct copying *copying, struct varve_error *error)
{
    struct vv_graph_building *building = copying->building;
    struct vv_dag *dag = building->dag;
    struct vv_interval *items;
    uint32_t *level, *parent, *node_of, edge;
    bool is_file = building->slice_of == NULL;
    VV_TRY(VV_SCRATCH_ARRAY(copying->scratch, &level, copying->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(copying->scratch, &parent, copying->count, error));
    VV_TRY(VV_SCRATCH_ARRAY(copying->scratch, &node_of, copying->count, error));
    for (uint32_t i = 0; i < copying->count; i++)
        node_of[i] = is_file ? copying->rows[i].row : i;
    VV_TRY(find_times(copying, node_of, &items, error));
    VV_TRY(vv_thesis_levels(items, copying->count, level, parent, error));
    for (size_t i = 0; i < copying->count; i++) {
        dag->nodes.level[node_of[i]] = level[i];
        if (parent[i] == UINT32_MAX)
            continue;
        VV_TRY(vv_dag_add_edge(dag, node_of[parent[i]], node_of[i], VV_DAG_EDGE_ORDER, &edge,
                               error));
        building->edges[VV_DAG_EDGE_ORDER]++;
    }
    return VARVE_OK;
}

static enum varve_code make(struct copying *copying, struct varve_error *error)
{
    struct vv_graph_building *building = copying->building;
    if (building->model->dag_nodes.table.count > 0) {
        VV_TRY(take_nodes(copying, error));
    } else {
        VV_TRY(take_events(copying, error));
        VV_TRY(add_nodes(copying, error));
    }
    building->wanted = 1u << VV_DAG_EDGE_ORDER;
    building->unknown[VV_DAG_EDGE_ORDER] = "all executions are of one level";
    return add_levels(copying, error);
}

static enum varve_code build_mlirgraph(struct vv_graph_building *building,
                                       struct varve_error *error)
{
    struct vv_scratch scratch = { 0 };
    struct copying copying = { .building = building, .scratch = &scratch, .process = VV_NONE };
    enum varve_code code = make(&copying, error);
    vv_scratch_deinit(&scratch);
    if (code == VARVE_OK)
        code = vv_dag_note(building->dag, error, "rules", "mlirgraph 1.0.0");
    return code;
}

const struct vv_graph_kind vv_graph_mlirgraph = { "mlirgraph", 1u << VV_DAG_EDGE_ORDER, true,
                                                  build_mlirgraph };
