/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c — tables "kernels", "kernel_ops" and "annotations": device work by name, by the
 * operator that it was done for, and by the user's range in which it was launched.
 *
 * Rows in order: groups, "N more: --top 0", "total". Law: calls and total_ns of the rows sum to
 * "total" = all chosen device work. doc/metrics.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/devices/hardware_samples.h"
#include "derive/devices/launch_shape.h"
#include "derive/select/source_line.h"
#include "derive/select/traits.h"
#include "meaning/hardware/occupancy.h"
#include "model/find.h"
#include "question/question.h"
#include "sheet/cells.h"
#include "sheet/number.h"

enum {
    TOTAL, SHARE, RUNNING, CALLS, MEAN, DEVIATION, MEDIAN, P90, LEAST, GREATEST, BUSY, ROW,
    OCCUPANCY, GRID, BLOCK, REGISTERS, SHARED, LAUNCH_SHAPES, MOST_OCCUPANCY, LIMIT, SM_ACTIVE,
    SM_ISSUE, WARPS_ACTIVE, TENSOR_ACTIVE, DRAM_ACTIVE, SAMPLES, SOURCE, FIRST, SECOND, COLUMNS
};

#define FIGURES(is_hidden)                                                                 \
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },                        \
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, false },                       \
    { "running_share", "sum", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_MUCH_ROOM },  \
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, VV_TEXT_IF_ROOM },              \
    { "mean_ns", "mean", VV_CELL_INT, VV_UNIT_NS, true, false },                           \
    { "deviation_ns", "spread", VV_CELL_INT, VV_UNIT_NS, true, false },                    \
    { "median_ns", "median", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },            \
    { "p90_ns", "p90", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },                  \
    { "min_ns", "min", VV_CELL_INT, VV_UNIT_NS, true, false },                             \
    { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, true, false },                             \
    { "busy_ns", "busy", VV_CELL_INT, VV_UNIT_NS, true, false },                           \
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },                             \
    { "occupancy", "occupancy", VV_CELL_REAL, VV_UNIT_RATIO, is_hidden, VV_TEXT_IF_ROOM }, \
    { "grid", "grid", VV_CELL_TEXT, VV_UNIT_NONE, is_hidden, VV_TEXT_IF_ROOM },            \
    { "block", "block", VV_CELL_TEXT, VV_UNIT_NONE, is_hidden, VV_TEXT_IF_ROOM },          \
    { "registers", "registers", VV_CELL_INT, VV_UNIT_COUNT, is_hidden, VV_TEXT_IF_ROOM },  \
    { "shared_bytes", "shared", VV_CELL_INT, VV_UNIT_BYTES, is_hidden, VV_TEXT_IF_ROOM },  \
    { "launch_shapes", "shapes", VV_CELL_INT, VV_UNIT_COUNT, true, false },                \
    { "most_occupancy", "at most", VV_CELL_REAL, VV_UNIT_RATIO, true, false },             \
    { "limited_by", "limited by", VV_CELL_TEXT, VV_UNIT_NONE, true, false },               \
    { "sm_active", "SM active", VV_CELL_REAL, VV_UNIT_RATIO, is_hidden, VV_TEXT_IF_ROOM }, \
    { "sm_issue", "SM issue", VV_CELL_REAL, VV_UNIT_RATIO, true, false },                  \
    { "warps_active", "warps", VV_CELL_REAL, VV_UNIT_RATIO, is_hidden, VV_TEXT_IF_ROOM },  \
    { "tensor_active", "tensor", VV_CELL_REAL, VV_UNIT_RATIO, is_hidden, VV_TEXT_IF_ROOM }, \
    { "dram_active", "DRAM", VV_CELL_REAL, VV_UNIT_RATIO, is_hidden, VV_TEXT_IF_ROOM },    \
    { "samples", "samples", VV_CELL_INT, VV_UNIT_COUNT, true, false },                     \
    { "source", "launched at", VV_CELL_TEXT, VV_UNIT_NONE, !(is_hidden), VV_TEXT_IF_ROOM }

