/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c — tables "blocks" (repeats such as 24 x layer, and the repeats inside them) and
 * "block_positions" (the elements of one period of a block).
 *
 * Laws: the total_ns of the outermost blocks + that of the rest = that of the total; the positions
 * of a block sum to its total_ns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/operators/block_list.h"
#include "numbers/spread.h"
#include "question/question.h"

struct view {
    const struct vv_model *model;
    const struct vv_question *question;
    struct vv_sheet *sheet;
    struct vv_scope scope;
    struct vv_sequences sequences;
    struct vv_block_list blocks;
    int64_t *work_ns;       /* block -> summed durations over all its periods                    */
    bool *is_cut;           /* block -> it has no row, because it or a block around it was cut
                               off */
    int64_t total_ns;       /* of all sequences                                                 */
};

static int64_t token_ns(const struct view *view, const struct vv_block *block, size_t token)
{
    size_t first = view->sequences.items[block->sequence].first;
    return view->model->slices.duration_ns[view->sequences.rows[first + token]];
}

static int64_t work_of_time(const struct view *view, const struct vv_block *block, uint32_t time)
{
    size_t start = vv_block_time(&view->blocks, block, time);
    int64_t sum_ns = 0;
    for (size_t j = 0; j < block->period; j++)
        sum_ns += token_ns(view, block, start + j);
    return sum_ns;
}

/* The time from the begin of the period's first token to the end of the token that ends last. */
static int64_t span_of_time(const struct view *view, const struct vv_block *block, uint32_t time)
{
    const uint32_t *rows = view->sequences.rows + view->sequences.items[block->sequence].first +
                           vv_block_time(&view->blocks, block, time);
    const struct vv_slices *slices = &view->model->slices;
    int64_t end_ns = INT64_MIN;
    for (size_t j = 0; j < block->period; j++) {
        int64_t own_ns = slices->begin_ns[rows[j]] + slices->duration_ns[rows[j]];
        end_ns = own_ns > end_ns ? own_ns : end_ns;
    }
    return end_ns - slices->begin_ns[rows[0]];
}

/* ---- mean, deviation and extremes ---- */

struct figures {
    int64_t total_ns, mean_ns, deviation_ns, min_ns, max_ns;
};

static struct figures figures_of(const int64_t *values, size_t count)
{
    struct figures figures = { .min_ns = INT64_MAX, .max_ns = INT64_MIN };
    struct vv_mean mean = vv_mean_of(values, count);
    for (size_t i = 0; i < count; i++) {
        figures.total_ns += values[i];
        figures.min_ns = values[i] < figures.min_ns ? values[i] : figures.min_ns;
        figures.max_ns = values[i] > figures.max_ns ? values[i] : figures.max_ns;
    }
    figures.mean_ns = mean.mean;
    figures.deviation_ns = mean.deviation;
    return figures;
}

static void put_figures(struct vv_sheet *sheet, size_t row, size_t column,
                        const struct figures *figures)
{
    const int64_t values[] = { figures->total_ns, figures->mean_ns, figures->deviation_ns,
                               figures->min_ns,
                               figures->max_ns };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        vv_sheet_int(sheet, row, column + i, values[i]);
}

#define FIGURE_COLUMNS                                                             \
    { "total_ns", "total", VV_CELL_INT, VV_UNIT_NS, false, false },                \
    { "mean_ns", "mean", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM },        \
    { "deviation_ns", "spread", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM }, \
    { "min_ns", "min", VV_CELL_INT, VV_UNIT_NS, true, false },                     \
    { "max_ns", "max", VV_CELL_INT, VV_UNIT_NS, false, VV_TEXT_IF_ROOM }

/* ---- table "blocks" ---- */

enum {
    BLOCK, INSIDE, DEPTH, TRACK, DEVICE, START, LENGTH, ELEMENTS, PERIOD, TIMES, ALL_TIMES, TOTAL,
    MEAN, DEVIATION, LEAST,
    GREATEST, SHARE, SPAN, ODD, ODD_LIST, ROW, NAME, EXCESS, BLOCK_COLUMNS
};

