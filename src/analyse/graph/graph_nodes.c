/* SPDX-License-Identifier: Apache-2.0 */
/* graph_nodes.c — table "graph_nodes": the nodes of the graph, those with most time of their own
 * first. Groups have no row: column `group` names them. The rows' self times add up to the total.
 * doc/graph.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "sheet/cells.h"

enum { SELF, SHARE, TOTAL, COUNT, MEAN, MIN, MAX, P50, P95, CRITICAL, MEMORY, FLOP, BYTES, LEVEL,
       IN, OUT, BEGIN, ID, KIND, WHERE, DEVICE, MODULE, PHASE, SOURCE, INPUTS, OUTPUTS, GROUP, ROW,
       NAME, COLUMNS };

static const struct vv_sheet_column node_columns[COLUMNS] = {
    [SELF] = { "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, false },
    [SHARE] = { "self_share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },
    [TOTAL] = { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },
    [COUNT] = { "count", "count", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    [MEAN] = { "mean_ns", "mean", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    [MIN] = { "min_ns", "min", VV_CELL_INT, VV_UNIT_NS, true, false },
    [MAX] = { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, true, false },
    [P50] = { "p50_ns", "median", VV_CELL_INT, VV_UNIT_NS, true, false },
    [P95] = { "p95_ns", "p95", VV_CELL_INT, VV_UNIT_NS, true, false },
    [CRITICAL] = { "critical_ns", "critical", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },
    [MEMORY] = { "memory_bytes", "memory", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    [FLOP] = { "flop", "flop", VV_CELL_INT, VV_UNIT_FLOP, true, false },
    [BYTES] = { "bytes", "bytes", VV_CELL_INT, VV_UNIT_BYTES, true, false },
    [LEVEL] = { "level", "level", VV_CELL_INT, VV_UNIT_NONE, false, false },
    [IN] = { "edges_in", "in", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    [OUT] = { "edges_out", "out", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },
    [BEGIN] = { "begin_ns", "begin", VV_CELL_INT, VV_UNIT_TIME, true, false },
    [ID] = { "id", "id", VV_CELL_INT, VV_UNIT_NONE, true, false },
    [KIND] = { "kind", "kind", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [WHERE] = { "where", "where", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [DEVICE] = { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [MODULE] = { "module", "module", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [PHASE] = { "phase", "phase", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [SOURCE] = { "source", "source", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [INPUTS] = { "inputs", "inputs", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [OUTPUTS] = { "outputs", "outputs", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [GROUP] = { "group", "group", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    [ROW] = { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [NAME] = { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

struct view {
    const struct vv_dag *dag;
    struct vv_scratch *scratch;
    uint32_t *edges_in, *edges_out; /* by row                                                   */
    int64_t whole_ns;
    struct vv_cell (*rows)[COLUMNS];
    size_t count;
    size_t sort;
};

static struct vv_cell known_cell(int64_t value, bool is_known)
{
    return is_known ? vv_int_cell(value) : (struct vv_cell){ .present = false };
}

static struct vv_cell text_cell(const struct vv_dag *dag, uint32_t id)
{
    return id != 0 ? vv_text_cell(vv_dag_string(dag, id)) : (struct vv_cell){ .present = false };
}

/* "net / 24 x layers" */
static enum varve_code group_text(const struct view *view, uint32_t row, struct vv_cell *out_cell,
                                  struct varve_error *error)
{
    enum { TEXT_BYTES = 400, DEPTH = 32 };
    const struct vv_dag_nodes *nodes = &view->dag->nodes;
    uint32_t chain[DEPTH];
    size_t count = 0, length = 0;
    char *text;
    if (nodes->parent[row] == VV_NONE)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &text, TEXT_BYTES, error));
    for (uint32_t at = nodes->parent[row]; at != VV_NONE && count < DEPTH; at = nodes->parent[at])
        chain[count++] = at;
    while (count-- > 0 && length < TEXT_BYTES)
        length += (size_t)snprintf(text + length, TEXT_BYTES - length, "%s%s",
                                   length == 0 ? "" : " / ",
                                   vv_dag_string(view->dag, nodes->name[chain[count]]));
    *out_cell = vv_text_cell(text);
    return VARVE_OK;
}

