/* SPDX-License-Identifier: Apache-2.0 */
/* graph_what_if.c — table "graph_what_if": what the graph would take if the nodes of one name were
 * faster, and at most if they took no time: the sum over all nodes, and the longest way through the
 * graph. doc/graph.md.
 *
 * Nodes run as soon as all that they wait for is over, so the longest way is what remains if there
 * are as many threads or streams as the graph can use. No row's result is below "at least". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "graph/path/path.h"
#include "question/scale.h"
#include "sheet/cells.h"

enum { FACTOR, SELF, SHARE, ON_PATH, TOTAL, PATH, TOTAL_SPEEDUP, PATH_SPEEDUP, LEAST_TOTAL,
       LEAST_PATH, MOST_SPEEDUP, ROW, NAME, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    [FACTOR] = { "factor", "faster", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    [SELF] = { "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, false },
    [SHARE] = { "self_share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    [ON_PATH] = { "path_self_ns", "on path", VV_CELL_INT, VV_UNIT_NS, true, false },
    [TOTAL] = { "total_ns", "total then", VV_CELL_INT, VV_UNIT_NS, false, false },
    [PATH] = { "path_ns", "path then", VV_CELL_INT, VV_UNIT_NS, false, false },
    [TOTAL_SPEEDUP] = { "total_speedup", "speed-up", VV_CELL_REAL, VV_UNIT_NONE, false, false },
    [PATH_SPEEDUP] = { "path_speedup", "of path", VV_CELL_REAL, VV_UNIT_NONE, false,
                       VV_TEXT_IF_ROOM },
    [LEAST_TOTAL] = { "removed_total_ns", "total without", VV_CELL_INT, VV_UNIT_NS, true, false },
    [LEAST_PATH] = { "removed_path_ns", "path without", VV_CELL_INT, VV_UNIT_NS, false,
                     VV_TEXT_IF_ROOM },
    [MOST_SPEEDUP] = { "most_speedup", "at most", VV_CELL_REAL, VV_UNIT_NONE, false,
                       VV_TEXT_IF_ROOM },
    [ROW] = { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [NAME] = { "name", "if this were faster", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

#define NOT_KNOWN (-1)
#define WALKS_MAX 50000000u /* nodes that all walks along the graph visit: about 0.3 s           */

struct change {
    const char *name;     /* of nodes; or of a module or source, if it is asked for              */
    uint32_t *rows;       /* of the nodes that are meant                                        */
    size_t row_count;
    double factor;
    int64_t self_ns, on_path_ns;
    bool is_asked;
};

struct view {
    const struct vv_dag *dag;
    struct vv_scratch *scratch;
    struct vv_path path;
    int64_t *self_ns, *then_ns; /* by row                                                        */
    bool *on_path;
    int64_t total_ns, path_ns;
    bool has_path;              /* false: the graph has circles                                  */
    uint64_t walks;             /* nodes that further walks along the graph may visit            */
    struct change *changes;
    size_t count, capacity;
    double every;               /* factor of the rows that nobody asked for                      */
    struct vv_sheet *sheet;
};

static bool is_meant(const struct vv_dag *dag, uint32_t row, const char *name)
{
    const struct vv_dag_nodes *nodes = &dag->nodes;
    return strcmp(vv_dag_string(dag, nodes->name[row]), name) == 0 ||
           strcmp(vv_dag_string(dag, nodes->module[row]), name) == 0 ||
           strcmp(vv_dag_string(dag, nodes->source[row]), name) == 0;
}

static void take(struct view *view, struct change *change, uint32_t row)
{
    change->rows[change->row_count++] = row;
    change->self_ns += view->self_ns[row];
    change->on_path_ns += view->on_path[row] ? view->self_ns[row] : 0;
}

static enum varve_code add(struct view *view, struct change change, struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(view->scratch, &view->changes, &view->capacity, view->count + 1,
                              error));
    view->changes[view->count++] = change;
    return VARVE_OK;
}

/* ---- the value of --scale: "4", "linalg.matmul=4", "a=4;b=1.5" ---- */

static enum varve_code add_asked(struct view *view, const struct vv_scale *scale,
                                 struct varve_error *error)
{
    struct change change = { .factor = scale->factor, .is_asked = true };
    char *copy;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &copy, scale->name_bytes + 1, error));
    memcpy(copy, scale->name, scale->name_bytes);
    copy[scale->name_bytes] = '\0';
    change.name = copy;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &change.rows, view->dag->nodes.table.count, error));
    for (uint32_t row = 0; row < view->dag->nodes.table.count; row++)
        if (view->self_ns[row] > 0 && is_meant(view->dag, row, copy))
            take(view, &change, row);
    if (change.row_count == 0)
        VV_FAIL(error, VARVE_INVALID, "no node with a time has the name, module or source '%.*s'",
                (int)(scale->name_bytes < 80 ? scale->name_bytes : 80), copy);
    return add(view, change, error);
}