static const struct vv_sheet_column block_columns[BLOCK_COLUMNS] = {
    { "block", "block", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "inside", "inside", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "depth", "depth", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "track", "on", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "device", "device", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "start", "start", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "length", "length", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "elements", "elements", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    { "period", "of", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "times", "times", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "all_times", "in all", VV_CELL_INT, VV_UNIT_COUNT, true, false },
    FIGURE_COLUMNS,
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    { "mean_span_ns", "begin to end", VV_CELL_INT, VV_UNIT_NS, true, false },
    { "odd_times", "odd", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    { "odd", "odd ones", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "row", "row", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "name", "begins with", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "excess_ns", "beyond the median", VV_CELL_INT, VV_UNIT_NS, true, false },
};

/* What the times take that take longer than the median one, beyond it. */
static int64_t beyond_median(const int64_t *values, int64_t *spare, size_t count)
{
    memcpy(spare, values, count * sizeof *values);
    int64_t median_ns = vv_spread_of(spare, count).median, sum_ns = 0;
    for (size_t i = 0; i < count; i++)
        sum_ns += values[i] > median_ns ? values[i] - median_ns : 0;
    return sum_ns;
}

/* Lists the periods that are outliers of the block: how many there are, and the first of them by
 * number. */
static int64_t list_odd(const int64_t *values, int64_t *spare, size_t count, char *text,
                        size_t bytes)
{
    memcpy(spare, values, count * sizeof *values);
    struct vv_spread spread = vv_spread_of(spare, count);
    size_t length = 0;
    int64_t odd = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!vv_is_outlier(values[i], &spread))
            continue;
        if (odd++ < 8)
            length +=
                (size_t)snprintf(text + length, bytes - length, "%s%zu", odd > 1 ? ", " : "", i);
    }
    return odd;
}

static enum varve_code name_block(const struct view *view, size_t row, const struct vv_block *block,
                                  struct varve_error *error)
{
    const struct vv_sequence *sequence = &view->sequences.items[block->sequence];
    uint32_t first = view->sequences.rows[sequence->first + block->start];
    char track[120], device[40];
    vv_track_text(view->model, sequence->track, track, sizeof track);
    VV_TRY(vv_sheet_text(view->sheet, row, TRACK, track, error));
    if (sequence->is_device) {
        vv_device_text(view->model->tracks.device[sequence->track], device, sizeof device);
        VV_TRY(vv_sheet_text(view->sheet, row, DEVICE, device, error));
    }
    return vv_sheet_text(view->sheet, row, NAME,
                         vv_text_of(view->model, view->model->slices.name[first]), error);
}

/* `values` has room for twice the number of the block's periods. */
static enum varve_code put_block(const struct view *view, size_t number, int64_t *values,
                                 struct varve_error *error)
{
    const struct vv_block *block = &view->blocks.items[number];
    const struct vv_sequence *sequence = &view->sequences.items[block->sequence];
    struct vv_sheet *sheet = view->sheet;
    char odd_text[100];
    int64_t span_ns = 0;
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    for (uint32_t time = 0; time < block->total_times; time++) {
        values[time] = work_of_time(view, block, time);
        span_ns += span_of_time(view, block, time);
    }
    struct figures figures = figures_of(values, block->total_times);
    const struct { int column; int64_t value; } numbers[] = {
        { BLOCK, (int64_t)number },  { DEPTH, block->depth },  { START, block->start },
        { LENGTH, block->length },   { ELEMENTS, (int64_t)(sequence->last - sequence->first) },
        { PERIOD, block->period }, { TIMES, block->times },
        { ALL_TIMES, block->total_times }, { SPAN, span_ns / block->total_times },
        { ODD, list_odd(values, values + block->total_times, block->total_times, odd_text,
                        sizeof odd_text) },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        vv_sheet_int(sheet, row, (size_t)numbers[i].column, numbers[i].value);
    vv_sheet_int(sheet, row, EXCESS, beyond_median(values, values + block->total_times,
                                                   block->total_times));
    put_figures(sheet, row, TOTAL, &figures);
    if (block->parent != VV_NONE)
        vv_sheet_int(sheet, row, INSIDE, block->parent);
    if (view->total_ns > 0)
        vv_sheet_real(sheet, row, SHARE, (double)figures.total_ns / (double)view->total_ns);
    if (odd_text[0] != '\0')
        VV_TRY(vv_sheet_text(sheet, row, ODD_LIST, odd_text, error));
    VV_TRY(vv_sheet_text(sheet, row, ROW, "block", error));
    return name_block(view, row, block, error);
}

static enum varve_code put_sum(const struct view *view, enum vv_row_kind kind, const char *word,
                               const char *name, int64_t sum_ns, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(view->sheet, kind, &row, error));
    vv_sheet_int(view->sheet, row, TOTAL, sum_ns);
    if (view->total_ns > 0)
        vv_sheet_real(view->sheet, row, SHARE, (double)sum_ns / (double)view->total_ns);
    VV_TRY(vv_sheet_text(view->sheet, row, ROW, word, error));
    return vv_sheet_text(view->sheet, row, NAME, name, error);
}