static const struct vv_sheet_column kernel_columns[COLUMNS] = {
    FIGURES(false),
    { "class", "class", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_IF_MUCH_ROOM },
    { "name", "kernel", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};
static const struct vv_sheet_column kernel_op_columns[COLUMNS] = {
    FIGURES(true),
    { "op", "operator", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "name", "kernel", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};
static const struct vv_sheet_column annotation_columns[COLUMNS] = {
    FIGURES(true),
    { "ranges", "ranges", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "annotation", "annotation", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
};

/* ---- keys of the rows ---- */

struct keys {
    const struct vv_model *model;
    struct vv_scratch *scratch;
    vv_work_key_fn *key;   /* makes the key of a table's rows                                   */
    struct vv_traits traits;
    enum vv_trait by;
    uint32_t *annotations; /* slice -> slice of the innermost annotation around it; VV_NONE     */
};

static struct vv_work_key key_of_trait(const void *context, const struct vv_work_item *item)
{
    const struct keys *keys = context;
    uint32_t slice = keys->model->activities.slice[item->activity];
    return (struct vv_work_key){ vv_trait_of(&keys->traits, keys->by, slice), 0, VV_NONE };
}

static struct vv_work_key key_of_operator(const void *context, const struct vv_work_item *item)
{
    const struct keys *keys = context;
    uint32_t slice = keys->model->activities.slice[item->activity];
    return (struct vv_work_key){ keys->model->slices.name[slice],
                                 vv_trait_of(&keys->traits, VV_TRAIT_OP, slice), VV_NONE };
}

static struct vv_work_key key_of_annotation(const void *context, const struct vv_work_item *item)
{
    const struct keys *keys = context;
    uint32_t launch = keys->model->activities.launch[item->activity];
    uint32_t host = launch != VV_NONE ? launch : vv_device_owner(keys->model, item->activity);
    uint32_t around = host != VV_NONE ? keys->annotations[host] : VV_NONE;
    return (struct vv_work_key){ around != VV_NONE ? keys->model->slices.name[around] : VV_NONE, 0,
                                 around };
}

/* An annotation is a range that the user named; steps are left out. */
static enum varve_code find_annotations(struct keys *keys, struct varve_error *error)
{
    const struct vv_slices *slices = &keys->model->slices;
    VV_TRY(VV_SCRATCH_ARRAY(keys->scratch, &keys->annotations, slices->table.count, error));
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = slices->parent[row];
        if (slices->layer[row] == VARVE_LAYER_API && (slices->flags[row] & VV_SLICE_STEP) == 0)
            keys->annotations[row] = row;
        else
            keys->annotations[row] = parent != VV_NONE ? keys->annotations[parent] : VV_NONE;
    }
    return VARVE_OK;
}

/* ---- rows ---- */

struct view {
    const struct vv_work_tally *tally;
    const struct vv_launch_figures *launches; /* by group                                       */
    const struct vv_sampled_figures *sampled; /* by group; NULL = none                          */
    const struct keys *keys;
    struct vv_sheet *sheet;
    struct vv_cell *cells; /* groups * COLUMNS                                                  */
    uint32_t *order;       /* groups                                                            */
    size_t sort_column;
    int64_t running_ns;
};

static void fill_figures(const struct view *view, const struct vv_work_figures *figures,
                         const char *row, struct vv_cell *cells)
{
    cells[TOTAL] = vv_int_cell(figures->total_ns);
    cells[CALLS] = vv_int_cell((int64_t)figures->count);
    cells[ROW] = vv_text_cell(row);
    if (view->tally->all.total_ns > 0)
        cells[SHARE] = vv_real_cell((double)figures->total_ns / (double)view->tally->all.total_ns);
    if (view->keys->annotations != NULL)
        cells[FIRST] = vv_int_cell((int64_t)figures->hosts);
}

/* Is it a column of operators, whose place in the program may be known? */
static bool is_by_operator(const struct view *view)
{
    return view->sheet->columns == kernel_op_columns;
}

/* The line that launched the longest piece. */
static enum varve_code fill_source(struct view *view, uint32_t group, struct vv_cell *cells,
                                   struct varve_error *error)
{
    const struct vv_model *model = view->keys->model;
    uint32_t owner = vv_device_owner(model, view->tally->figures[group].longest);
    char source[VV_SOURCE_LINE_BYTES];
    if (owner == VV_NONE || !vv_source_line(model, owner, source))
        return VARVE_OK;
    const char *copy = vv_arena_text(&view->sheet->arena, source, strlen(source));
    if (copy == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the sources of kernels");
    cells[SOURCE] = vv_text_cell(copy);
    return VARVE_OK;
}

static enum varve_code fill_names(struct view *view, uint32_t group, struct vv_cell *cells,
                                  struct varve_error *error)
{
    const struct keys *keys = view->keys;
    uint32_t name = view->tally->groups.names[group], op = view->tally->groups.extras[group];
    char buffer[120];
    const char *text = keys->annotations != NULL ? "(no annotation)" : "(none)";
    if (name != VV_NONE)
        text = vv_trait_text(&keys->traits, keys->by, name, buffer, sizeof buffer);
    const char *copy = vv_arena_text(&view->sheet->arena, text, strlen(text));
    if (copy == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of kernels");
    cells[SECOND] = vv_text_cell(copy);
    if (is_by_operator(view))
        cells[FIRST] = op != VV_NONE ? vv_text_cell(vv_text_of(keys->model, op)) : cells[FIRST];
    else if (keys->annotations == NULL && keys->by == VV_TRAIT_NAME)
        cells[FIRST] = vv_text_cell(vv_device_class_text(view->tally->figures[group].class));
    return VARVE_OK;
}

static void fill_most_occupancy(const struct vv_launch_shape *shape, struct vv_cell *cells)
{
    struct vv_occupancy most;
    int64_t threads = 1;
    for (int i = 0; i < 3; i++) /* a block that is too large is none                             */
        threads *= shape->block[i] > 0 && shape->block[i] <= 1024 ? shape->block[i] : 0;
    if (!vv_occupancy_of(shape->capability, threads, shape->registers, shape->shared_bytes, &most))
        return;
    cells[MOST_OCCUPANCY] = vv_real_cell(most.share);
    cells[LIMIT] = vv_text_cell(most.limit);
}

static void fill_sampled(const struct vv_sampled_figures *figures, struct vv_cell *cells)
{
    static const struct { int column; enum vv_sampled first, last; } columns[] = {
        { SM_ACTIVE, VV_SAMPLED_SM_ACTIVE, VV_SAMPLED_SM_ACTIVE },
        { SM_ISSUE, VV_SAMPLED_SM_ISSUE, VV_SAMPLED_SM_ISSUE },
        { WARPS_ACTIVE, VV_SAMPLED_WARPS, VV_SAMPLED_WARPS },
        { TENSOR_ACTIVE, VV_SAMPLED_TENSOR, VV_SAMPLED_TENSOR },
        { DRAM_ACTIVE, VV_SAMPLED_DRAM_READ, VV_SAMPLED_DRAM_WRITE },
    };
    cells[SAMPLES] = vv_int_cell((int64_t)figures->samples);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        double percent = 0;
        bool is_known = true;
        for (int i = (int)columns[c].first; i <= (int)columns[c].last; i++) {
            is_known &= figures->counts[i] > 0;
            percent += is_known ? figures->sums[i] / (double)figures->counts[i] : 0;
        }
        if (is_known)
            cells[columns[c].column] = vv_real_cell(percent / 100);
    }
}

static enum varve_code fill_launch(struct view *view, uint32_t group, struct vv_cell *cells,
                                   struct varve_error *error)
{
    const struct vv_launch_figures *figures = &view->launches[group];
    char text[VV_LAUNCH_TEXT_BYTES];
    if (figures->occupancy >= 0)
        cells[OCCUPANCY] = vv_real_cell(figures->occupancy);
    if (figures->shapes == 0)
        return VARVE_OK;
    cells[LAUNCH_SHAPES] = vv_int_cell(figures->shapes);
    fill_most_occupancy(&figures->shape, cells);
    if (figures->shape.registers >= 0)
        cells[REGISTERS] = vv_int_cell(figures->shape.registers);
    if (figures->shape.shared_bytes >= 0)
        cells[SHARED] = vv_int_cell(figures->shape.shared_bytes);
    for (int column = GRID; column <= BLOCK; column++) {
        vv_launch_text(column == GRID ? figures->shape.grid : figures->shape.block, text);
        const char *copy = vv_arena_text(&view->sheet->arena, text, strlen(text));
        if (copy == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the shapes of kernels");
        if (*copy != '\0')
            cells[column] = vv_text_cell(copy);
    }
    return VARVE_OK;
}

static enum varve_code fill_group(struct view *view, uint32_t group, struct varve_error *error)
{
    const struct vv_samples *durations = &view->tally->durations;
    struct vv_cell *cells = view->cells + (size_t)group * COLUMNS;
    static const struct { int column; unsigned percent; } percentiles[] = {
        { LEAST, 0 }, { MEDIAN, 50 }, { P90, 90 }, { GREATEST, 100 },
    };
    fill_figures(view, &view->tally->figures[group], "group", cells);
    cells[BUSY] = vv_int_cell(view->tally->figures[group].busy_ns);
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
        cells[percentiles[i].column] =
            vv_int_cell(vv_samples_percentile(durations, group, percentiles[i].percent));
    struct vv_mean mean = vv_samples_mean(durations, group);
    cells[MEAN] = vv_int_cell(mean.mean);
    cells[DEVIATION] = vv_int_cell(mean.deviation);
    view->order[group] = group;
    if (view->sampled != NULL)
        fill_sampled(&view->sampled[group], cells);
    VV_TRY(fill_launch(view, group, cells, error));
    VV_TRY(fill_source(view, group, cells, error));
    return fill_names(view, group, cells, error);
}

static int compare_groups(const void *a, const void *b, void *context)
{
    const struct view *view = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct vv_cell *left_cells = view->cells + (size_t)left * COLUMNS;
    const struct vv_cell *right_cells = view->cells + (size_t)right * COLUMNS;
    const size_t keys[] = { view->sort_column, TOTAL, SECOND, FIRST };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int difference = vv_cell_compare(&left_cells[keys[k]], &right_cells[keys[k]],
                                         view->sheet->columns[keys[k]].type);
        if (difference != 0)
            return difference;
    }
    return (left > right) - (left < right);
}

static enum varve_code put_row(struct view *view, enum vv_row_kind kind, struct vv_cell *cells,
                               struct varve_error *error)
{
    if (kind != VV_ROW_TOTAL)
        view->running_ns += cells[TOTAL].integer;
    if (kind != VV_ROW_TOTAL && view->tally->all.total_ns > 0)
        cells[RUNNING] = vv_real_cell((double)view->running_ns / (double)view->tally->all.total_ns);
    return vv_row_put(view->sheet, kind, cells, error);
}

static enum varve_code put_rows(struct view *view, int64_t wanted, struct varve_error *error)
{
    const struct vv_work_tally *tally = view->tally;
    uint32_t groups = tally->groups.count,
             top = wanted > 0 && wanted < groups ? (uint32_t)wanted : groups;
    struct vv_cell more[COLUMNS] = { 0 }, total[COLUMNS] = { 0 };
    struct vv_work_figures rest = { 0 };
    char name[64];
    for (uint32_t i = 0; i < top; i++)
        VV_TRY(put_row(view, VV_ROW_PLAIN, view->cells + (size_t)view->order[i] * COLUMNS, error));
    for (uint32_t i = top; i < groups; i++) {
        rest.total_ns += tally->figures[view->order[i]].total_ns;
        rest.count += tally->figures[view->order[i]].count;
        rest.hosts += tally->figures[view->order[i]].hosts;
    }
    if (top < groups) {
        snprintf(name, sizeof name, "%u more: --top 0", groups - top);
        fill_figures(view, &rest, "more", more);
        more[SECOND] = vv_text_cell(name);
        VV_TRY(put_row(view, VV_ROW_REMAINDER, more, error));
    }
    fill_figures(view, &tally->all, "total", total);
    total[BUSY] = vv_int_cell(tally->all.busy_ns);
    total[SECOND] = vv_text_cell("total");
    return put_row(view, VV_ROW_TOTAL, total, error);
}

static enum varve_code choose_order(struct view *view, const char *sort, struct varve_error *error)
{
    view->sort_column = TOTAL;
    for (size_t c = 0; sort != NULL && c < COLUMNS; c++) {
        view->sort_column = c;
        if (vv_column_is_called(&view->sheet->columns[c], sort))
            return VARVE_OK;
    }
    if (sort != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "cannot sort by '%s': %s have no such column. Try total, calls, mean, deviation, "
                "median, p90, min, max or busy",
                sort, view->sheet->name);
    return VARVE_OK;
}

static enum varve_code fill(struct view *view, const struct vv_question *question,
                            struct varve_error *error)
{
    size_t groups = view->tally->groups.count;
    VV_TRY(choose_order(view, question->sort, error));
    if (groups == 0)
        return VARVE_OK;
    view->cells = vv_arena_alloc(&view->sheet->arena, groups * COLUMNS * sizeof *view->cells);
    view->order = vv_arena_alloc(&view->sheet->arena, groups * sizeof *view->order);
    if (view->cells == NULL || view->order == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for %zu kernels", groups);
    for (uint32_t g = 0; g < groups; g++)
        VV_TRY(fill_group(view, g, error));
    qsort_r(view->order, groups, sizeof *view->order, compare_groups, view);
    return put_rows(view, question->top, error);
}

static enum varve_code state_policy(const struct vv_device_work *work,
                                    const struct vv_work_tally *tally,
                                    const struct vv_question *question, struct vv_sheet *sheet,
                                    struct varve_error *error)
{
    char time[VV_NUMBER_BYTES], left_out[60];
    vv_scope_left_out_text(work->scope, left_out, sizeof left_out);
    if (work->count == 0)
        return vv_sheet_policy(sheet, error, "no device work in %s%s",
                               work->scope->every_step ? "this trace" : "these steps", left_out);
    vv_number_duration(tally->all.total_ns, time, sizeof time);
    return vv_sheet_policy(
        sheet, error,
        "%s of %zu %s on %zu device%s%s; those at once count each%s%s", time, work->count,
        vv_device_work_word(work->count), work->device_count, work->device_count == 1 ? "" : "s",
        work->scope->every_step ? "" : ", launched in these steps", left_out,
        vv_compat_text(question));
}

/* Work without a call has no operator, or its own name as one: then the column says nothing. */
static enum varve_code hide_operators(const struct view *view, struct varve_error *error)
{
    const struct vv_groups *groups = &view->tally->groups;
    bool is_same = is_by_operator(view);
    for (uint32_t g = 0; g < groups->count && is_same; g++)
        is_same = groups->extras[g] == VV_NONE || groups->names[g] == groups->extras[g];
    VV_TRY(vv_sheet_hide_unknown(view->sheet, OCCUPANCY, FIRST, error));
    if (is_same && groups->count > 0)
        VV_TRY(vv_sheet_hide(view->sheet, FIRST, error));
    return VARVE_OK;
}

static enum varve_code analyse(struct keys *keys, const struct vv_question *question,
                               struct vv_sheet *out, struct varve_error *error)
{
    struct vv_scope scope;
    struct vv_device_work work;
    struct vv_work_tally tally;
    struct vv_launch_figures *launches;
    struct vv_sampled_figures *sampled;
    VV_TRY(vv_scope_init(&scope, keys->model, &question->selection, keys->scratch, error));
    VV_TRY(vv_device_work_asked(&work, &scope, question, error));
    VV_TRY(vv_traits_init(&keys->traits, keys->model, scope.ranks, VV_TRAIT_BIT(keys->by),
                          keys->scratch, error));
    if (keys->key == key_of_annotation)
        VV_TRY(find_annotations(keys, error));
    VV_TRY(vv_work_tally(&work, keys->key, keys, &tally, error));
    VV_TRY(vv_launch_tally(&work, keys->key, keys, &tally, &launches, error));
    VV_TRY(vv_sampled_tally(&work, keys->key, keys, &tally, &sampled, error));
    struct view view = { .tally = &tally, .launches = launches, .sampled = sampled, .keys = keys,
                         .sheet = out };
    VV_TRY(fill(&view, question, error));
    VV_TRY(hide_operators(&view, error));
    return state_policy(&work, &tally, question, out, error);
}

/* "name" is the kernel's name; "shape" is the shapes of its operator; "op" is the operator. */
static enum varve_code choose_key(const char *by, struct vv_sheet *sheet, struct keys *keys,
                                  struct varve_error *error)
{
    keys->by = VV_TRAIT_NAME;
    if (by == NULL || strcmp(by, "name") == 0)
        return VARVE_OK;
    VV_TRY(vv_trait_find(by, &keys->by, error));
    struct vv_sheet_column *columns = vv_arena_alloc(&sheet->arena, sizeof kernel_columns);
    if (columns == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of kernels");
    memcpy(columns, kernel_columns, sizeof kernel_columns);
    columns[FIRST].hidden = true;
    columns[SECOND].title = vv_trait_word(keys->by);
    sheet->columns = columns;
    return VARVE_OK;
}

enum varve_code vv_analyse_kernels(const struct vv_model *model, const struct vv_question *question,
                                   struct vv_scratch *scratch, struct vv_sheet *out,
                                   struct varve_error *error)
{
    struct keys keys = { .model = model, .scratch = scratch, .key = key_of_trait };
    vv_sheet_init(out, "kernels", "KERNELS", kernel_columns, COLUMNS);
    VV_TRY(choose_key(question->by, out, &keys, error));
    return analyse(&keys, question, out, error);
}

enum varve_code vv_analyse_kernel_ops(const struct vv_model *model,
                                      const struct vv_question *question,
                                      struct vv_scratch *scratch, struct vv_sheet *out,
                                      struct varve_error *error)
{
    struct keys keys = { .model = model, .scratch = scratch, .key = key_of_operator,
                         .by = VV_TRAIT_NAME };
    vv_sheet_init(out, "kernel_ops", "KERNELS BY OPERATOR", kernel_op_columns, COLUMNS);
    return analyse(&keys, question, out, error);
}

enum varve_code vv_analyse_annotations(const struct vv_model *model,
                                       const struct vv_question *question,
                                       struct vv_scratch *scratch, struct vv_sheet *out,
                                       struct varve_error *error)
{
    struct keys keys = { .model = model, .scratch = scratch, .key = key_of_annotation,
                         .by = VV_TRAIT_NAME };
    vv_sheet_init(out, "annotations", "ANNOTATIONS", annotation_columns, COLUMNS);
    return analyse(&keys, question, out, error);
}