static enum varve_code fill(struct view *view, uint32_t row, struct vv_cell *cells,
                            struct varve_error *error)
{
    const struct vv_dag *dag = view->dag;
    const struct vv_dag_nodes *nodes = &dag->nodes;
    int64_t count = (int64_t)nodes->count[row];
    bool is_timed = count > 0, has_spread = is_timed && nodes->kind[row] != VV_DAG_REST;
    const struct { int column; uint32_t id; } texts[] = {
        { WHERE, nodes->where[row] },   { DEVICE, nodes->device[row] },
        { MODULE, nodes->module[row] }, { PHASE, nodes->phase[row] },
        { SOURCE, nodes->source[row] }, { INPUTS, nodes->inputs[row] },
        { OUTPUTS, nodes->outputs[row] }, { NAME, nodes->name[row] },
    };
    cells[SELF] = known_cell(nodes->self_ns[row], is_timed);
    if (is_timed && view->whole_ns > 0)
        cells[SHARE] = vv_real_cell((double)nodes->self_ns[row] / (double)view->whole_ns);
    cells[TOTAL] = known_cell(nodes->total_ns[row], is_timed);
    cells[COUNT] = vv_int_cell(count);
    cells[MEAN] = known_cell(is_timed ? nodes->total_ns[row] / count : 0, is_timed);
    cells[MIN] = known_cell(nodes->min_ns[row], has_spread);
    cells[MAX] = known_cell(nodes->max_ns[row], has_spread);
    cells[P50] = known_cell(nodes->p50_ns[row], nodes->p50_ns[row] > 0);
    cells[P95] = known_cell(nodes->p95_ns[row], nodes->p95_ns[row] > 0);
    cells[CRITICAL] = known_cell(nodes->critical_ns[row], nodes->critical_ns[row] > 0);
    cells[MEMORY] = known_cell((int64_t)nodes->memory_bytes[row], nodes->memory_bytes[row] > 0);
    cells[FLOP] = known_cell((int64_t)nodes->flop[row], nodes->flop[row] > 0);
    cells[BYTES] = known_cell((int64_t)nodes->bytes[row], nodes->bytes[row] > 0);
    cells[LEVEL] = known_cell(nodes->level[row], nodes->level[row] != VV_NONE);
    cells[IN] = vv_int_cell(view->edges_in[row]);
    cells[OUT] = vv_int_cell(view->edges_out[row]);
    cells[BEGIN] = known_cell(nodes->begin_ns[row], is_timed);
    cells[ID] = known_cell((int64_t)nodes->id[row], nodes->id[row] <= INT64_MAX);
    cells[KIND] = vv_text_cell(vv_dag_kind_word(nodes->kind[row]));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cells[texts[i].column] = text_cell(dag, texts[i].id);
    cells[ROW] = vv_text_cell(nodes->kind[row] == VV_DAG_REST ? "more" : "node");
    return group_text(view, row, &cells[GROUP], error);
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct view *view = context;
    const struct vv_cell *left = a, *right = b;
    int result = vv_cell_compare(&left[view->sort], &right[view->sort],
                                 node_columns[view->sort].type);
    if (result == 0)
        result = vv_cell_compare(&left[SELF], &right[SELF], VV_CELL_INT);
    return result != 0 ? result
           : left[ID].integer != right[ID].integer
               ? (left[ID].integer < right[ID].integer ? -1 : 1)
               : 0;
}

static enum varve_code find_sort(const char *word, size_t *out_column, struct varve_error *error)
{
    *out_column = SELF;
    for (size_t column = 0; word != NULL && column <= COLUMNS; column++) {
        if (column == COLUMNS)
            VV_FAIL(error, VARVE_INVALID, "table 'graph_nodes' has no column '%.60s' to sort by",
                    word);
        *out_column = column;
        if (vv_column_is_called(&node_columns[column], word))
            break;
    }
    return VARVE_OK;
}

static enum varve_code gather(struct view *view, struct varve_error *error)
{
    const struct vv_dag *dag = view->dag;
    uint64_t count = dag->nodes.table.count;
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->edges_in, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->edges_out, count, error));
    VV_TRY(vv_scratch_zeros(view->scratch, &view->rows, count, sizeof *view->rows, error));
    for (uint64_t e = 0; e < dag->edges.table.count; e++) {
        view->edges_out[dag->edges.from[e]]++;
        view->edges_in[dag->edges.to[e]]++;
    }
    for (uint32_t row = 0; row < count; row++)
        view->whole_ns += dag->nodes.kind[row] != VV_DAG_GROUP ? dag->nodes.self_ns[row] : 0;
    for (uint32_t row = 0; row < count; row++)
        if (dag->nodes.kind[row] != VV_DAG_GROUP)
            VV_TRY(fill(view, row, view->rows[view->count++], error));
    if (view->count > 0)
        qsort_r(view->rows, view->count, sizeof *view->rows, compare_rows, view);
    return VARVE_OK;
}

static enum varve_code put(struct view *view, struct vv_sheet *out, struct varve_error *error)
{
    struct vv_cell total[COLUMNS] = { { .present = false } };
    uint64_t executions = 0;
    for (size_t i = 0; i < view->count; i++) {
        executions += (uint64_t)view->rows[i][COUNT].integer;
        VV_TRY(vv_row_put(out,
                          strcmp(view->rows[i][KIND].text, "rest") == 0 ? VV_ROW_REMAINDER
                                                                        : VV_ROW_PLAIN,
                          view->rows[i], error));
    }
    total[SELF] = vv_int_cell(view->whole_ns);
    total[COUNT] = vv_int_cell((int64_t)executions);
    if (view->whole_ns > 0)
        total[SHARE] = vv_real_cell(1.0);
    total[ROW] = vv_text_cell("total");
    total[NAME] = vv_text_cell("total");
    return vv_row_put(out, VV_ROW_TOTAL, total, error);
}

static enum varve_code analyse(const struct vv_model *model, const struct vv_dag *dag,
                               const struct vv_question *question, struct vv_scratch *scratch,
                               struct vv_sheet *out, struct varve_error *error)
{
    struct view view = { .dag = dag, .scratch = scratch };
    VV_TRY(find_sort(question->sort, &view.sort, error));
    VV_TRY(gather(&view, error));
    VV_TRY(put(&view, out, error));
    return vv_sheet_policy(out, error, "%zu node%s, %s%s; self times add up", view.count,
                           view.count == 1 ? "" : "s",
                           vv_graph_stays(model, question) ? "" : "folded by ",
                           vv_graph_stays(model, question) ? "not folded"
                           : question->by != NULL          ? question->by
                                                           : "module and name");
}

enum varve_code vv_analyse_graph_nodes(const struct vv_model *model,
                                       const struct vv_question *question,
                                       struct vv_scratch *scratch, struct vv_sheet *out,
                                       struct varve_error *error)
{
    struct vv_dag *dag;
    vv_sheet_init(out, "graph_nodes", "NODES", node_columns, COLUMNS);
    VV_TRY(vv_graph_make_in(scratch, model, question, &dag, error));
    return analyse(model, dag, question, scratch, out, error);
}
