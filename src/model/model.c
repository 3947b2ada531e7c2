/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/utf8.h"
#include "model/columns.h"
#include "model/outward.h"

static const struct vv_column process_columns[] = {
    VV_PROCESS_COLUMNS(VV_COLUMN, struct vv_processes)
};
static const struct vv_column track_columns[] = { VV_TRACK_COLUMNS(VV_COLUMN, struct vv_tracks) };
static const struct vv_column slice_columns[] = { VV_SLICE_COLUMNS(VV_COLUMN, struct vv_slices) };
static const struct vv_column op_columns[] = { VV_OP_COLUMNS(VV_COLUMN, struct vv_ops) };
static const struct vv_column tensor_columns[] = {
    VV_TENSOR_COLUMNS(VV_COLUMN, struct vv_tensors)
};
static const struct vv_column dim_columns[] = { VV_DIM_COLUMNS(VV_COLUMN, struct vv_dims) };
static const struct vv_column source_columns[] = {
    VV_SOURCE_COLUMNS(VV_COLUMN, struct vv_sources)
};
static const struct vv_column step_columns[] = { VV_STEP_COLUMNS(VV_COLUMN, struct vv_steps) };
static const struct vv_column mark_columns[] = { VV_MARK_COLUMNS(VV_COLUMN, struct vv_marks) };
static const struct vv_column counter_columns[] = {
    VV_COUNTER_COLUMNS(VV_COLUMN, struct vv_counters)
};
static const struct vv_column flow_columns[] = { VV_FLOW_COLUMNS(VV_COLUMN, struct vv_flows) };
static const struct vv_column memory_columns[] = { VV_MEMORY_COLUMNS(VV_COLUMN, struct vv_memory) };

static const struct vv_column activity_columns[] = {
    VV_ACTIVITY_COLUMNS(VV_COLUMN, struct vv_activities)
};
static const struct vv_column collective_columns[] = {
    VV_COLLECTIVE_COLUMNS(VV_COLUMN, struct vv_collectives)
};
static const struct vv_column launch_shape_columns[] = {
    VV_LAUNCH_SHAPE_COLUMNS(VV_COLUMN, struct vv_launch_shapes)
};
static const struct vv_column wait_columns[] = { VV_WAIT_COLUMNS(VV_COLUMN, struct vv_waits) };
static const struct vv_column device_columns[] = { VV_DEVICE_COLUMNS(VV_COLUMN,
                                                                     struct vv_devices) };
static const struct vv_column arg_columns[] = { VV_ARG_COLUMNS(VV_COLUMN, struct vv_args) };
static const struct vv_column fact_columns[] = {
    VV_FACT_COLUMNS(VV_COLUMN, struct vv_facts)
};
static const struct vv_column input_columns[] = { VV_INPUT_COLUMNS(VV_COLUMN, struct vv_inputs) };

static const struct vv_column placement_columns[] = {
    VV_PLACEMENT_COLUMNS(VV_COLUMN, struct vv_placements)
};
static const struct vv_column clock_columns[] = { VV_CLOCK_COLUMNS(VV_COLUMN, struct vv_clocks) };
static const struct vv_column trace_point_columns[] = {
    VV_TRACE_POINT_COLUMNS(VV_COLUMN, struct vv_trace_points)
};
static const struct vv_column planned_point_columns[] = {
    VV_PLANNED_POINT_COLUMNS(VV_COLUMN, struct vv_planned_points)
};
static const struct vv_column resume_columns[] = { VV_RESUME_COLUMNS(VV_COLUMN,
                                                                     struct vv_resumes) };