struct size {
    int64_t work_ns;
    size_t block;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct size *left = a, *right = b;
    if (left->work_ns != right->work_ns)
        return left->work_ns > right->work_ns ? -1 : 1;
    return (left->block > right->block) - (left->block < right->block);
}

/* The largest outermost blocks keep their rows, together with the blocks inside them. */
static enum varve_code cut_rows(struct view *view, size_t *out_cut, struct varve_error *error)
{
    size_t count = view->blocks.count, outermost = 0;
    size_t kept = view->question->top > 0 ? (size_t)view->question->top : count;
    struct size *sizes;
    VV_TRY(VV_SCRATCH_ARRAY(view->scope.scratch, &sizes, count, error));
    for (size_t b = 0; b < count; b++)
        if (view->blocks.items[b].parent == VV_NONE)
            sizes[outermost++] = (struct size){ view->work_ns[b], b };
    if (outermost > 0)
        qsort(sizes, outermost, sizeof *sizes, compare_sizes);
    for (size_t i = kept; i < outermost; i++)
        view->is_cut[sizes[i].block] = true;
    for (size_t b = 0; b < count; b++)
        if (view->blocks.items[b].parent != VV_NONE)
            view->is_cut[b] = view->is_cut[view->blocks.items[b].parent];
    *out_cut = outermost > kept ? outermost - kept : 0;
    return VARVE_OK;
}

static enum varve_code put_blocks(struct view *view, struct varve_error *error)
{
    size_t cut;
    VV_TRY(cut_rows(view, &cut, error));
    int64_t rest_ns = view->total_ns, cut_ns = 0;
    int64_t *values;
    VV_TRY(VV_SCRATCH_ARRAY(view->scope.scratch, &values, (view->sequences.count + 1) * 2, error));
    for (size_t b = 0; b < view->blocks.count; b++) {
        bool is_outermost = view->blocks.items[b].parent == VV_NONE;
        rest_ns -= is_outermost ? view->work_ns[b] : 0;
        cut_ns += is_outermost && view->is_cut[b] ? view->work_ns[b] : 0;
        if (!view->is_cut[b])
            VV_TRY(put_block(view, b, values, error));
    }
    char more[60];
    snprintf(more, sizeof more, "%zu more: --top 0", cut);
    if (cut > 0)
        VV_TRY(put_sum(view, VV_ROW_REMAINDER, "more", more, cut_ns, error));
    if (view->blocks.count > 0)
        VV_TRY(put_sum(view, VV_ROW_REMAINDER, "rest", "(not repeated)", rest_ns, error));
    if (view->blocks.count > 0)
        VV_TRY(put_sum(view, VV_ROW_TOTAL, "total", "total", view->total_ns, error));
    return VARVE_OK;
}

/* ---- table "block_positions" ---- */

enum {
    IN_BLOCK, POSITION, CALLS, POSITION_TOTAL, POSITION_MEAN, POSITION_DEVIATION, POSITION_LEAST,
    POSITION_GREATEST,
    POSITION_SHARE, POSITION_NAME, SHAPES, POSITION_COLUMNS
};

