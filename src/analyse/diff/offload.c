/* SPDX-License-Identifier: Apache-2.0 */
/* offload.c — table "offload": which operations of a program would run on which of two devices, of
 * two profiles of the program, so that one run takes least (doc/metrics.md §11).
 *
 * The sum of the operations' times and of the transfers between the devices is least: a minimum
 * cut, which is exact. Nothing runs at the same time. The program's arguments lie on the base
 * device, and its results are wanted there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/diff/diff.h"
#include "base/text/duration.h"
#include "base/text/size.h"
#include "graph/graph.h"
#include "numbers/cut.h"
#include "sheet/cells.h"

enum { GAIN, BASE_TIME, NEW_TIME, TRANSFERS, BYTES, TRANSFER_TIME, TOTAL, DEVICE, MODULE, ROW,
       NUMBER, NAME, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    [GAIN] = { "gain_ns", "gain", VV_CELL_INT, VV_UNIT_NS, false, false },
    [BASE_TIME] = { "base_ns", "on base", VV_CELL_INT, VV_UNIT_NS, false, false },
    [NEW_TIME] = { "new_ns", "on new", VV_CELL_INT, VV_UNIT_NS, false, false },
    [TRANSFERS] = { "transfers", "transfers", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    [BYTES] = { "transfer_bytes", "bytes", VV_CELL_INT, VV_UNIT_BYTES, false, false },
    [TRANSFER_TIME] = { "transfer_ns", "transfer", VV_CELL_INT, VV_UNIT_NS, false, false },
    [TOTAL] = { "total_ns", "a run", VV_CELL_INT, VV_UNIT_NS, false, false },
    [DEVICE] = { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    [MODULE] = { "module", "module", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_ROOM },
    [ROW] = { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    [NUMBER] = { "number", "number", VV_CELL_INT, VV_UNIT_NONE, true, false },
    [NAME] = { "name", "operation", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

/* What an operation makes, and who takes it. Edges of one operation with one type are one value. */
struct value {
    uint32_t maker, first_edge, edge_count; /* in order                                         */
    uint64_t bytes;
};

struct view {
    struct vv_dag *dags[VV_SIDES];
    struct vv_scratch *scratch;
    uint32_t count;              /* nodes                                                       */
    int64_t *ns[VV_SIDES];       /* of one run, by row                                          */
    bool *is_timed[VV_SIDES], *on_new;
    uint64_t runs[VV_SIDES];
    uint32_t *order;             /* edges, by maker and type                                    */
    struct value *values;
    uint32_t value_count;
    uint64_t unknown;            /* values of unknown size                                      */
    double bytes_per_s;
    int64_t latency_ns;
    struct vv_sheet *sheet;
};

/* ---- the link: "16GB/s", "16GB/s,10us" ---- */

static enum varve_code read_link(struct view *view, const char *text, struct varve_error *error)
{
    char rate[40], latency[40] = "0ns";
    size_t length = strcspn(text, ",");
    uint64_t bytes, ns;
    if (length >= 2 && memcmp(text + length - 2, "/s", 2) == 0)
        snprintf(rate, sizeof rate, "%.*s", (int)(length - 2), text);
    else
        snprintf(rate, sizeof rate, "%.*s", (int)length, text);
    if (text[length] == ',')
        snprintf(latency, sizeof latency, "%s", text + length + 1);
    VV_TRY_NOTE(vv_size_parse(rate, &bytes, error), error, "--link '%.40s'", text);
    VV_TRY_NOTE(vv_duration_parse(latency, &ns, error), error, "--link '%.40s'", text);
    if (bytes == 0 || ns > INT64_MAX / 1024)
        VV_FAIL_SAID(error, VARVE_INVALID,
                     "--link '%.40s': bytes a second and a latency, as in 16GB/s,10us", text);
    view->bytes_per_s = (double)bytes;
    view->latency_ns = (int64_t)ns;
    return VARVE_OK;
}

static int64_t transfer_ns(const struct view *view, uint64_t bytes)
{
    double ns = ceil((double)bytes * 1e9 / view->bytes_per_s);
    return view->latency_ns + (ns < 1e15 ? (int64_t)ns : INT64_C(1000000000000000));
}

/* ---- the two profiles ---- */

/* Times of one run: the operation that ran least often ran once in each run. */
static enum varve_code read_times(struct view *view, int side, struct varve_error *error)
{
    const struct vv_dag_nodes *nodes = &view->dags[side]->nodes;
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->ns[side], view->count, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->is_timed[side], view->count, error));
    for (uint32_t row = 0; row < view->count; row++)
        if (nodes->count[row] > 0 && nodes->kind[row] != VV_DAG_GROUP &&
            (view->runs[side] == 0 || nodes->count[row] < view->runs[side]))
            view->runs[side] = nodes->count[row];
    for (uint32_t row = 0; row < view->count; row++) {
        view->is_timed[side][row] = nodes->count[row] > 0 && nodes->kind[row] != VV_DAG_GROUP;
        if (view->is_timed[side][row])
            view->ns[side][row] = nodes->self_ns[row] / (int64_t)view->runs[side];
    }
    return VARVE_OK;
}