static enum varve_code read_scale(struct view *view, const char *text, struct varve_error *error)
{
    struct vv_scale scale;
    view->every = 2;
    for (;;) {
        VV_TRY(vv_scale_next(&text, "NAME", &scale, error));
        if (scale.factor == 0)
            return VARVE_OK;
        if (scale.name != NULL)
            VV_TRY(add_asked(view, &scale, error));
        else
            view->every = scale.factor;
    }
}

/* ---- names ---- */

static int by_name(const void *left, const void *right, void *context)
{
    const struct vv_dag *dag = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return dag->nodes.name[a] != dag->nodes.name[b]
               ? (dag->nodes.name[a] < dag->nodes.name[b] ? -1 : 1)
               : (a > b) - (a < b);
}

/* A change for each name of nodes that have time. */
static enum varve_code add_names(struct view *view, struct varve_error *error)
{
    const struct vv_dag *dag = view->dag;
    uint32_t *rows, count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &rows, dag->nodes.table.count, error));
    for (uint32_t row = 0; row < dag->nodes.table.count; row++)
        if (view->self_ns[row] > 0)
            rows[count++] = row;
    if (count > 0)
        qsort_r(rows, count, sizeof *rows, by_name, (void *)(uintptr_t)dag);
    for (uint32_t i = 0; i < count; i++) {
        bool is_new = i == 0 || dag->nodes.name[rows[i]] != dag->nodes.name[rows[i - 1]];
        if (is_new)
            VV_TRY(add(view,
                       (struct change){ .name = vv_dag_string(dag, dag->nodes.name[rows[i]]),
                                        .rows = &rows[i], .factor = view->every },
                       error));
        take(view, &view->changes[view->count - 1], rows[i]);
    }
    return VARVE_OK;
}

static int more_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->is_asked != b->is_asked)
        return a->is_asked ? -1 : 1;
    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* ---- rows ---- */

/* Sum and longest way with these changes. The way is NOT_KNOWN where there is none, or where the
 * walks so far were too many. A change of nodes that are not on the longest way leaves it as it is.
 * then_ns is self_ns, before and after. */
static void solve(struct view *view, const struct change *changes, size_t count, bool is_removed,
                  int64_t *out_total_ns, int64_t *out_path_ns)
{
    bool changes_path = false;
    *out_total_ns = view->total_ns;
    for (size_t i = 0; i < count; i++) {
        changes_path |= changes[i].on_path_ns > 0;
        for (size_t k = 0; k < changes[i].row_count; k++) {
            int64_t *then_ns = &view->then_ns[changes[i].rows[k]], before_ns = *then_ns;
            *then_ns = is_removed ? 0 : llround((double)before_ns / changes[i].factor);
            *out_total_ns -= before_ns - *then_ns;
        }
    }
    *out_path_ns = view->path_ns;
    if (changes_path && view->has_path && view->walks >= view->dag->nodes.table.count) {
        view->walks -= view->dag->nodes.table.count;
        *out_path_ns = vv_path_length(&view->path, view->then_ns);
    } else if (changes_path) {
        *out_path_ns = NOT_KNOWN;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < changes[i].row_count; k++)
            view->then_ns[changes[i].rows[k]] = view->self_ns[changes[i].rows[k]];
}

static struct vv_cell ratio(int64_t before_ns, int64_t then_ns)
{
    return then_ns > 0 && before_ns >= 0 ? vv_real_cell((double)before_ns / (double)then_ns)
                       : (struct vv_cell){ .present = false };
}

static struct vv_cell path_cell(const struct view *view, int64_t ns)
{
    bool is_known = view->has_path && ns != NOT_KNOWN;
    return is_known ? vv_int_cell(ns) : (struct vv_cell){ .present = false };
}

static enum varve_code put_changes(struct view *view, const struct change *changes, size_t count,
                                   const char *word, struct varve_error *error)
{
    struct vv_cell cells[COLUMNS] = { { .present = false } };
    int64_t total_ns, path_ns, self_ns = 0, on_path_ns = 0;
    for (size_t i = 0; i < count; i++) {
        self_ns += changes[i].self_ns;
        on_path_ns += changes[i].on_path_ns;
    }
    solve(view, changes, count, false, &total_ns, &path_ns);
    if (count == 1) {
        cells[FACTOR] = vv_real_cell(changes->factor);
        cells[SELF] = vv_int_cell(self_ns);
        cells[ON_PATH] = path_cell(view, on_path_ns);
        cells[SHARE] = vv_real_cell((double)self_ns / (double)view->total_ns);
    }
    cells[TOTAL] = vv_int_cell(total_ns);
    cells[PATH] = path_cell(view, path_ns);
    cells[TOTAL_SPEEDUP] = ratio(view->total_ns, total_ns);
    cells[PATH_SPEEDUP] = ratio(view->path_ns, path_ns);
    solve(view, changes, count, true, &total_ns, &path_ns);
    cells[LEAST_TOTAL] = vv_int_cell(total_ns);
    cells[LEAST_PATH] = path_cell(view, path_ns);
    cells[MOST_SPEEDUP] = ratio(view->total_ns, total_ns);
    cells[ROW] = vv_text_cell(word);
    cells[NAME] = vv_text_cell(count == 1 ? changes->name : "(all that are asked for)");
    return vv_row_put(view->sheet, VV_ROW_PLAIN, cells, error);
}