static const struct vv_column graph_columns[] = { VV_GRAPH_COLUMNS(VV_COLUMN, struct vv_graphs) };
static const struct vv_column node_columns[] = { VV_NODE_COLUMNS(VV_COLUMN, struct vv_nodes) };
static const struct vv_column edge_columns[] = { VV_EDGE_COLUMNS(VV_COLUMN, struct vv_edges) };
static const struct vv_column loaded_model_columns[] = {
    VV_LOADED_MODEL_COLUMNS(VV_COLUMN, struct vv_loaded_models)
};
static const struct vv_column execution_columns[] = {
    VV_EXECUTION_COLUMNS(VV_COLUMN, struct vv_executions)
};
static const struct vv_column task_columns[] = { VV_TASK_COLUMNS(VV_COLUMN, struct vv_tasks) };
static const struct vv_column dag_node_columns[] = {
    VV_DAG_NODE_COLUMNS(VV_COLUMN, struct vv_dag_nodes)
};
static const struct vv_column dag_edge_columns[] = {
    VV_DAG_EDGE_COLUMNS(VV_COLUMN, struct vv_dag_edges)
};
static const struct vv_column dag_occurrence_columns[] = {
    VV_DAG_OCCURRENCE_COLUMNS(VV_COLUMN, struct vv_dag_occurrences)
};
static const struct vv_column dag_note_columns[] = {
    VV_DAG_NOTE_COLUMNS(VV_COLUMN, struct vv_dag_notes)
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define TABLE(member, columns) \
    { #member, offsetof(struct vv_model, member), columns, COUNT(columns) }

const struct vv_model_table vv_model_tables[VV_TABLE_COUNT] = {
    [VV_TABLE_PROCESSES] = TABLE(processes, process_columns),
    [VV_TABLE_TRACKS] = TABLE(tracks, track_columns),
    [VV_TABLE_SLICES] = TABLE(slices, slice_columns),
    [VV_TABLE_OPS] = TABLE(ops, op_columns),
    [VV_TABLE_TENSORS] = TABLE(tensors, tensor_columns),
    [VV_TABLE_DIMS] = TABLE(dims, dim_columns),
    [VV_TABLE_SOURCES] = TABLE(sources, source_columns),
    [VV_TABLE_STEPS] = TABLE(steps, step_columns),
    [VV_TABLE_MARKS] = TABLE(marks, mark_columns),
    [VV_TABLE_COUNTERS] = TABLE(counters, counter_columns),
    [VV_TABLE_FLOWS] = TABLE(flows, flow_columns),
    [VV_TABLE_MEMORY] = TABLE(memory, memory_columns),
    [VV_TABLE_ACTIVITIES] = TABLE(activities, activity_columns),
    [VV_TABLE_COLLECTIVES] = TABLE(collectives, collective_columns),
    [VV_TABLE_LAUNCH_SHAPES] = TABLE(launch_shapes, launch_shape_columns),
    [VV_TABLE_WAITS] = TABLE(waits, wait_columns),
    [VV_TABLE_DEVICES] = TABLE(devices, device_columns),
    [VV_TABLE_ARGS] = TABLE(args, arg_columns),
    [VV_TABLE_FACTS] = TABLE(facts, fact_columns),
    [VV_TABLE_INPUTS] = TABLE(inputs, input_columns),
    [VV_TABLE_PLACEMENTS] = TABLE(placements, placement_columns),
    [VV_TABLE_RESUMES] = TABLE(resumes, resume_columns),
    [VV_TABLE_CLOCKS] = TABLE(clocks, clock_columns),
    [VV_TABLE_GRAPHS] = TABLE(graphs, graph_columns),
    [VV_TABLE_NODES] = TABLE(nodes, node_columns),
    [VV_TABLE_EDGES] = TABLE(edges, edge_columns),
    [VV_TABLE_LOADED_MODELS] = TABLE(loaded_models, loaded_model_columns),
    [VV_TABLE_EXECUTIONS] = TABLE(executions, execution_columns),
    [VV_TABLE_TASKS] = TABLE(tasks, task_columns),
    [VV_TABLE_TRACE_POINTS] = TABLE(trace_points, trace_point_columns),
    [VV_TABLE_PLANNED_POINTS] = TABLE(planned_points, planned_point_columns),
    [VV_TABLE_DAG_NODES] = TABLE(dag_nodes, dag_node_columns),
    [VV_TABLE_DAG_EDGES] = TABLE(dag_edges, dag_edge_columns),
    [VV_TABLE_DAG_OCCURRENCES] = TABLE(dag_occurrences, dag_occurrence_columns),
    [VV_TABLE_DAG_NOTES] = TABLE(dag_notes, dag_note_columns),
};

static struct vv_table *table_of(struct vv_model *model, enum vv_table_row row)
{
    return (struct vv_table *)((char *)model + vv_model_tables[row].table_offset);
}

uint64_t vv_model_bytes(const struct vv_model *model)
{
    const struct vv_intern *strings = &model->strings;
    uint64_t bytes =
        strings->text.allocated_bytes +
        (uint64_t)strings->capacity *
            (sizeof *strings->strings + sizeof *strings->lengths + sizeof *strings->hashes) +
        (uint64_t)strings->slots.count * sizeof *strings->slots.items;
    for (int row = 0; row < VV_TABLE_COUNT; row++) {
        const char *table = (const char *)model + vv_model_tables[row].table_offset;
        bytes += vv_table_bytes((const struct vv_table *)table, vv_model_tables[row].columns,
                                vv_model_tables[row].column_count);
    }
    return bytes;
}

/* Counts `bytes` for this model, and returns the sum of all models that share the limit. */
static uint64_t add_held_bytes(struct vv_model *model, uint64_t bytes)
{
    if (model->held_bytes == NULL)
        return bytes;
    uint64_t more = bytes - model->told_bytes; /* or less, modulo 2^64 */
    model->told_bytes = bytes;
    return atomic_fetch_add(model->held_bytes, more) + more;
}

void vv_model_share_no_more(struct vv_model *model)
{
    add_held_bytes(model, 0);
    model->held_bytes = NULL;
}

bool vv_model_may_hold(struct vv_model *model, uint64_t bytes)
{
    if (model->limit_bytes == 0 || add_held_bytes(model, bytes) <= model->limit_bytes)
        return true;
    add_held_bytes(model, vv_model_bytes(model));
    return false;
}

enum varve_code vv_model_hold(struct vv_model *model, uint64_t bytes, struct varve_error *error)
{
    if (vv_model_may_hold(model, bytes))
        return VARVE_OK;
    return vv_with_next(error, VV_NEXT_MORE_MEMORY,
                        vv_fail(error, VARVE_LIMIT,
                                "it needs more memory than the %llu bytes that it may take",
                                (unsigned long long)model->limit_bytes));
}

/* Called whenever a table grows, so importers need not check the limit themselves. */
static enum varve_code check_limit(struct vv_model *model, enum vv_table_row row, uint64_t extra,
                                   struct varve_error *error)
{
    const struct vv_table *table =
        (const struct vv_table *)((const char *)model + vv_model_tables[row].table_offset);
    struct vv_table grown = { .capacity = vv_table_grown(table, extra) };
    uint64_t former = vv_table_bytes(table, vv_model_tables[row].columns,
                                     vv_model_tables[row].column_count);
    uint64_t later = vv_table_bytes(&grown, vv_model_tables[row].columns,
                                    vv_model_tables[row].column_count);
    return vv_model_hold(model, vv_model_bytes(model) - former + later, error);
}

static enum varve_code reserve(struct vv_model *model, enum vv_table_row row, uint64_t extra,
                               struct varve_error *error)
{
    struct vv_table *table = table_of(model, row);
    if (extra <= table->capacity - table->count)
        return VARVE_OK;
    if (model->limit_bytes != 0)
        VV_TRY(check_limit(model, row, extra, error));
    return vv_table_reserve(table, vv_model_tables[row].columns, vv_model_tables[row].column_count,
                            extra, error);
}

enum varve_code vv_model_reserve(struct vv_model *model, enum vv_table_row row, uint64_t extra,
                                 struct varve_error *error)
{
    vv_table_clean(table_of(model, row), vv_model_tables[row].columns,
                   vv_model_tables[row].column_count);
    return reserve(model, row, extra, error);
}

enum varve_code vv_model_permute(struct vv_model *model, enum vv_table_row table,
                                 const uint64_t *order, struct varve_error *error)
{
    return vv_table_permute(table_of(model, table), vv_model_tables[table].columns,
                            vv_model_tables[table].column_count, order, error);
}

enum varve_code vv_model_create(struct vv_model **out_model, struct varve_error *error)
{
    struct vv_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a model");
    enum varve_code code = vv_onces_create(&model->onces, error);
    if (code == VARVE_OK)
        code = vv_intern_init(&model->strings, error);
    if (code != VARVE_OK) {
        vv_onces_destroy(model->onces);
        free(model);
        return code;
    }
    model->run.exit_code = model->run.signal = -1;
    model->run.clock_uncertainty_ns = -1;
    model->run.record_cost_ns = -1;
    *out_model = model;
    return VARVE_OK;
}

void vv_model_destroy(struct vv_model *model)
{
    if (model == NULL)
        return;
    for (int row = 0; row < VV_TABLE_COUNT; row++)
        vv_table_free(table_of(model, (enum vv_table_row)row), vv_model_tables[row].columns,
                      vv_model_tables[row].column_count);
    vv_intern_deinit(&model->strings);
    free(model->placed);
    vv_outward_destroy(model->outward);
    vv_onces_destroy(model->onces);
    if (model->mapping != NULL)
        munmap(model->mapping, model->mapping_bytes);
    free(model);
}

enum varve_code vv_model_add_text(struct vv_model *model, const char *text, size_t length,
                                  uint32_t *out_id, struct varve_error *error)
{
    if (__builtin_expect(vv_utf8_is_text(text, length), 1))
        return vv_intern_add(&model->strings, text, length, out_id, error);
    char *repaired = malloc(length * 3);
    if (repaired == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a text of %zu bytes", length);
    enum varve_code code = vv_intern_add(&model->strings, repaired,
                                         vv_utf8_repair(text, length, repaired), out_id, error);
    free(repaired);
    return code;
}

enum varve_code vv_model_text(struct vv_model *model, const char *text, uint32_t *out_id,
                              struct varve_error *error)
{
    return vv_model_add_text(model, text, strlen(text), out_id, error);
}

/* Appends a blank row; the caller sets columns whose "none" is another value. */
static enum varve_code append(struct vv_model *model, enum vv_table_row row, uint32_t *out_row,
                              struct varve_error *error)
{
    struct vv_table *table = table_of(model, row);
    if (table->count == table->capacity)
        VV_TRY(reserve(model, row, 1, error));
    if (table->count < table->used)
        vv_table_clean(table, vv_model_tables[row].columns, vv_model_tables[row].column_count);
    *out_row = (uint32_t)table->count++;
    table->used = table->count;
    return VARVE_OK;
}

enum varve_code vv_model_add_process(struct vv_model *model, uint32_t *out_row,
                                     struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_PROCESSES, out_row, error));
    model->processes.clock_uncertainty_ns[*out_row] = -1;
    model->processes.rank[*out_row] = -1;
    return VARVE_OK;
}

enum varve_code vv_model_add_track(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_TRACKS, out_row, error));
    model->tracks.process[*out_row] = model->tracks.device[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_slice(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_SLICES, out_row, error));
    struct vv_slices *slices = &model->slices;
    slices->track[*out_row] = slices->parent[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_reserve_slices(struct vv_model *model, uint64_t extra,
                                        struct varve_error *error)
{
    return vv_model_reserve(model, VV_TABLE_SLICES, extra, error);
}

enum varve_code vv_model_add_op(struct vv_model *model, uint32_t *out_row,
                                struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_OPS, out_row, error));
    model->ops.sequence[*out_row] = -1;
    model->ops.first_tensor[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_tensor(struct vv_model *model, uint32_t dtype, uint32_t rank,
                                    const int64_t *dims, uint32_t *out_row,
                                    struct varve_error *error)
{
    if (dtype > UINT16_MAX || rank > UINT16_MAX)
        VV_FAIL(error, VARVE_LIMIT, "a tensor of dtype %u and rank %u", dtype, rank);
    VV_TRY(reserve(model, VV_TABLE_DIMS, rank, error));
    VV_TRY(append(model, VV_TABLE_TENSORS, out_row, error));
    struct vv_dims *sizes = &model->dims;
    model->tensors.first_dim[*out_row] = rank == 0 ? VV_NONE : (uint32_t)sizes->table.count;
    model->tensors.rank[*out_row] = (uint16_t)rank;
    model->tensors.dtype[*out_row] = (uint16_t)dtype;
    for (uint32_t i = 0; i < rank; i++)
        sizes->size[sizes->table.count++] = dims[i];
    return VARVE_OK;
}

enum varve_code vv_model_add_source(struct vv_model *model, uint32_t *out_row,
                                    struct varve_error *error)
{
    if (model->sources.table.count == 0)
        VV_TRY(append(model, VV_TABLE_SOURCES, out_row, error)); /* row 0 means "none" */
    return append(model, VV_TABLE_SOURCES, out_row, error);
}

enum varve_code vv_model_add_step(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_STEPS, out_row, error));
    model->steps.track[*out_row] = model->steps.slice[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_mark(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_MARKS, out_row, error));
    model->marks.track[*out_row] = model->marks.first_arg[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_counter(struct vv_model *model, uint32_t *out_row,
                                     struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_COUNTERS, out_row, error));
    model->counters.track[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_flow(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_FLOWS, out_row, error));
    model->flows.from_track[*out_row] = model->flows.to_track[*out_row] = VV_NONE;
    model->flows.from_slice[*out_row] = model->flows.to_slice[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_memory(struct vv_model *model, uint32_t *out_row,
                                    struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_MEMORY, out_row, error));
    model->memory.track[*out_row] = VV_NONE;
    model->memory.allocated_bytes[*out_row] = model->memory.reserved_bytes[*out_row] = -1;
    model->memory.fragmentation[*out_row] = -1;
    return VARVE_OK;
}

