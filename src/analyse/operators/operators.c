/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c — table "operators": writes the tally of operators in order, with the remainder and
 * the total.
 *
 * Rows in order: groups, "N more: --top 0" (the groups cut off), "(outside operators)", "total". In
 * every column of sums the total is the sum of the rows above it. doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/operators/tally.h"
#include "derive/select/source_line.h"
#include "meaning/call_kind.h"
#include "question/question.h"
#include "sheet/cells.h"
#include "sheet/number.h"

/* The columns of one scope, in order. The table has them twice. */
enum {
    SELF, SHARE, RUNNING, TOTAL, CALLS, MEAN, DEVIATION, MEDIAN, P90, P99, LEAST, GREATEST,
    DEVICE_SELF, DEVICE_SHARE, DEVICE_TOTAL, DEVICE_BUSY, KERNELS, RATE, SCOPE_COLUMNS
};
enum {
    STEPS = VV_SCOPE_STEPS * SCOPE_COLUMNS,
    WHOLE = VV_SCOPE_WHOLE * SCOPE_COLUMNS,
    THREAD = VV_SCOPE_COUNT * SCOPE_COLUMNS,
    PHASE,
    SHAPES,
    MODULE,
    SOURCE,
    STREAM,
    LAYER,
    RANK,
    ROW,
    NAME,
    LEAD,
    LEAD_SHARE,
    LED_SHARE,
    COLUMNS
};