/* Have both graphs the same operations in the same order? */
static bool are_same(const struct view *view, uint32_t *out_row)
{
    const struct vv_dag *base = view->dags[VV_BASE], *new = view->dags[VV_NEW];
    uint64_t least = base->nodes.table.count < new->nodes.table.count ? base->nodes.table.count
                                                                      : new->nodes.table.count;
    for (*out_row = 0; *out_row < least; ++*out_row)
        if (strcmp(vv_dag_string(base, base->nodes.name[*out_row]),
                   vv_dag_string(new, new->nodes.name[*out_row])) != 0)
            return false;
    return base->nodes.table.count == new->nodes.table.count;
}

static int by_value(const void *left, const void *right, void *context)
{
    const struct vv_dag_edges *edges = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (edges->from[a] != edges->from[b])
        return edges->from[a] < edges->from[b] ? -1 : 1;
    if (edges->name[a] != edges->name[b])
        return edges->name[a] < edges->name[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static enum varve_code gather_values(struct view *view, struct varve_error *error)
{
    const struct vv_dag_edges *edges = &view->dags[VV_BASE]->edges;
    uint32_t count = (uint32_t)edges->table.count;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &view->order, count, error));
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &view->values, count, error));
    for (uint32_t e = 0; e < count; e++)
        view->order[e] = e;
    if (count > 0)
        qsort_r(view->order, count, sizeof *view->order, by_value, (void *)(uintptr_t)edges);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t edge = view->order[i], before = i > 0 ? view->order[i - 1] : edge;
        if (i == 0 || edges->from[edge] != edges->from[before] ||
            edges->name[edge] != edges->name[before]) {
            view->values[view->value_count++] =
                (struct value){ edges->from[edge], i, 0, edges->bytes[edge] };
            view->unknown += edges->bytes[edge] == 0;
        }
        view->values[view->value_count - 1].edge_count++;
    }
    return VARVE_OK;
}

/* ---- the cut ---- */

/* Points: the nodes; the two devices; two for each value: it is needed on the new one, on the
 * base. */
static enum varve_code add_value(struct view *view, struct vv_cut *cut, uint32_t number,
                                 struct varve_error *error)
{
    const struct value *value = &view->values[number];
    const struct vv_dag_edges *edges = &view->dags[VV_BASE]->edges;
    uint32_t to_new = view->count + 2 + 2 * number, to_base = to_new + 1;
    int64_t cost_ns = transfer_ns(view, value->bytes);
    VV_TRY(vv_cut_add(cut, value->maker, to_new, cost_ns, error));
    VV_TRY(vv_cut_add(cut, to_base, value->maker, cost_ns, error));
    for (uint32_t i = 0; i < value->edge_count; i++) {
        uint32_t taker = edges->to[view->order[value->first_edge + i]];
        VV_TRY(vv_cut_add(cut, to_new, taker, VV_CUT_NEVER, error));
        VV_TRY(vv_cut_add(cut, taker, to_base, VV_CUT_NEVER, error));
    }
    return VARVE_OK;
}

/* Arguments lie on the base, results are wanted there, and so is what the new device did not
 * run. */
static bool is_pinned(const struct view *view, uint32_t row)
{
    const struct vv_dag *dag = view->dags[VV_BASE];
    const char *name = vv_dag_string(dag, dag->nodes.name[row]);
    size_t length = strlen(name);
    if (view->is_timed[VV_BASE][row] && !view->is_timed[VV_NEW][row])
        return true;
    return dag->nodes.kind[row] == VV_DAG_OTHER || strcmp(name, "return") == 0 ||
           (length > 7 && strcmp(name + length - 7, ".return") == 0);
}