enum varve_code vv_model_add_activity(struct vv_model *model, uint32_t *out_row,
                                      struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_ACTIVITIES, out_row, error));
    struct vv_activities *activities = &model->activities;
    activities->context[*out_row] = activities->stream[*out_row] = -1;
    activities->device[*out_row] = activities->slice[*out_row] = VV_NONE;
    activities->launch[*out_row] = activities->caller[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_collective(struct vv_model *model, uint32_t *out_row,
                                        struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_COLLECTIVES, out_row, error));
    model->collectives.sequence[*out_row] = -1;
    model->collectives.rank[*out_row] = model->collectives.peer[*out_row] = -1;
    model->collectives.slice[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_launch_shape(struct vv_model *model, uint32_t *out_row,
                                          struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_LAUNCH_SHAPES, out_row, error));
    struct vv_launch_shapes *shapes = &model->launch_shapes;
    shapes->registers[*out_row] = shapes->shared_bytes[*out_row] = -1;
    shapes->occupancy[*out_row] = -1;
    return VARVE_OK;
}

enum varve_code vv_model_add_wait(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_WAITS, out_row, error));
    model->waits.stream[*out_row] = model->waits.correlation[*out_row] = -1;
    return VARVE_OK;
}

enum varve_code vv_model_add_device(struct vv_model *model, uint32_t *out_row,
                                    struct varve_error *error)
{
    return append(model, VV_TABLE_DEVICES, out_row, error);
}