static enum varve_code put_all(struct view *view, int64_t top, struct varve_error *error)
{
    struct vv_cell cells[COLUMNS] = { { .present = false } };
    size_t asked = 0, shown = view->count;
    int64_t rest_ns = 0;
    char text[40];
    while (asked < view->count && view->changes[asked].is_asked)
        asked++;
    if (asked > 1)
        VV_TRY(put_changes(view, view->changes, asked, "together", error));
    if (top > 0 && (uint64_t)top < view->count - asked)
        shown = asked + (size_t)top;
    for (size_t i = 0; i < shown; i++)
        VV_TRY(put_changes(view, &view->changes[i], 1, i < asked ? "asked" : "name", error));
    for (size_t i = shown; i < view->count; i++)
        rest_ns += view->changes[i].self_ns;
    if (shown < view->count) {
        snprintf(text, sizeof text, "%zu more: --top 0", view->count - shown);
        cells[SELF] = vv_int_cell(rest_ns);
        cells[SHARE] = vv_real_cell((double)rest_ns / (double)view->total_ns);
        cells[ROW] = vv_text_cell("more");
        cells[NAME] = vv_text_cell(text);
        VV_TRY(vv_row_put(view->sheet, VV_ROW_REMAINDER, cells, error));
        cells[SHARE].present = false;
    }
    cells[SELF] = vv_int_cell(view->total_ns);
    cells[TOTAL] = vv_int_cell(view->total_ns);
    cells[PATH] = path_cell(view, view->path_ns);
    cells[ROW] = vv_text_cell("total");
    cells[NAME] = vv_text_cell("as it is");
    return vv_row_put(view->sheet, VV_ROW_TOTAL, cells, error);
}

static enum varve_code analyse(struct view *view, const struct vv_question *question,
                               struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &view->dag->nodes;
    uint64_t count = nodes->table.count;
    enum varve_code code = vv_path_init(&view->path, view->dag, view->scratch, error);
    if (code != VARVE_OK && code != VARVE_INVALID)
        return code;
    view->has_path = code == VARVE_OK;
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->self_ns, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->then_ns, count, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->on_path, count, error));
    for (uint32_t row = 0; row < count; row++) {
        bool counts = nodes->kind[row] != VV_DAG_GROUP && nodes->kind[row] != VV_DAG_OUTSIDE;
        view->self_ns[row] = counts ? nodes->self_ns[row] : 0;
        view->then_ns[row] = view->self_ns[row];
        view->total_ns += view->self_ns[row];
    }
    if (view->has_path) {
        view->path_ns = vv_path_length(&view->path, view->self_ns);
        vv_path_mark(&view->path, view->self_ns, view->on_path);
    }
    VV_TRY(read_scale(view, question->scale, error));
    if (view->total_ns == 0)
        return vv_sheet_policy(view->sheet, error, "no node of the graph has a time");
    VV_TRY(add_names(view, error));
    qsort(view->changes, view->count, sizeof *view->changes, more_time);
    VV_TRY(put_all(view, question->top, error));
    return vv_sheet_policy(view->sheet, error, "the sum of all nodes, and %s; \"at most\": if it "
                           "took no time",
                           view->has_path ? "the longest way along the edges"
                                          : "no longest way, because the edges form circles");
}

enum varve_code vv_analyse_graph_what_if(const struct vv_model *model,
                                         const struct vv_question *question,
                                         struct vv_scratch *scratch, struct vv_sheet *out,
                                         struct varve_error *error)
{
    struct view view = { .scratch = scratch, .sheet = out, .walks = WALKS_MAX };
    struct vv_question whole = *question;
    struct vv_dag *dag;
    whole.top = 0; /* of rows, not of nodes */
    if (whole.by == NULL)
        whole.by = vv_graph_stays(model, question) ? NULL : "execution"; /* folded: circles */
    vv_sheet_init(out, "graph_what_if", "WHAT WOULD PAY", columns, COLUMNS);
    VV_TRY(vv_graph_make_in(scratch, model, &whole, &dag, error));
    view.dag = dag;
    return analyse(&view, question, error);
}