static const struct vv_sheet_column position_columns[POSITION_COLUMNS] = {
    { "block", "block", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "position", "position", VV_CELL_INT, VV_UNIT_NONE, false, false },
    { "calls", "calls", VV_CELL_INT, VV_UNIT_COUNT, false, false },
    FIGURE_COLUMNS,
    { "share", "of block", VV_CELL_REAL, VV_UNIT_RATIO, false, VV_TEXT_IF_ROOM },
    { "name", "name", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "shapes", "shapes", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
};

static enum varve_code put_position(const struct view *view, size_t number, uint32_t position,
                                    int64_t *values, struct varve_error *error)
{
    const struct vv_block *block = &view->blocks.items[number];
    size_t first = view->sequences.items[block->sequence].first + block->start + position, row;
    uint32_t token = view->sequences.tokens[first], shapes = view->sequences.kinds.extras[token];
    for (uint32_t time = 0; time < block->total_times; time++)
        values[time] = token_ns(view, block, vv_block_time(&view->blocks, block, time) + position);
    struct figures figures = figures_of(values, block->total_times);
    VV_TRY(vv_sheet_row(view->sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(view->sheet, row, IN_BLOCK, (int64_t)number);
    vv_sheet_int(view->sheet, row, POSITION, position);
    vv_sheet_int(view->sheet, row, CALLS, block->total_times);
    put_figures(view->sheet, row, POSITION_TOTAL, &figures);
    if (view->work_ns[number] > 0)
        vv_sheet_real(view->sheet, row, POSITION_SHARE,
                      (double)figures.total_ns / (double)view->work_ns[number]);
    if (shapes != 0)
        VV_TRY(vv_sheet_text(view->sheet, row, SHAPES, vv_text_of(view->model, shapes), error));
    return vv_sheet_text(view->sheet, row, POSITION_NAME,
                         vv_text_of(view->model, view->sequences.kinds.names[token]), error);
}

static enum varve_code put_positions(struct view *view, struct varve_error *error)
{
    size_t cut;
    VV_TRY(cut_rows(view, &cut, error));
    int64_t *values;
    VV_TRY(VV_SCRATCH_ARRAY(view->scope.scratch, &values, view->sequences.count, error));
    for (size_t b = 0; b < view->blocks.count; b++)
        for (uint32_t p = 0; !view->is_cut[b] && p < view->blocks.items[b].period; p++)
            VV_TRY(put_position(view, b, p, values, error));
    return VARVE_OK;
}

/* ---- both tables ---- */

static enum varve_code measure(struct view *view, struct varve_error *error)
{
    const struct vv_sequences *sequences = &view->sequences;
    VV_TRY(vv_block_list_init(&view->blocks, sequences, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scope.scratch, &view->work_ns, view->blocks.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(view->scope.scratch, &view->is_cut, view->blocks.count, error));
    for (size_t i = 0; i < sequences->count; i++)
        view->total_ns += view->model->slices.duration_ns[sequences->rows[i]];
    for (size_t b = 0; b < view->blocks.count; b++)
        for (uint32_t time = 0; time < view->blocks.items[b].total_times; time++)
            view->work_ns[b] += work_of_time(view, &view->blocks.items[b], time);
    return VARVE_OK;
}

static enum varve_code state_policy(const struct view *view, struct varve_error *error)
{
    size_t outermost = 0, streams = 0;
    for (size_t b = 0; b < view->blocks.count; b++)
        outermost += view->blocks.items[b].parent == VV_NONE;
    for (size_t s = 0; s < view->sequences.sequence_count; s++)
        streams += view->sequences.items[s].is_device;
    if (view->sequences.count == 0)
        return vv_sheet_policy(view->sheet, error, "no operators and no device work to compare");
    return vv_sheet_policy(view->sheet, error,
                           "%zu repeat%s of three times or more, %zu inside of them, in %zu "
                           "kernels, copies, sets and outermost operators on %zu stream%s and %zu "
                           "thread%s; an odd one takes another time than the median by more than "
                           "3.5 scaled MAD and 10 us",
                           outermost, outermost == 1 ? "" : "s", view->blocks.count - outermost,
                           view->sequences.count, streams, streams == 1 ? "" : "s",
                           view->sequences.sequence_count - streams,
                           view->sequences.sequence_count - streams == 1 ? "" : "s");
}

static enum varve_code analyse(struct view *view,
                               enum varve_code (*put)(struct view *, struct varve_error *),
                               struct vv_scratch *scratch, struct varve_error *error)
{
    VV_TRY(vv_scope_init(&view->scope, view->model, &view->question->selection, scratch, error));
    VV_TRY(vv_sequences_init(&view->sequences, &view->scope, view->question, error));
    VV_TRY(measure(view, error));
    VV_TRY(put(view, error));
    return state_policy(view, error);
}

enum varve_code vv_analyse_blocks(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct view view = { .model = model, .question = question, .sheet = out };
    vv_sheet_init(out, "blocks", "REPEATED BLOCKS", block_columns, BLOCK_COLUMNS);
    return analyse(&view, put_blocks, scratch, error);
}

enum varve_code vv_analyse_block_positions(const struct vv_model *model,
                                           const struct vv_question *question,
                                           struct vv_scratch *scratch, struct vv_sheet *out,
                                           struct varve_error *error)
{
    struct view view = { .model = model, .question = question, .sheet = out };
    vv_sheet_init(out, "block_positions", "INSIDE BLOCKS", position_columns, POSITION_COLUMNS);
    return analyse(&view, put_positions, scratch, error);
}