static enum varve_code divide(struct view *view, struct varve_error *error)
{
    uint32_t points = view->count + 2 + 2 * view->value_count;
    uint32_t base = view->count, new = view->count + 1;
    struct vv_cut cut;
    double all_ns = 0;
    for (uint32_t row = 0; row < view->count; row++)
        all_ns += (double)view->ns[VV_BASE][row] + (double)view->ns[VV_NEW][row];
    for (uint32_t i = 0; i < view->value_count; i++)
        all_ns += 2 * (double)transfer_ns(view, view->values[i].bytes);
    if (all_ns > (double)VV_CUT_NEVER / 2)
        VV_FAIL(error, VARVE_LIMIT, "the times of both profiles add up to more than 2^60 ns");
    VV_TRY(vv_cut_init(&cut, points, view->scratch, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &view->on_new, points, error));
    for (uint32_t row = 0; row < view->count; row++) {
        bool only_new = view->is_timed[VV_NEW][row] && !view->is_timed[VV_BASE][row];
        VV_TRY(vv_cut_add(&cut, row, new, only_new ? VV_CUT_NEVER : view->ns[VV_BASE][row],
                          error));
        VV_TRY(vv_cut_add(&cut, base, row,
                          is_pinned(view, row) ? VV_CUT_NEVER : view->ns[VV_NEW][row], error));
    }
    for (uint32_t i = 0; i < view->value_count; i++)
        VV_TRY(add_value(view, &cut, i, error));
    (void)vv_cut_solve(&cut, base, new, view->on_new);
    return VARVE_OK;
}

/* ---- rows ---- */

struct sum {
    int64_t base_ns, new_ns, transfer_ns;
    uint64_t transfers, bytes;
};

static struct sum sum_up(const struct view *view, const bool *on_new)
{
    const struct vv_dag_edges *edges = &view->dags[VV_BASE]->edges;
    struct sum sum = { 0 };
    for (uint32_t row = 0; row < view->count; row++)
        *(on_new[row] ? &sum.new_ns : &sum.base_ns) +=
            view->ns[on_new[row] ? VV_NEW : VV_BASE][row];
    for (uint32_t v = 0; v < view->value_count; v++) {
        const struct value *value = &view->values[v];
        bool is_sent = false;
        for (uint32_t i = 0; i < value->edge_count && !is_sent; i++)
            is_sent = on_new[edges->to[view->order[value->first_edge + i]]] !=
                      on_new[value->maker];
        sum.transfers += is_sent;
        sum.bytes += is_sent ? value->bytes : 0;
        sum.transfer_ns += is_sent ? transfer_ns(view, value->bytes) : 0;
    }
    return sum;
}

static enum varve_code put_sum(struct view *view, const bool *on_new, const char *word,
                               const char *name, int64_t base_total_ns, struct varve_error *error)
{
    struct sum sum = sum_up(view, on_new);
    struct vv_cell cells[COLUMNS] = { { .present = false } };
    int64_t total_ns = sum.base_ns + sum.new_ns + sum.transfer_ns;
    cells[GAIN] = vv_int_cell(base_total_ns - total_ns);
    cells[BASE_TIME] = vv_int_cell(sum.base_ns);
    cells[NEW_TIME] = vv_int_cell(sum.new_ns);
    cells[TRANSFERS] = vv_int_cell((int64_t)sum.transfers);
    cells[BYTES] = vv_int_cell((int64_t)sum.bytes);
    cells[TRANSFER_TIME] = vv_int_cell(sum.transfer_ns);
    cells[TOTAL] = vv_int_cell(total_ns);
    cells[ROW] = vv_text_cell(word);
    cells[NAME] = vv_text_cell(name);
    return vv_row_put(view->sheet, strcmp(word, "total") == 0 ? VV_ROW_TOTAL : VV_ROW_PLAIN, cells,
                      error);
}

static int64_t gain_of(const struct view *view, uint32_t row)
{
    return view->ns[VV_BASE][row] - view->ns[VV_NEW][row];
}

static int by_gain(const void *left, const void *right, void *context)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int64_t x = gain_of(context, a), y = gain_of(context, b);
    return x != y ? (x > y ? -1 : 1) : (a > b) - (a < b);
}

