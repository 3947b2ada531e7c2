/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c — table "graph": how large the graph is, by what its edges are known, how deep and wide
 * it is, and what of it could not be known. doc/graph.md. */
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sheet/cells.h"

enum { WHAT, COUNT, TIME, STANDS_FOR, SAYS, COLUMNS };

static const struct vv_sheet_column graph_columns[COLUMNS] = {
    [WHAT] = { "what", "what", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [COUNT] = { "count", "count", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    [TIME] = { "time_ns", "time", VV_CELL_INT, VV_UNIT_NS, false, false },
    [STANDS_FOR] = { "stands_for", "stands for", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    [SAYS] = { "says", "says", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_WRAPPED },
};

struct view {
    const struct vv_dag *dag;
    struct vv_sheet *sheet;
    struct vv_scratch *scratch;
    bool has_critical; /* a row says the critical path                                          */
};

static enum varve_code put(struct view *view, const char *what, int64_t count, int64_t time_ns,
                           int64_t stands_for, struct varve_error *error)
{
    struct vv_cell cells[COLUMNS] = { [WHAT] = vv_text_cell(what) };
    if (count >= 0)
        cells[COUNT] = vv_int_cell(count);
    if (time_ns >= 0)
        cells[TIME] = vv_int_cell(time_ns);
    if (stands_for >= 0)
        cells[STANDS_FOR] = vv_int_cell(stands_for);
    const char *says = vv_dag_find_note(view->dag, what);
    if (says != NULL && says[strspn(says, "0123456789")] != '\0') /* a number alone is the count */
        cells[SAYS] = vv_text_cell(says);
    return vv_row_put(view->sheet, VV_ROW_PLAIN, cells, error);
}

static enum varve_code put_nodes(struct view *view, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &view->dag->nodes;
    int64_t counts[VV_DAG_KINDS] = { 0 }, times_ns[VV_DAG_KINDS] = { 0 },
            executions[VV_DAG_KINDS] = { 0 };
    int64_t all = 0, all_ns = 0, all_executions = 0, critical = 0, critical_ns = 0;
    for (uint32_t row = 0; row < nodes->table.count; row++) {
        uint8_t kind = nodes->kind[row];
        counts[kind]++;
        times_ns[kind] += nodes->self_ns[row];
        executions[kind] += (int64_t)nodes->count[row];
        if (kind == VV_DAG_GROUP)
            continue;
        all++;
        all_ns += nodes->self_ns[row];
        all_executions += (int64_t)nodes->count[row];
        critical += nodes->critical_ns[row] > 0;
        critical_ns += nodes->critical_ns[row];
    }
    VV_TRY(put(view, "nodes", all, all_ns, all_executions, error));
    for (int kind = 0; kind < VV_DAG_KINDS; kind++) {
        char what[40];
        if (counts[kind] == 0 || kind == VV_DAG_GROUP)
            continue;
        snprintf(what, sizeof what, "nodes: %s", vv_dag_kind_word((enum vv_dag_kind)kind));
        VV_TRY(put(view, what, counts[kind], times_ns[kind], executions[kind], error));
    }
    if (counts[VV_DAG_GROUP] > 0)
        VV_TRY(put(view, "groups", counts[VV_DAG_GROUP], -1, -1, error));
    view->has_critical = critical > 0;
    return critical == 0 ? VARVE_OK : put(view, "critical path", critical, critical_ns, -1, error);
}

/* The key of the note about edges of a kind: "data edges". */
static void edge_note(char text[40], enum vv_dag_edge_kind kind)
{
    snprintf(text, 40, "%s edges", vv_dag_edge_word(kind));
}

static enum varve_code put_edges(struct view *view, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &view->dag->edges;
    int64_t counts[VV_DAG_EDGE_KINDS] = { 0 }, stands_for[VV_DAG_EDGE_KINDS] = { 0 }, sum = 0;
    for (uint64_t e = 0; e < edges->table.count; e++) {
        counts[edges->kind[e]]++;
        stands_for[edges->kind[e]] += (int64_t)edges->count[e];
        sum += (int64_t)edges->count[e];
    }
    VV_TRY(put(view, "edges", (int64_t)edges->table.count, -1, sum, error));
    for (int kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
        char what[40];
        edge_note(what, (enum vv_dag_edge_kind)kind);
        if (counts[kind] > 0 || vv_dag_find_note(view->dag, what) != NULL)
            VV_TRY(put(view, what, counts[kind], -1, stands_for[kind], error));
    }
    return VARVE_OK;
}

static int compare_levels(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* A file may say any level, so they are sorted, and not counted in an array by level. */
static enum varve_code put_levels(struct view *view, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &view->dag->nodes;
    uint32_t *levels, count = 0, width = 0, widest = 0;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &levels, nodes->table.count, error));
    for (uint32_t row = 0; row < nodes->table.count; row++)
        if (nodes->level[row] != VV_NONE)
            levels[count++] = nodes->level[row];
    if (count > 0)
        qsort(levels, count, sizeof *levels, compare_levels);
    for (uint32_t i = 0; i < count; i++) {
        width = i > 0 && levels[i] == levels[i - 1] ? width + 1 : 1;
        widest = width > widest ? width : widest;
    }
    VV_TRY(put(view, "levels", count > 0 ? (int64_t)levels[count - 1] + 1 : 0, -1, -1, error));
    return put(view, "most nodes in a level", widest, -1, -1, error);
}

/* Does another row have what this note says? */
static bool is_put(const struct view *view, const char *key)
{
    char what[40];
    if (strcmp(key, "nodes") == 0)
        return true;
    for (int kind = 0; kind < VV_DAG_EDGE_KINDS; kind++) {
        edge_note(what, (enum vv_dag_edge_kind)kind);
        if (strcmp(key, what) == 0)
            return true;
    }
    return view->has_critical && strcmp(key, "critical path") == 0;
}

static enum varve_code put_notes(struct view *view, struct varve_error *error)
{
    const struct vv_dag *dag = view->dag;
    for (uint64_t row = 0; row < dag->notes.table.count; row++) {
        struct vv_cell cells[COLUMNS] = {
            [WHAT] = vv_text_cell(vv_dag_string(dag, dag->notes.key[row])),
            [SAYS] = vv_text_cell(vv_dag_string(dag, dag->notes.text[row])),
        };
        if (!is_put(view, cells[WHAT].text))
            VV_TRY(vv_row_put(view->sheet, VV_ROW_PLAIN, cells, error));
    }
    return VARVE_OK;
}

enum varve_code vv_analyse_graph(const struct vv_model *model, const struct vv_question *question,
                                 struct vv_scratch *scratch, struct vv_sheet *out,
                                 struct varve_error *error)
{
    struct view view = { .sheet = out, .scratch = scratch };
    struct vv_question whole = *question;
    struct vv_dag *dag;
    whole.top = 0; /* a table's rows are few, and the graph is not */
    vv_sheet_init(out, "graph", "GRAPH", graph_columns, COLUMNS);
    VV_TRY(vv_graph_make_in(scratch, model, &whole, &dag, error));
    view.dag = dag;
    VV_TRY(put_nodes(&view, error));
    VV_TRY(put_edges(&view, error));
    VV_TRY(put_levels(&view, error));
    VV_TRY(put_notes(&view, error));
    return vv_sheet_policy(out, error,
                           "what ran, and what followed from what; varve dag -o graph.svg draws "
                           "it");
}