enum varve_code vv_model_add_arg(struct vv_model *model, uint32_t *out_row,
                                 struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_ARGS, out_row, error));
    model->args.kind[*out_row] = VV_ARG_NULL;
    return VARVE_OK;
}

enum varve_code vv_model_add_trace_point(struct vv_model *model, uint32_t *out_row,
                                         struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_TRACE_POINTS, out_row, error));
    model->trace_points.track[*out_row] = VV_NONE;
    model->trace_points.iteration[*out_row] = model->trace_points.stream[*out_row] = -1;
    return VARVE_OK;
}

enum varve_code vv_model_add_planned_point(struct vv_model *model, uint32_t *out_row,
                                           struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_PLANNED_POINTS, out_row, error));
    model->planned_points.index[*out_row] = model->planned_points.process[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_fact(struct vv_model *model, uint32_t *out_row,
                                       struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_FACTS, out_row, error));
    model->facts.process[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_clock(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error)
{
    return append(model, VV_TABLE_CLOCKS, out_row, error);
}

enum varve_code vv_model_add_resume(struct vv_model *model, uint32_t process, int64_t time_ns,
                                    struct varve_error *error)
{
    uint32_t row;
    VV_TRY(append(model, VV_TABLE_RESUMES, &row, error));
    model->resumes.process[row] = process;
    model->resumes.time_ns[row] = time_ns;
    return VARVE_OK;
}

enum varve_code vv_model_add_placement(struct vv_model *model, uint32_t *out_row,
                                       struct varve_error *error)
{
    return append(model, VV_TABLE_PLACEMENTS, out_row, error);
}

enum varve_code vv_model_add_input(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error)
{
    return append(model, VV_TABLE_INPUTS, out_row, error);
}

/* ---- graphs ---- */

enum varve_code vv_model_add_graph(struct vv_model *model, uint32_t *out_row,
                                   struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_GRAPHS, out_row, error));
    model->graphs.process[*out_row] = model->graphs.parent[*out_row] = VV_NONE;
    model->graphs.graph_id[*out_row] = -1;
    model->graphs.first_node[*out_row] = (uint32_t)model->nodes.table.count;
    model->graphs.first_edge[*out_row] = (uint32_t)model->edges.table.count;
    return VARVE_OK;
}