#define SCOPE_OF(prefix)                                                                           \
    { prefix "self_ns", "self", VV_CELL_INT, VV_UNIT_NS, false, false },                           \
    { prefix "self_share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },                   \
    { prefix "self_running_share", "sum", VV_CELL_REAL, VV_UNIT_RATIO, false,                      \
      VV_TEXT_IF_MUCH_ROOM },                                                                      \
    { prefix "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },                         \
    { prefix "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },                         \
    { prefix "mean_ns", "mean", VV_CELL_INT, VV_UNIT_NS, true, false },                            \
    { prefix "deviation_ns", "spread", VV_CELL_INT, VV_UNIT_NS, true, false },                     \
    { prefix "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },             \
    { prefix "p90_ns", "p90", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },                   \
    { prefix "p99_ns", "p99", VV_CELL_INT, VV_UNIT_NS, true, false },                              \
    { prefix "min_ns", "min", VV_CELL_INT, VV_UNIT_NS, true, false },                              \
    { prefix "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, true, false },                              \
    { prefix "device_self_ns", "device self", VV_CELL_INT, VV_UNIT_NS, false, false },             \
    { prefix "device_self_share", "device", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM }, \
    { prefix "device_total_ns", "device total", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM }, \
    { prefix "device_busy_ns", "device busy", VV_CELL_INT, VV_UNIT_NS, true, false },              \
    { prefix "kernels", "kernels", VV_CELL_INT, VV_UNIT_COUNT, true, false },                      \
    { prefix "flop_per_s", "rate", VV_CELL_REAL, VV_UNIT_FLOP_PER_S, false, false }

static const struct vv_sheet_column operator_columns[COLUMNS] = {
    SCOPE_OF("step_"),
    SCOPE_OF(""),
    { "thread", "thread", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "phase", "phase", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "shapes", "shapes", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "module", "module", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "source", "source", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "stream", "stream", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "layer", "layer", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "rank", "rank", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "step_lead_ns", "right before", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "step_lead_share", "share right before", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "step_led_share", "self and before", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
};

#define NO_SOURCE                                                                                  \
    "; no lines of source recorded: varve record --collect +python, torch.profiler "               \
    "with_stack=True"

/* What a row stands for: a name together with a trait, or the trait alone. In the second case
 * `name` repeats the trait. `absent` is the text of a group that does not have the trait. */
static const struct grouping {
    const char *word;
    enum vv_trait by;
    int column;
    bool is_alone;
    const char *absent;
} groupings[] = {
    { "op", VV_TRAIT_NAME, NAME, false, "" },
    { "name", VV_TRAIT_NAME, NAME, false, "" },
    { "shape", VV_TRAIT_SHAPE, SHAPES, false, "; no shapes recorded" },
    { "thread", VV_TRAIT_THREAD, THREAD, false, "" },
    { "phase", VV_TRAIT_PHASE, PHASE, false, "" },
    { "module", VV_TRAIT_MODULE, MODULE, true, VV_NO_MODULES_TEXT },
    { "source", VV_TRAIT_SOURCE, SOURCE, true, NO_SOURCE },
    { "stream", VV_TRAIT_STREAM, STREAM, true, "" },
    { "layer", VV_TRAIT_LAYER, LAYER, true, "" },
    { "rank", VV_TRAIT_RANK, RANK, true, "" },
};

struct view {
    const struct vv_scope *scope;
    const struct vv_operator_tally *tally;
    const struct grouping *grouping;
    const struct vv_traits *traits;
    struct vv_sheet *sheet;
    int shown;              /* STEPS or WHOLE: the scope that people see                        */
    struct vv_cell *cells;  /* groups * COLUMNS                                                 */
    uint32_t *order;        /* the groups that have a row, sorted                               */
    uint32_t group_count;
    size_t sort_column;
    bool is_by_device;      /* devices are the bound: their time leads                          */
    bool is_short;          /* for people, in the usual order: only what is work has a row       */
    bool *is_work;          /* by group: neither a wait, nor a mark, nor elsewhere               */
    int64_t waiting_ns;     /* self time of groups that are no work                              */
};

#define DEVICE_LEADS 0.6 /* share of the steps' time from which the devices' time leads, without
                            communication */

/* ---- which columns people see ---- */

static enum varve_code choose_columns(struct view *view, struct varve_error *error)
{
    struct vv_sheet_column *columns = vv_arena_alloc(&view->sheet->arena, sizeof operator_columns);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of the operators");
    memcpy(columns, operator_columns, sizeof operator_columns);
    for (int c = 0; c < THREAD; c++)
        columns[c].hidden |= c < view->shown || c >= view->shown + SCOPE_COLUMNS;
    bool has_rate = false,
         has_device = view->tally->covered[view->shown / SCOPE_COLUMNS].kernels > 0;
    for (uint32_t g = 0; g < view->tally->groups.count; g++)
        has_rate |= view->tally->figures[view->shown / SCOPE_COLUMNS][g].flop_time_ns > 0;
    columns[view->shown + RATE].hidden |= !has_rate;
    columns[view->shown + RUNNING].hidden |= has_device; /* a line has room for only so many
                                                            columns */
    for (int c = DEVICE_SELF; c <= DEVICE_TOTAL; c++)
        columns[view->shown + c].hidden |= !has_device;
    for (int c = SHARE; c <= P90 && view->is_by_device; c++)
        columns[view->shown + c].hidden |= c != CALLS;
    if (view->grouping->is_alone)
        columns[NAME].title = columns[view->grouping->column].title;
    else
        columns[view->grouping->column].hidden = false;
    view->sheet->columns = columns;
    return VARVE_OK;
}

/* `sort` is a column's word, in the scope that people see, or any column's full name. */
static enum varve_code choose_order(struct view *view, const char *sort, struct varve_error *error)
{
    view->sort_column = (size_t)(view->shown + (view->is_by_device ? DEVICE_SELF : SELF));
    if (sort == NULL)
        return VARVE_OK;
    for (int c = view->shown; c < view->shown + SCOPE_COLUMNS; c++) {
        if (vv_column_is_called(&view->sheet->columns[c], sort)) {
            view->sort_column = (size_t)c;
            return VARVE_OK;
        }
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        const struct vv_sheet_column *column = &view->sheet->columns[c];
        if (strcmp(column->name, sort) == 0 || (c >= THREAD && strcmp(column->title, sort) == 0)) {
            view->sort_column = c;
            return VARVE_OK;
        }
    }
    VV_FAIL(error, VARVE_INVALID,
            "cannot sort by '%s': operators have no such column. Try self, total, calls, mean, "
            "deviation, median, p90, min, max, device_self, device_total, flop or name",
            sort);
}

/* ---- one group, one row of cells ---- */

static void fill_sums(const struct view *view, int base, const struct vv_figures *figures,
                      struct vv_cell *cells)
{
    const struct vv_figures *covered = &view->tally->covered[base / SCOPE_COLUMNS];
    cells[base + CALLS] = vv_int_cell((int64_t)figures->calls);
    cells[base + TOTAL] = vv_int_cell(figures->total_ns);
    cells[base + SELF] = vv_int_cell(figures->self_ns);
    if (base == STEPS && covered->self_ns > 0) {
        cells[LEAD] = vv_int_cell(figures->lead_ns);
        cells[LEAD_SHARE] =
            vv_real_cell((double)figures->lead_ns / (double)covered->self_ns);
        cells[LED_SHARE] = vv_real_cell((double)(figures->self_ns + figures->lead_ns) /
                                        (double)covered->self_ns);
    }
    if (covered->self_ns > 0)
        cells[base + SHARE] = vv_real_cell((double)figures->self_ns / (double)covered->self_ns);
    if (covered->kernels > 0) {
        cells[base + DEVICE_SELF] = vv_int_cell(figures->device_self_ns);
        cells[base + DEVICE_TOTAL] = vv_int_cell(figures->device_total_ns);
        cells[base + DEVICE_BUSY] = vv_int_cell(figures->device_busy_ns);
        cells[base + KERNELS] = vv_int_cell((int64_t)figures->kernels);
    }
    if (covered->device_self_ns > 0)
        cells[base + DEVICE_SHARE] =
            vv_real_cell((double)figures->device_self_ns / (double)covered->device_self_ns);
    if (figures->flop_time_ns > 0)
        cells[base + RATE] = vv_real_cell(figures->flop / ((double)figures->flop_time_ns * 1e-9));
}

static void fill_scope(const struct view *view, int base, uint32_t group, struct vv_cell *cells)
{
    const struct vv_samples *durations = &view->tally->durations[base / SCOPE_COLUMNS];
    fill_sums(view, base, &view->tally->figures[base / SCOPE_COLUMNS][group], cells);
    if (vv_samples_size(durations, group) == 0)
        return;
    static const struct { int column; unsigned percent; } percentiles[] = {
        { LEAST, 0 }, { MEDIAN, 50 }, { P90, 90 }, { P99, 99 }, { GREATEST, 100 },
    };
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
        cells[base + percentiles[i].column] =
            vv_int_cell(vv_samples_percentile(durations, group, percentiles[i].percent));
    struct vv_mean mean = vv_samples_mean(durations, group);
    cells[base + MEAN] = vv_int_cell(mean.mean);
    cells[base + DEVIATION] = vv_int_cell(mean.deviation);
}

/* Fills the cells of the group's trait. The text lives as long as the sheet. */
static enum varve_code fill_key(struct view *view, uint32_t value, struct vv_cell *cells,
                                struct varve_error *error)
{
    char buffer[120];
    enum vv_trait by = view->grouping->by;
    if (by == VV_TRAIT_NAME || value == VV_NONE)
        return VARVE_OK;
    const char *text = vv_trait_text(view->traits, by, value, buffer, sizeof buffer);
    const char *copy = vv_arena_text(&view->sheet->arena, text, strlen(text));
    if (copy == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of groups");
    cells[view->grouping->column] = by == VV_TRAIT_RANK ? vv_int_cell(value) : vv_text_cell(copy);
    if (view->grouping->is_alone)
        cells[NAME] = vv_text_cell(copy);
    return VARVE_OK;
}

/* Where a row is a name: the line that the longest call is from. */
static enum varve_code fill_line(struct view *view, uint32_t group, struct vv_cell *cells,
                                 struct varve_error *error)
{
    const struct vv_figures *figures = &view->tally->figures[view->shown / SCOPE_COLUMNS][group];
    char source[VV_SOURCE_LINE_BYTES];
    if (view->grouping->by != VV_TRAIT_NAME || figures->longest_ns == 0 ||
        !vv_source_line(view->scope->model, figures->longest, source))
        return VARVE_OK;
    const char *copy = vv_arena_text(&view->sheet->arena, source, strlen(source));
    if (copy == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the lines of operators");
    cells[SOURCE] = vv_text_cell(copy);
    return VARVE_OK;
}

static enum varve_code fill_group(struct view *view, uint32_t group, struct varve_error *error)
{
    struct vv_cell *cells = view->cells + (size_t)group * COLUMNS;
    const char *name = vv_text_of(view->scope->model, view->tally->groups.names[group]);
    if (view->scope->step_count > 0)
        fill_scope(view, STEPS, group, cells);
    fill_scope(view, WHOLE, group, cells);
    cells[ROW] = vv_text_cell("operator");
    cells[NAME] = vv_text_cell(view->grouping->is_alone ? "(none)" : name);
    VV_TRY(fill_line(view, group, cells, error));
    return fill_key(view, view->tally->groups.extras[group], cells, error);
}

/* ---- order ---- */

/* Work that has some time in the scope that people see. */
static void judge_group(struct view *view, uint32_t group)
{
    const struct vv_figures *figures = &view->tally->figures[view->shown / SCOPE_COLUMNS][group];
    const char *name = vv_text_of(view->scope->model, view->tally->groups.names[group]);
    bool is_idle = !view->grouping->is_alone &&
                   (vv_is_no_work(name) || figures->waited_ns > figures->self_ns / 2);
    bool is_here = figures->calls > 0 || figures->self_ns > 0 || figures->kernels > 0;
    view->is_work[group] = !is_idle && is_here;
    view->waiting_ns += is_idle ? figures->self_ns : 0;
}

/* Without --top 0, what is no work shares a row. */
static uint32_t count_shown(const struct view *view, int64_t wanted)
{
    uint32_t top = wanted > 0 && wanted < view->group_count ? (uint32_t)wanted : view->group_count;
    uint32_t work = 0;
    while (work < view->group_count && view->is_work[view->order[work]])
        work++;
    return view->is_short && work > 0 && work < top ? work : top;
}

static int compare_groups(const void *a, const void *b, void *context)
{
    const struct view *view = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct vv_cell *left_cells = view->cells + (size_t)left * COLUMNS;
    const struct vv_cell *right_cells = view->cells + (size_t)right * COLUMNS;
    if (view->is_short && view->is_work[left] != view->is_work[right])
        return view->is_work[left] ? -1 : 1;
    const size_t keys[] = { view->sort_column, WHOLE + SELF, NAME, (size_t)view->grouping->column };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int difference = vv_cell_compare(&left_cells[keys[k]], &right_cells[keys[k]],
                                       operator_columns[keys[k]].type);
        if (difference != 0)
            return difference;
    }
    return (left > right) - (left < right);
}

/* ---- rows ---- */

/* Adds the row to the running share of a scope. */
static void run_on(const struct view *view, int base, int64_t *running_ns, struct vv_cell *cells)
{
    int64_t covered_ns = view->tally->covered[base / SCOPE_COLUMNS].self_ns;
    *running_ns += cells[base + SELF].present ? cells[base + SELF].integer : 0;
    if (covered_ns > 0 && cells[base + SELF].present)
        cells[base + RUNNING] = vv_real_cell((double)*running_ns / (double)covered_ns);
}

/* Adds up the groups order[from..to). Columns of unions stay empty, because unions do not add
 * up. */
static void sum_groups(const struct view *view, uint32_t from, uint32_t to, struct vv_cell *cells)
{
    for (int which = 0; which < VV_SCOPE_COUNT; which++) {
        struct vv_figures sum = { 0 };
        for (uint32_t i = from; i < to; i++) {
            const struct vv_figures *figures = &view->tally->figures[which][view->order[i]];
            sum.calls += figures->calls;
            sum.total_ns += figures->total_ns;
            sum.self_ns += figures->self_ns;
            sum.lead_ns += figures->lead_ns;
            sum.flop += figures->flop;
            sum.flop_time_ns += figures->flop_time_ns;
            sum.device_self_ns += figures->device_self_ns;
            sum.device_total_ns += figures->device_total_ns;
            sum.kernels += figures->kernels;
        }
        if (which == VV_SCOPE_WHOLE || view->scope->step_count > 0)
            fill_sums(view, which * SCOPE_COLUMNS, &sum, cells);
        cells[which * SCOPE_COLUMNS + DEVICE_BUSY].present = false;
    }
}

/* A row that has only self times: "(outside operators)", "total". */
static void self_only(const struct view *view, const struct vv_figures *figures,
                      struct vv_cell *cells)
{
    static const int others[] = { CALLS, TOTAL, DEVICE_TOTAL, DEVICE_BUSY };
    for (int which = 0; which < VV_SCOPE_COUNT; which++) {
        if (which == VV_SCOPE_STEPS && view->scope->step_count == 0)
            continue;
        fill_sums(view, which * SCOPE_COLUMNS, &figures[which], cells);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            cells[which * SCOPE_COLUMNS + others[i]].present = false;
        cells[LEAD].present = cells[LEAD_SHARE].present = cells[LED_SHARE].present = false;
    }
}

static enum varve_code put_rest(struct view *view, uint32_t top, int64_t *running_ns,
                                struct varve_error *error)
{
    const struct vv_operator_tally *tally = view->tally;
    struct vv_cell more[COLUMNS] = { 0 }, outside[COLUMNS] = { 0 }, total[COLUMNS] = { 0 };
    if (top < view->group_count) {
        char name[64];
        snprintf(name, sizeof name, "%u more: --top 0", view->group_count - top);
        sum_groups(view, top, view->group_count, more);
        more[ROW] = vv_text_cell("more");
        more[NAME] = vv_text_cell(name);
        run_on(view, STEPS, &running_ns[VV_SCOPE_STEPS], more);
        run_on(view, WHOLE, &running_ns[VV_SCOPE_WHOLE], more);
        VV_TRY(vv_row_put(view->sheet, VV_ROW_REMAINDER, more, error));
    }
    self_only(view, tally->outside, outside);
    outside[ROW] = vv_text_cell("outside");
    outside[NAME] = vv_text_cell(view->scope->admitted == NULL ? "(outside operators)"
                                                               : "(outside the filter)");
    run_on(view, STEPS, &running_ns[VV_SCOPE_STEPS], outside);
    run_on(view, WHOLE, &running_ns[VV_SCOPE_WHOLE], outside);
    VV_TRY(vv_row_put(view->sheet, VV_ROW_REMAINDER, outside, error));

    struct vv_cell sums[COLUMNS] = { 0 };
    sum_groups(view, 0, view->group_count, sums);
    self_only(view, tally->covered, total);
    total[STEPS + CALLS] = sums[STEPS + CALLS];
    total[WHOLE + CALLS] = sums[WHOLE + CALLS];
    total[LEAD] = sums[LEAD];
    total[ROW] = vv_text_cell("total");
    total[NAME] = vv_text_cell("total");
    return vv_row_put(view->sheet, VV_ROW_TOTAL, total, error);
}

static enum varve_code put_rows(struct view *view, int64_t wanted, struct varve_error *error)
{
    int64_t running_ns[VV_SCOPE_COUNT] = { 0 };
    uint32_t top = count_shown(view, wanted);
    for (uint32_t i = 0; i < top; i++) {
        struct vv_cell *cells = view->cells + (size_t)view->order[i] * COLUMNS;
        run_on(view, STEPS, &running_ns[VV_SCOPE_STEPS], cells);
        run_on(view, WHOLE, &running_ns[VV_SCOPE_WHOLE], cells);
        VV_TRY(vv_row_put(view->sheet, VV_ROW_PLAIN, cells, error));
    }
    return put_rest(view, top, running_ns, error);
}

static enum varve_code build_rows(struct view *view, const struct vv_question *question,
                                  struct varve_error *error)
{
    const struct vv_operator_tally *tally = view->tally;
    size_t groups = tally->groups.count;
    view->cells = vv_arena_alloc(&view->sheet->arena, (groups + 1) * COLUMNS * sizeof *view->cells);
    view->order = vv_arena_alloc(&view->sheet->arena, (groups + 1) * sizeof *view->order);
    view->is_work = vv_arena_alloc(&view->sheet->arena, (groups + 1) * sizeof *view->is_work);
    if (view->cells == NULL || view->order == NULL || view->is_work == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu operators", groups);
    for (uint32_t g = 0; g < groups; g++) {
        bool is_empty = tally->figures[VV_SCOPE_WHOLE][g].calls == 0 &&
                        tally->figures[VV_SCOPE_WHOLE][g].self_ns == 0 &&
                        tally->figures[VV_SCOPE_WHOLE][g].kernels == 0 &&
                        tally->figures[VV_SCOPE_STEPS][g].calls == 0;
        VV_TRY(fill_group(view, g, error));
        judge_group(view, g);
        if (!is_empty)
            view->order[view->group_count++] = g;
    }
    qsort_r(view->order, view->group_count, sizeof *view->order, compare_groups, view);
    if (view->group_count == 0 && tally->covered[VV_SCOPE_WHOLE].self_ns == 0)
        return VARVE_OK;
    return put_rows(view, question->top, error);
}

/* ---- the policy ---- */

static const char *say_absent(const struct view *view)
{
    for (uint32_t g = 0; g < view->tally->groups.count; g++)
        if (view->tally->groups.extras[g] != VV_NONE)
            return "";
    return view->grouping->absent;
}

/* "ranges, 12.3 ms of it waiting or only marking,": text must hold 80. */
static void put_waiting(const struct view *view, char *text, size_t bytes)
{
    char time[VV_NUMBER_BYTES];
    if (view->waiting_ns == 0)
        return;
    vv_number_duration(view->waiting_ns, time, sizeof time);
    snprintf(text, bytes, "ranges, %s of it waiting or only marking,", time);
}

static enum varve_code state_policy(struct view *view, struct varve_error *error)
{
    const struct vv_scope *scope = view->scope;
    const struct vv_model *model = scope->model;
    bool by_steps = view->shown == STEPS;
    char threads[200], time[VV_NUMBER_BYTES], more[80] = "", waiting[80] = "", idle[80] = "";
    char left_out[60];
    const char *hint =
        model->steps.table.count > 0 ? "" : "; no steps recorded";
    uint64_t other = 0;
    for (uint32_t t = 0; t < model->tracks.table.count; t++)
        other += model->tracks.kind[t] == VV_TRACK_THREAD && vv_track_works(model, t);
    vv_scope_left_out_text(scope, left_out, sizeof left_out);
    if (view->group_count == 0)
        return vv_sheet_policy(view->sheet, error, "no operators %s%s%s",
                               scope->admitted == NULL ? "recorded" : "here", left_out, hint);
    vv_scope_threads_text(scope, by_steps, threads, sizeof threads);
    vv_number_duration(view->tally->covered[view->shown / SCOPE_COLUMNS].self_ns, time,
                       sizeof time);
    if (view->tally->async_slices > 0)
        snprintf(waiting, sizeof waiting, "; %" PRIu64 " asynchronous range%s not counted",
                 view->tally->async_slices, view->tally->async_slices == 1 ? "" : "s");
    const char *order = view->is_by_device ? "; by time of devices, which are the bound" : "";
    if (!by_steps) {
        put_waiting(view, idle, sizeof idle);
        return vv_sheet_policy(view->sheet, error, "%s of %s on %s%s%s%s%s%s", time,
                               idle[0] != '\0' ? idle : "work", threads, order, waiting, left_out,
                               hint, say_absent(view));
    }
    uint64_t holding = vv_scope_step_tracks(scope);
    if (other > holding)
        snprintf(more, sizeof more, "; %" PRIu64 " more thread%s recorded: --by thread",
                 other - holding, other - holding == 1 ? "" : "s");
    return vv_sheet_policy(view->sheet, error, "%" PRIu64 " step%s on %s, %s%s%s%s%s%s",
                           scope->step_count, scope->step_count == 1 ? "" : "s", threads, time,
                           order, more, waiting, left_out, say_absent(view));
}

static enum varve_code find_grouping(const char *word, const struct grouping **out_grouping,
                                     struct varve_error *error)
{
    for (size_t i = 0; i < sizeof groupings / sizeof *groupings; i++) {
        *out_grouping = &groupings[i];
        if (word == NULL || strcmp(groupings[i].word, word) == 0)
            return VARVE_OK;
    }
    VV_FAIL(error, VARVE_INVALID,
            "cannot group by '%s'. Try op, name, shape, module, source, phase, stream, thread, "
            "layer or rank",
            word);
}

#define ONE_RANGE 0.9   /* share of the steps of one operator, which tells nothing …             */
#define OTHERS_WORK 0.5 /* … if other threads have as much as that share in theirs               */

/* Is one operator all that the steps' own threads are in, while other threads work? So a pool of
 * threads looks to the thread that gives it work. */
static bool is_work_elsewhere(const struct view *view)
{
    const struct vv_operator_tally *tally = view->tally;
    double steps_ns = (double)tally->covered[VV_SCOPE_STEPS].self_ns;
    int64_t most_ns = 0, elsewhere_ns = 0;
    for (uint32_t g = 0; g < tally->groups.count; g++) {
        int64_t self_ns = tally->figures[VV_SCOPE_STEPS][g].self_ns;
        most_ns = self_ns > most_ns ? self_ns : most_ns;
        elsewhere_ns += self_ns == 0 ? tally->figures[VV_SCOPE_WHOLE][g].self_ns : 0;
    }
    if (most_ns == 0)
        return elsewhere_ns > 0;
    return (double)most_ns >= ONE_RANGE * steps_ns &&
           (double)elsewhere_ns >= OTHERS_WORK * steps_ns;
}

/* People see the scope of the steps if the steps' own threads launched all device work during the
 * steps. Autograd launches from threads of its own: then people see the whole, as where a device
 * has operations that no thread launched, or where other threads do the work. */
static int choose_scope(const struct view *view)
{
    bool is_by_place = view->grouping->by == VV_TRAIT_THREAD || view->grouping->by == VV_TRAIT_RANK;
    return view->scope->step_count > 0 && !is_by_place && view->tally->elsewhere_ns == 0 &&
                   view->tally->operations == 0 && !is_work_elsewhere(view)
               ? STEPS
               : WHOLE;
}

static enum varve_code fill(struct view *view, const struct vv_question *question,
                            struct varve_error *error)
{
    const struct vv_scope *scope = view->scope;
    view->shown = choose_scope(view);
    view->is_short = question->top != 0 && question->sort == NULL;
    int which = view->shown / SCOPE_COLUMNS; /* a collective waits for others, mostly */
    int64_t device_ns = view->tally->covered[which].device_self_ns - view->tally->comm_ns[which];
    int64_t whole_ns = scope->step_count > 0 ? scope->step_time_ns
                                             : view->tally->covered[VV_SCOPE_WHOLE].self_ns;
    view->is_by_device =
        view->is_short && device_ns > 0 && (double)device_ns >= DEVICE_LEADS * (double)whole_ns;
    VV_TRY(choose_columns(view, error));
    VV_TRY(choose_order(view, question->sort, error));
    VV_TRY(build_rows(view, question, error));
    return state_policy(view, error);
}

static enum varve_code fill_whole(const struct view *view, struct vv_sheet *out,
                                  struct varve_error *error)
{
    static const struct vv_question everything = VV_QUESTION_ALL;
    struct view whole = { .scope = view->scope, .tally = view->tally, .traits = view->traits,
                          .grouping = view->grouping, .sheet = out };
    vv_sheet_init(out, "operators", "OPERATORS", operator_columns, COLUMNS);
    return fill(&whole, &everything, error);
}

enum varve_code vv_analyse_operators(const struct vv_model *model,
                                     const struct vv_question *question, struct vv_scratch *scratch,
                                     struct vv_sheet *out, struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_traits traits;
    struct vv_operator_tally tally;
    struct view view = { .scope = &scope, .tally = &tally, .traits = &traits, .sheet = out };
    vv_sheet_init(out, "operators", "OPERATORS", operator_columns, COLUMNS);
    VV_TRY(find_grouping(question->by, &view.grouping, error));
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    struct vv_scope all = vv_unfiltered(&scope);
    VV_TRY(vv_device_work_init(&work, &all, question->selection.device, error));
    VV_TRY(vv_traits_init(&traits, model, scope.ranks, VV_TRAIT_BIT(view.grouping->by), scratch,
                          error));
    struct vv_operator_keys keys = { &traits, view.grouping->by, view.grouping->is_alone };
    VV_TRY(vv_operator_tally(&scope, &keys, &work, &tally, error));
    if (question->whole != NULL)
        VV_TRY(fill_whole(&view, question->whole, error));
    return fill(&view, question, error);
}