/* The operations that go to the new device, those that gain most first. */
static enum varve_code put_moved(struct view *view, int64_t top, struct varve_error *error)
{
    const struct vv_dag *dag = view->dags[VV_BASE];
    uint32_t *rows, *numbers, count = 0, timed = 0;
    VV_TRY(VV_SCRATCH_ARRAY(view->scratch, &rows, view->count, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &numbers, view->count, error));
    for (uint32_t row = 0; row < view->count; row++) {
        if (view->is_timed[VV_NEW][row])
            numbers[row] = ++timed;
        if (view->on_new[row] && view->is_timed[VV_NEW][row])
            rows[count++] = row;
    }
    if (count > 0)
        qsort_r(rows, count, sizeof *rows, by_gain, view);
    uint32_t shown = top > 0 && (uint64_t)top < count ? (uint32_t)top : count;
    for (uint32_t i = 0; i < count; i++) {
        struct vv_cell cells[COLUMNS] = { { .present = false } };
        uint32_t module = dag->nodes.module[rows[i]];
        if (i >= shown)
            break;
        cells[GAIN] = vv_int_cell(gain_of(view, rows[i]));
        if (view->is_timed[VV_BASE][rows[i]])
            cells[BASE_TIME] = vv_int_cell(view->ns[VV_BASE][rows[i]]);
        cells[NEW_TIME] = vv_int_cell(view->ns[VV_NEW][rows[i]]);
        cells[DEVICE] = vv_text_cell("new");
        if (module != 0)
            cells[MODULE] = vv_text_cell(vv_dag_string(dag, module));
        cells[ROW] = vv_text_cell("operation");
        cells[NUMBER] = vv_int_cell(numbers[rows[i]]);
        cells[NAME] = vv_text_cell(vv_dag_string(dag, dag->nodes.name[rows[i]]));
        VV_TRY(vv_row_put(view->sheet, VV_ROW_PLAIN, cells, error));
    }
    if (shown < count) {
        struct vv_cell cells[COLUMNS] = { { .present = false } };
        int64_t rest_ns = 0;
        char text[40];
        for (uint32_t i = shown; i < count; i++)
            rest_ns += gain_of(view, rows[i]);
        snprintf(text, sizeof text, "%" PRIu32 " more: --top 0", count - shown);
        cells[GAIN] = vv_int_cell(rest_ns);
        cells[ROW] = vv_text_cell("more");
        cells[NAME] = vv_text_cell(text);
        VV_TRY(vv_row_put(view->sheet, VV_ROW_REMAINDER, cells, error));
    }
    return VARVE_OK;
}

static enum varve_code put_all(struct view *view, int64_t top, struct varve_error *error)
{
    bool *all;
    VV_TRY(VV_SCRATCH_ZEROS(view->scratch, &all, view->count, error));
    struct sum base = sum_up(view, all);
    VV_TRY(put_moved(view, top, error));
    VV_TRY(put_sum(view, all, "base", "(all on base)", base.base_ns, error));
    for (uint32_t row = 0; row < view->count; row++)
        all[row] = !is_pinned(view, row);
    VV_TRY(put_sum(view, all, "new", "(all that can on new)", base.base_ns, error));
    return put_sum(view, view->on_new, "total", "best", base.base_ns, error);
}

static enum varve_code analyse(struct view *view, const struct vv_question *question,
                               struct varve_error *error)
{
    const struct vv_dag *base = view->dags[VV_BASE];
    uint32_t row;
    if (!are_same(view, &row)) {
        bool is_there = row < base->nodes.table.count;
        return vv_sheet_policy(view->sheet, error,
                               "the two are not profiles of one program: operation %" PRIu32
                               " of the base is %s%s", row + 1, is_there ? "" : "not there",
                               is_there ? vv_dag_string(base, base->nodes.name[row]) : "");
    }
    view->count = (uint32_t)base->nodes.table.count;
    if (view->count >= UINT32_MAX / 8 || base->edges.table.count >= UINT32_MAX / 8)
        VV_FAIL(error, VARVE_LIMIT, "the graph has more than %u nodes or edges", UINT32_MAX / 8);
    for (int side = 0; side < VV_SIDES; side++) {
        VV_TRY(read_times(view, side, error));
        if (view->runs[side] == 0)
            return vv_sheet_policy(view->sheet, error, "the %s carries no times: varve annotate",
                                   side == VV_BASE ? "base" : "new one");
    }
    if (question->link == NULL)
        return vv_sheet_policy(view->sheet, error, "how fast data goes from one device to the "
                               "other is not known: --link 16GB/s,10us");
    VV_TRY(read_link(view, question->link, error));
    VV_TRY(gather_values(view, error));
    VV_TRY(divide(view, error));
    VV_TRY(put_all(view, question->top, error));
    return vv_sheet_policy(view->sheet, error,
                           "one run, of %" PRIu64 " and %" PRIu64 ", one operation at a time; "
                           "arguments and results on the base; %" PRIu64 " of %" PRIu32
                           " values of unknown size cost the latency alone",
                           view->runs[VV_BASE], view->runs[VV_NEW], view->unknown,
                           view->value_count);
}

enum varve_code vv_diff_offload(const struct vv_side sides[VV_SIDES],
                                const struct vv_question *question, struct vv_scratch *scratch,
                                struct vv_sheet *out, struct varve_error *error)
{
    struct view view = { .scratch = scratch, .sheet = out };
    vv_sheet_init(out, "offload", "OFFLOAD", columns, COLUMNS);
    for (int side = 0; side < VV_SIDES; side++) {
        struct vv_question one = *question;
        one.selection = sides[side].selection;
        one.top = 0;
        VV_TRY(vv_graph_make_in(scratch, sides[side].model, &one, &view.dags[side], error));
    }
    return analyse(&view, question, error);
}