enum varve_code vv_model_add_node(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_NODES, out_row, error));
    model->nodes.graph[*out_row] = VV_NONE;
    model->nodes.stream[*out_row] = model->nodes.parent_input[*out_row] = -1;
    model->nodes.first_tensor[*out_row] = VV_NONE;
    return VARVE_OK;
}

enum varve_code vv_model_add_edge(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error)
{
    return append(model, VV_TABLE_EDGES, out_row, error);
}

enum varve_code vv_model_add_loaded_model(struct vv_model *model, uint32_t *out_row,
                                          struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_LOADED_MODELS, out_row, error));
    model->loaded_models.process[*out_row] = model->loaded_models.graph[*out_row] = VV_NONE;
    model->loaded_models.model_id[*out_row] = model->loaded_models.session_id[*out_row] = -1;
    return VARVE_OK;
}

enum varve_code vv_model_add_execution(struct vv_model *model, uint32_t *out_row,
                                       struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_EXECUTIONS, out_row, error));
    model->executions.model[*out_row] = model->executions.track[*out_row] = VV_NONE;
    model->executions.step[*out_row] = -1;
    return VARVE_OK;
}

enum varve_code vv_model_add_task(struct vv_model *model, uint32_t *out_row,
                                  struct varve_error *error)
{
    VV_TRY(append(model, VV_TABLE_TASKS, out_row, error));
    model->tasks.node[*out_row] = model->tasks.model[*out_row] = VV_NONE;
    model->tasks.step[*out_row] = -1;
    return VARVE_OK;
}
